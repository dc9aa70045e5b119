// Facts of an instance and its cluster that an evaluation needs besides the user data: those that a
// node would get from the metadata service and EC2.

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
  /** Overrides the published number for the instance type. */
  readonly cpus?: number;
  readonly memoryMiB?: number;
  readonly interfaces?: number;
  readonly addressesPerInterface?: number;
  /** Major version of containerd on the image. */
  readonly containerdMajor?: 1 | 2;
  /** The answer of DescribeCluster. bootstrap.sh reads it for settings that the user data omits. */
  readonly cluster?: {
    readonly endpoint?: string;
    readonly certificateAuthority?: string;
    readonly serviceCidr?: string;
  };
  /**
   * Whether the image has NVIDIA's container runtime; default: true where EKS selects its NVIDIA
   * image.
   */
  readonly hasNvidiaRuntime?: boolean;
  /** Parts of EKS' own images that this image does not have; default: none. */
  readonly lacks?: readonly ImagePart[];
  /**
   * The first address of the VPC's CIDR, for families that derive the cluster's DNS address from
   * it.
   */
  readonly vpcCidr?: string;
}

/** Example facts, for rendering user data without an instance. */
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

/** nodeadm treats an image with this file as an NVIDIA image. */
export const nvidiaRuntimeFile = '/usr/bin/nvidia-container-runtime';

export const has = (facts: NodeFacts, part: ImagePart): boolean =>
  facts.lacks?.includes(part) !== true;

/** For images that contain no pause image. */
export const publicPauseImage = 'registry.k8s.io/pause:3.10';

export const minorOf = (version: string): number => Number(/^v?1\.(\d+)/.exec(version)?.[1] ?? 0);

/** Results of the metadata commands that common scripts call. */
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
