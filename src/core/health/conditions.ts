// Which conditions of a node say what about its health, by EKS' names. Sources: EKS user guide,
// "Node health issues"; Kubernetes, "Node conditions". Data only.

/** Conditions that the agent writes; False is bad. */
export const agentConditions = [
  'AcceleratedHardwareReady',
  'ContainerRuntimeReady',
  'KernelReady',
  'NetworkingReady',
  'StorageReady',
] as const;

/** Conditions that can lead to a repair, as far as a node carries them. */
export const repairableConditions: ReadonlySet<string> = new Set(['Ready', ...agentConditions]);

/** Conditions of the kubelet whose True is bad; EKS never repairs a node for them. */
export const pressureConditions: ReadonlySet<string> = new Set([
  'DiskPressure',
  'MemoryPressure',
  'PIDPressure',
]);

/** Names for what no condition of a node says. */
export const instanceConditions = {
  /** No Node object of a running instance exists. */
  node: 'NodeRegistered',
  /** EC2's status checks. */
  instanceStatus: 'InstanceStatus',
  systemStatus: 'SystemStatus',
} as const;
