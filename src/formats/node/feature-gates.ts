// Feature gates of kubelets that people set: the minor in which each appeared and, where it is gone, the
// first without it. Source: kubernetes, versioned_feature_list and the removed gates of its website.
// A gate that is not here may exist: nothing is said of it.

interface Gate {
  readonly since: number;
  /** A kubelet of this minor exits: `unrecognized feature gate`. */
  readonly goneIn?: number;
}

const gates: Readonly<Record<string, Gate>> = {
  AllAlpha: { since: 0 },
  AllBeta: { since: 0 },
  AppArmor: { since: 4, goneIn: 33 },
  CPUCFSQuotaPeriod: { since: 12 },
  CPUManager: { since: 8, goneIn: 33 },
  CPUManagerPolicyAlphaOptions: { since: 23 },
  CPUManagerPolicyBetaOptions: { since: 23 },
  CPUManagerPolicyOptions: { since: 22 },
  CSIMigration: { since: 14, goneIn: 27 },
  CSIMigrationAWS: { since: 14, goneIn: 27 },
  CSINodeExpandSecret: { since: 25, goneIn: 31 },
  ContainerCheckpoint: { since: 25 },
  ContextualLogging: { since: 24 },
  CrossNamespaceVolumeDataSource: { since: 26 },
  DevicePluginCDIDevices: { since: 28 },
  DevicePlugins: { since: 8, goneIn: 28 },
  DisableCloudProviders: { since: 22, goneIn: 33 },
  DisableKubeletCloudCredentialProviders: { since: 23, goneIn: 33 },
  DisableNodeKubeProxyVersion: { since: 29 },
  DynamicKubeletConfig: { since: 4, goneIn: 26 },
  DynamicResourceAllocation: { since: 26 },
  EphemeralContainers: { since: 16, goneIn: 27 },
  EventedPLEG: { since: 26 },
  ExecProbeTimeout: { since: 20 },
  GRPCContainerProbe: { since: 23, goneIn: 29 },
  GracefulNodeShutdown: { since: 20 },
  GracefulNodeShutdownBasedOnPodPriority: { since: 23 },
  HPAContainerMetrics: { since: 20, goneIn: 32 },
  ImageMaximumGCAge: { since: 29 },
  ImageVolume: { since: 31 },
  InPlacePodVerticalScaling: { since: 27 },
  KubeletCgroupDriverFromCRI: { since: 28 },
  KubeletConfigDropInDir: { since: 28, goneIn: 30 },
  KubeletCredentialProviders: { since: 20, goneIn: 28 },
  KubeletInUserNamespace: { since: 22 },
  KubeletPodResources: { since: 13, goneIn: 30 },
  KubeletPodResourcesDynamicResources: { since: 27 },
  KubeletPodResourcesGet: { since: 27 },
  KubeletPodResourcesGetAllocatable: { since: 21, goneIn: 30 },
  KubeletTracing: { since: 25 },
  LegacyServiceAccountTokenCleanUp: { since: 28, goneIn: 32 },
  LocalStorageCapacityIsolation: { since: 7, goneIn: 27 },
  LocalStorageCapacityIsolationFSQuotaMonitoring: { since: 15 },
  MemoryManager: { since: 21 },
  MemoryQoS: { since: 22 },
  MultiCIDRServiceAllocator: { since: 27 },
  MutableCSINodeAllocatableCount: { since: 33 },
  NodeLogQuery: { since: 27 },
  NodeSwap: { since: 22 },
  PodAndContainerStatsFromCRI: { since: 23 },
  PodLifecycleSleepAction: { since: 29 },
  PodReadyToStartContainersCondition: { since: 28 },
  ProcMountType: { since: 12 },
  QOSReserved: { since: 11 },
  RecursiveReadOnlyMounts: { since: 30 },
  ResourceHealthStatus: { since: 31 },
  RotateKubeletServerCertificate: { since: 7 },
  SeccompDefault: { since: 22, goneIn: 29 },
  SidecarContainers: { since: 28 },
  SizeMemoryBackedVolumes: { since: 20 },
  SupportPodPidsLimit: { since: 10, goneIn: 23 },
  TTLAfterFinished: { since: 12, goneIn: 25 },
  TopologyManager: { since: 16, goneIn: 29 },
  TopologyManagerPolicyAlphaOptions: { since: 26 },
  TopologyManagerPolicyBetaOptions: { since: 26 },
  TopologyManagerPolicyOptions: { since: 26 },
  UserNamespacesSupport: { since: 25 },
  WinDSR: { since: 14 },
  WinOverlay: { since: 14 },
  WindowsGracefulNodeShutdown: { since: 32 },
};

export const featureGateNames: readonly string[] = Object.keys(gates);

export type GateState = 'known' | 'gone' | 'not-yet' | 'unheard-of';

export const gateState = (name: string, minor: number): GateState => {
  const gate = Object.hasOwn(gates, name) ? gates[name] : undefined;
  if (gate === undefined) return 'unheard-of';
  if (minor < gate.since) return 'not-yet';
  return gate.goneIn !== undefined && minor >= gate.goneIn ? 'gone' : 'known';
};

export const goneIn = (name: string): number | undefined => gates[name]?.goneIn;
