// Public entry of the preflight: what may stop an update of a node group, before it begins.
export { checks } from './checks/index.ts';
export type { Finding } from './finding.ts';
export { runChecks } from './run.ts';
export type { Snapshot } from './snapshot.ts';
export { type VcpuQuota, vcpuQuotaOf } from './vcpu-quotas.ts';
export { type View, viewOf } from './view.ts';
