// Public entry of provisioning: what has to be made in the cloud for a cluster or a node group.
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
