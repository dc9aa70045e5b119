// Two files that need each other's types.
import type { B } from './cycle-of-types-b.ts';

export type A = { readonly b?: B };
