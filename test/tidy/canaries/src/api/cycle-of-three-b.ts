// Three files in a ring.
import { c } from './cycle-of-three-c.ts';

export const b = (): number => c();
