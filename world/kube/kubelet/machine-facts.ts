// What a node reports about its machine: labels, capacity, reserved resources, conditions,
// versions. Pure. Sources: article 002 (labels), the EKS AMI's kube-reserved formula (awslabs
// amazon-eks-ami), kubelet's node status setters (Kubernetes 1.32).
import type { JsonObject } from '../../../src/api/json.ts';
import type { Machine } from '../../contracts.ts';
import type { Cond, Labels } from '../actors/index.ts';

/** Versions of the programs in the machine's image. */
export interface NodeRelease {
  readonly operatingSystem: 'linux' | 'windows';
  /** EKS form, e.g. v1.32.9-eks-113cf36. */
  readonly kubeletVersion: string;
  readonly osImage: string;
  readonly kernelVersion: string;
  readonly containerRuntimeVersion: string;
}

export const amazonLinux2 = (kubeletVersion: string): NodeRelease => ({
  operatingSystem: 'linux',
  kubeletVersion,
  osImage: 'Amazon Linux 2',
  kernelVersion: '5.10.240-238.959.amzn2.x86_64',
  containerRuntimeVersion: 'containerd://1.7.27',
});

/** Builds of Windows Server, each with a monthly update. */
const windowsBuilds = {
  '2019': '10.0.17763.7678',
  '2022': '10.0.20348.4052',
  '2025': '10.0.26100.4946',
} as const;

const windows = (
  kubeletVersion: string,
  year: keyof typeof windowsBuilds = '2022',
): NodeRelease => ({
  operatingSystem: 'windows',
  kubeletVersion,
  osImage: `Windows Server ${year} Datacenter`,
  kernelVersion: windowsBuilds[year],
  containerRuntimeVersion: 'containerd://1.7.27',
});

/** System facts that nodes report, per image family of EKS. */
export const nodeReleases = {
  al2: amazonLinux2,
  al2023: (kubeletVersion: string): NodeRelease => ({
    operatingSystem: 'linux',
    kubeletVersion,
    osImage: 'Amazon Linux 2023.8.20250818',
    kernelVersion: '6.1.147-172.266.amzn2023.x86_64',
    containerRuntimeVersion: 'containerd://1.7.27',
  }),
  bottlerocket: (kubeletVersion: string): NodeRelease => ({
    operatingSystem: 'linux',
    kubeletVersion,
    osImage: 'Bottlerocket OS 1.49.0 (aws-k8s-1.32)',
    kernelVersion: '6.1.148',
    containerRuntimeVersion: 'containerd://1.7.28+bottlerocket',
  }),
  windows,
} as const;

/** The label of the AWS cloud provider, with the value that the article prints. */
const cloudProviderMark = '1603bd56dd5485ad752a90bddddf4c25';

const arm = (instanceType: string): boolean => /^[a-z]+\d+g[a-z]*\./.test(instanceType);

/**
 * A label that only kubelets on Windows set: major, minor and build number
 * (node.kubernetes.io/windows-build).
 */
const buildLabel = ({ operatingSystem, kernelVersion }: NodeRelease): Labels =>
  operatingSystem === 'windows'
    ? { 'node.kubernetes.io/windows-build': kernelVersion.split('.').slice(0, 3).join('.') }
    : {};

export const nodeLabelsOf = (machine: Machine, release: NodeRelease): Labels => {
  const { operatingSystem } = release;
  const arch = arm(machine.instanceType) ? 'arm64' : 'amd64';
  return {
    'beta.kubernetes.io/arch': arch,
    'beta.kubernetes.io/instance-type': machine.instanceType,
    'beta.kubernetes.io/os': operatingSystem,
    'failure-domain.beta.kubernetes.io/region': machine.region,
    'failure-domain.beta.kubernetes.io/zone': machine.zone,
    'k8s.io/cloud-provider-aws': cloudProviderMark,
    'kubernetes.io/arch': arch,
    'kubernetes.io/hostname': machine.privateDnsName,
    'kubernetes.io/os': operatingSystem,
    'node.kubernetes.io/instance-type': machine.instanceType,
    'topology.kubernetes.io/region': machine.region,
    'topology.kubernetes.io/zone': machine.zone,
    ...buildLabel(release),
    ...machine.nodeLabels,
  };
};

/** The machine's group according to its labels, for the targets of faults. */
export const groupOf = (machine: Machine): string | undefined =>
  machine.nodeLabels['eks.amazonaws.com/nodegroup'] ??
  machine.nodeLabels['alpha.eksctl.io/nodegroup-name'];

/** 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the others. */
const reservedMilliCpu = (cpus: number): number => {
  const tenths = 600 + (cpus > 1 ? 100 : 0) + Math.min(Math.max(cpus - 2, 0), 2) * 50;
  return Math.floor((tenths + Math.max(cpus - 4, 0) * 25) / 10);
};

/**
 * Firmware and kernel use about 6.5 %: an m5.large of 8 GiB reports about 7.5 GiB. Chosen so that
 * CoreDNS' 70Mi prints as 1 % of its allocatable memory, as in article 001.
 */
const usableMemoryShare = 0.9355;
/** memory.available threshold of the kubelet's hard eviction. */
const evictionKi = 100 * 1024;

const resourcesOf = (
  machine: Machine,
): { readonly capacity: Labels; readonly allocatable: Labels } => {
  const memoryKi = Math.floor(machine.memoryMiB * 1024 * usableMemoryShare);
  const reservedKi = (255 + 11 * machine.maxPods) * 1024;
  const pods = String(machine.maxPods);
  return {
    capacity: {
      cpu: String(machine.cpus),
      'ephemeral-storage': '83873772Ki',
      'hugepages-1Gi': '0',
      'hugepages-2Mi': '0',
      memory: `${memoryKi}Ki`,
      pods,
    },
    allocatable: {
      cpu: `${machine.cpus * 1000 - reservedMilliCpu(machine.cpus)}m`,
      'ephemeral-storage': '76224326324',
      'hugepages-1Gi': '0',
      'hugepages-2Mi': '0',
      memory: `${memoryKi - reservedKi - evictionKi}Ki`,
      pods,
    },
  };
};

const addressesOf = (machine: Machine): readonly JsonObject[] => [
  { type: 'InternalIP', address: machine.privateIp },
  { type: 'InternalDNS', address: machine.privateDnsName },
  { type: 'Hostname', address: machine.privateDnsName },
];

const healthy: readonly (readonly [string, string, string])[] = [
  ['MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
];

const notReadyMessage =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady ' +
  'message:Network plugin returns error: cni plugin not initialized';

/**
 * The kubelet's four conditions. A condition whose status is unchanged keeps its transition time
 * from `old`.
 */
const nodeConditions = (options: {
  readonly ready: boolean;
  readonly now: string;
  readonly old: readonly Cond[];
}): readonly Cond[] => {
  const make = (type: string, status: string, reason: string, message: string): Cond => {
    const before = options.old.find((one) => one.type === type);
    const kept = before?.status === status ? before.lastTransitionTime : undefined;
    return {
      type,
      status,
      lastHeartbeatTime: options.now,
      lastTransitionTime: kept ?? options.now,
      reason,
      message,
    };
  };
  const ready = options.ready
    ? make('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
    : make('Ready', 'False', 'KubeletNotReady', notReadyMessage);
  const own = [...healthy.map(([type, reason, text]) => make(type, 'False', reason, text)), ready];
  const foreign = options.old.filter((one) => !own.some((mine) => mine.type === one.type));
  return [...own, ...foreign];
};

export interface MachineIds {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
}

const nodeInfoOf = (machine: Machine, release: NodeRelease, ids: MachineIds): Labels => ({
  architecture: arm(machine.instanceType) ? 'arm64' : 'amd64',
  bootID: ids.bootId,
  containerRuntimeVersion: release.containerRuntimeVersion,
  kernelVersion: release.kernelVersion,
  kubeProxyVersion: release.kubeletVersion,
  kubeletVersion: release.kubeletVersion,
  machineID: ids.machineId,
  operatingSystem: release.operatingSystem,
  osImage: release.osImage,
  systemUUID: ids.systemUuid,
});

/** The Node object as the kubelet registers it: not Ready, with the matching taint. */
export const nodeObject = (
  machine: Machine,
  release: NodeRelease,
  more: { readonly ids: MachineIds; readonly now: string },
): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: machine.privateDnsName,
    labels: nodeLabelsOf(machine, release),
    annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
  },
  spec: {
    providerID: `aws:///${machine.zone}/${machine.instanceId}`,
    taints: [
      ...machine.nodeTaints.map((taint) => ({ ...taint })),
      // The admission plugin TaintNodesByCondition sets it on every new node.
      { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
    ],
  },
  status: nodeStatus(machine, release, { ...more, ready: false, old: [] }),
});

export const nodeStatus = (
  machine: Machine,
  release: NodeRelease,
  more: {
    readonly ids: MachineIds;
    readonly now: string;
    readonly ready: boolean;
    readonly old: readonly Cond[];
  },
): JsonObject => ({
  ...resourcesOf(machine),
  addresses: addressesOf(machine),
  conditions: nodeConditions(more),
  daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
  nodeInfo: nodeInfoOf(machine, release, more.ids),
});
