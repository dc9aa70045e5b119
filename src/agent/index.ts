// Public entry of the node agent. `NodeAgent.begin` runs on any NodeHost: a machine, or a simulated
// node in virtual time.
export { NodeAgent } from './agent.ts';
export { collectBundle } from './bundle/index.ts';
export { checkOnce } from './check-once.ts';
export { AgentMetrics, agentMetricTable } from './metrics.ts';
export type { BundleStore } from './report/log-bundle.ts';
export { catalogue } from './rules/catalogue.ts';
export type { HealthRule } from './rules/rule.ts';
export { rulesInForce } from './rules/rules-file.ts';
