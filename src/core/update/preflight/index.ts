// Public entry of the preflight: what may stop an update of a node group, before it begins.
export { checks } from './checks/index.ts';
export type { Consequence, Finding, Forecast, Severity } from './finding.ts';
export { runPreflight } from './run.ts';
export type { GroupFacts, Part, PlannedNode, Snapshot, TargetFacts } from './snapshot.ts';
