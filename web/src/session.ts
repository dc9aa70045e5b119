// The reader's own token, for pages that require a sign-in and for requests to updates. Held in
// memory only: it is never stored, and a reload forgets it.
import { signal } from '@preact/signals';

export const ownToken = signal('');
