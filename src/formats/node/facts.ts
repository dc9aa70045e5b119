// What an evaluation needs to know of the instance and its cluster besides its user data: all that
// a node would ask the metadata service and EC2 for.

export type ImagePart = 'credential-provider' | 'pause-image';

export interface NodeFacts {
  /** `1.33` or `1.33.2`. */
  readonly kubernetesVersion: string;
  readonly instanceType: string;
  readonly instanceId: string;
  readonly region: string;
  readonly zone: string;
  readonly privateIp: string;
  readonly privateDnsName: string;
  readonly ipv6?: string;
  readonly lifecycle: 'on-demand' | 'spot';
  /** Instead of what is published of the type. */
  readonly cpus?: number;
  readonly memoryMiB?: number;
  readonly interfaces?: number;
  readonly addressesPerInterface?: number;
  /** Major version of containerd on the image. */
  readonly containerdMajor?: 1 | 2;
  /** What DescribeCluster would say: bootstrap.sh asks it where the user data is silent. */
  readonly cluster?: {
    readonly endpoint?: string;
    readonly certificateAuthority?: string;
    readonly serviceCidr?: string;
  };
  /**
   * Whether the image has NVIDIA's container runtime; by default where EKS picks its NVIDIA image.
   */
  readonly hasNvidiaRuntime?: boolean;
  /** What EKS' own images have and this one has not; nothing by default. */
  readonly lacks?: readonly ImagePart[];
  /** The first address of the VPC's CIDR, for families that guess the cluster's DNS from it. */
  readonly vpcCidr?: string;
}

/** An instance that nobody has seen: for rendering without one. */
export const exampleFacts: NodeFacts = {
  kubernetesVersion: '1.33',
  instanceType: 'm5.large',
  instanceId: 'i-0123456789abcdef0',
  region: 'eu-west-1',
  zone: 'eu-west-1a',
  privateIp: '192.168.18.230',
  privateDnsName: 'ip-192-168-18-230.eu-west-1.compute.internal',
  lifecycle: 'on-demand',
};

/** nodeadm looks for it to tell an NVIDIA image. */
export const nvidiaRuntimeFile = '/usr/bin/nvidia-container-runtime';

export const has = (facts: NodeFacts, part: ImagePart): boolean =>
  facts.lacks?.includes(part) !== true;

/** For images that bring none of their own. */
export const publicPauseImage = 'registry.k8s.io/pause:3.10';

export const minorOf = (version: string): number => Number(/^v?1\.(\d+)/.exec(version)?.[1] ?? 0);

/** What the metadata commands of the field's scripts give. */
export const metadataCommand =
  (facts: NodeFacts) =>
  (source: string): string | undefined => {
    const item =
      /(?:^imds |meta-data\/|ec2-metadata --)([\w./-]+)/.exec(source)?.[1]?.replace(/['"]$/, '') ??
      '';
    const known: Readonly<Record<string, string>> = {
      'instance-id': facts.instanceId,
      'instance-life-cycle': facts.lifecycle,
      'instance-type': facts.instanceType,
      'local-ipv4': facts.privateIp,
      'local-hostname': facts.privateDnsName,
      'placement/region': facts.region,
      'placement/availability-zone': facts.zone,
    };
    return Object.hasOwn(known, item) ? known[item] : undefined;
  };
