// Public entry of bundles: what a node tells of itself, packed.
export { collectBundle } from './collect.ts';
