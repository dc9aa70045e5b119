// Public entry of provisioning: the cloud resources that a cluster or a node group needs.
export { clusterStack, zoneBlocks } from './cluster-stack.ts';
export { architectureOf, defaultFamily, familyNamed } from './images.ts';
export {
  clusterStackName,
  clusterTag,
  groupTag,
  isManagedStack,
  nodeGroupStackName,
} from './names.ts';
export { type NodeGroupStack, nodeGroupStack } from './node-group-stack.ts';
export { injectionOf, reservedFor } from './user-data.ts';
