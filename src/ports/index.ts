// Public entry of the ports: interfaces and error tables only.
export type { BundleWriter } from './bundle-writer.ts';
export * from './clock.ts';
export * from './cloud.ts';
export * from './cloud-access.ts';
export * from './host.ts';
export * from './http.ts';
export { lookAtJoinNetwork } from './join-network.ts';
export { readNodeRoles, readUserData } from './join-reads.ts';
export * from './journal.ts';
export * from './kube.ts';
export * from './kube-status.ts';
export * from './log-queries.ts';
export * from './logs.ts';
export { listNodeGroups, readNodeGroup } from './node-groups.ts';
export * from './node-host.ts';
export { orUnknown } from './or-unknown.ts';
export * from './provisioning.ts';
export * from './store.ts';
