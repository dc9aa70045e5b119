// Public entry of eksctl's ClusterConfig: parse, defaults, rules.
export { faultLine } from './check.ts';
export { type ClusterConfig, parseClusterConfig, readGroup, type SubnetConfig } from './config.ts';
export { type GroupConfig, groupOf, sizesOf } from './groups.ts';
