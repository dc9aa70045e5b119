// Two files that need each other's types.
import type { A } from './cycle-of-types-a.ts';

export type B = { readonly a?: A };
