// Public entry of bundles: diagnostic data of a node, packed.
export { collectBundle } from './collect.ts';
