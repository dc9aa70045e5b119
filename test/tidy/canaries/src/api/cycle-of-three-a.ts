// Three files in a ring.
import { b } from './cycle-of-three-b.ts';

export const a = (): number => b();
