// Public entry of the simulated AWS.

export type { DemoGroup } from './demo/group-parts.ts';
export { articleGroups, type DemoFacts, type DemoOptions } from './demo/seed.ts';

export { instanceTypes } from './ec2/instance-types.ts';
export { accessPolicies } from './platform/access-policies.ts';
export type { NamedNetwork, NamedSubnet } from './platform/account.ts';
export type { ClusterAccess } from './platform/clusters.ts';
export { type AwsWorld, cliUser, createAwsWorld, nodegroupService } from './world.ts';
