// Public entry of eksctl's ClusterConfig: parse, defaults, rules.
export { type Fault, faultLine } from './check.ts';
export {
  type AddonConfig,
  type ClusterConfig,
  type ClusterConfigResult,
  parseClusterConfig,
  type SubnetConfig,
} from './config.ts';
export { amiFamilies } from './fields.ts';
export {
  type AskedSizes,
  type GroupConfig,
  groupFaults,
  groupOf,
  type NodeRepairSettings,
  type Sizes,
  sizeFault,
  sizesOf,
} from './groups.ts';
