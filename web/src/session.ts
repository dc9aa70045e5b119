// The reader's own token, for a page that is signed in to and for requests to updates. Held in
// memory only: it is never stored, and a reload forgets it.
import { signal } from '@preact/signals';

export const ownToken = signal('');
