// Public entry of the preflight: what may stop an update of a node group, before it begins.
export { checks } from './checks/index.ts';
export { runPreflight } from './run.ts';
