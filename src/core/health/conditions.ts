// Which node conditions describe which part of its health, by EKS' names. Sources: EKS user guide,
// "Node health issues"; Kubernetes, "Node conditions". Data only.

/** Conditions that the agent writes; False is bad. */
export const agentConditions = [
  'AcceleratedHardwareReady',
  'ContainerRuntimeReady',
  'KernelReady',
  'NetworkingReady',
  'StorageReady',
] as const;

/** Conditions that can lead to a repair, where a node has them. */
export const repairableConditions: ReadonlySet<string> = new Set(['Ready', ...agentConditions]);

/** Kubelet conditions that are bad when True; EKS never repairs a node for them. */
export const pressureConditions: ReadonlySet<string> = new Set([
  'DiskPressure',
  'MemoryPressure',
  'PIDPressure',
]);

/** Names for findings that no node condition covers. */
export const instanceConditions = {
  /** A running instance has no Node object. */
  node: 'NodeRegistered',
  /** EC2's status checks. */
  instanceStatus: 'InstanceStatus',
  systemStatus: 'SystemStatus',
} as const;
