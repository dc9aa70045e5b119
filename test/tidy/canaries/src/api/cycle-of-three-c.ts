// Three files in a ring.
export { a as c } from './cycle-of-three-a.ts';
