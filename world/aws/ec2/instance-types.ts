// Facts of EC2 instance types: vCPU, memory, network interfaces and IPv4 addresses per interface.
// Read from moto 5.2.1's instance_types.json.gz (Apache-2.0, see NOTICE); a subset. No behaviour.

export interface InstanceType {
  readonly name: string;
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly interfaces: number;
  readonly addressesPerInterface: number;
  readonly architecture: 'x86_64' | 'arm64';
  readonly gpus: number;
}

type Row = readonly [
  family: string,
  architecture: 'x86_64' | 'arm64',
  sizes: Readonly<Record<string, readonly number[]>>,
];

const general = {
  large: [2, 8192, 3, 10],
  xlarge: [4, 16384, 4, 15],
  '2xlarge': [8, 32768, 4, 15],
  '4xlarge': [16, 65536, 8, 30],
} as const;
const compute = {
  large: [2, 4096, 3, 10],
  xlarge: [4, 8192, 4, 15],
  '2xlarge': [8, 16384, 4, 15],
  '4xlarge': [16, 32768, 8, 30],
} as const;
const memory = {
  large: [2, 16384, 3, 10],
  xlarge: [4, 32768, 4, 15],
  '2xlarge': [8, 65536, 4, 15],
  '4xlarge': [16, 131072, 8, 30],
} as const;
const burstable = {
  small: [2, 2048, 3, 4],
  medium: [2, 4096, 3, 6],
  large: [2, 8192, 3, 12],
  xlarge: [4, 16384, 4, 15],
  '2xlarge': [8, 32768, 4, 15],
} as const;

const rows: readonly Row[] = [
  ['t3', 'x86_64', burstable],
  ['t3a', 'x86_64', { ...burstable, small: [2, 2048, 2, 4] }],
  ['t4g', 'arm64', burstable],
  ['m5', 'x86_64', general],
  ['m5a', 'x86_64', general],
  ['m6i', 'x86_64', general],
  ['m6g', 'arm64', { medium: [1, 4096, 2, 4], ...general }],
  ['m7i', 'x86_64', general],
  ['m7g', 'arm64', { medium: [1, 4096, 2, 4], ...general }],
  ['c5', 'x86_64', compute],
  ['c6i', 'x86_64', compute],
  ['c6g', 'arm64', { medium: [1, 2048, 2, 4], ...compute }],
  ['c7i', 'x86_64', compute],
  ['r5', 'x86_64', memory],
  ['r6i', 'x86_64', memory],
  ['r6g', 'arm64', { medium: [1, 8192, 2, 4], ...memory }],
  [
    'g4dn',
    'x86_64',
    {
      xlarge: [4, 16384, 3, 10, 1],
      '2xlarge': [8, 32768, 3, 10, 1],
      '4xlarge': [16, 65536, 3, 10, 1],
    },
  ],
  [
    'g5',
    'x86_64',
    {
      xlarge: [4, 16384, 4, 15, 1],
      '2xlarge': [8, 32768, 4, 15, 1],
      '4xlarge': [16, 65536, 8, 30, 1],
    },
  ],
  [
    't2',
    'x86_64',
    {
      micro: [1, 1024, 2, 2],
      small: [1, 2048, 3, 4],
      medium: [2, 4096, 3, 6],
      large: [2, 8192, 3, 12],
      xlarge: [4, 16384, 3, 15],
    },
  ],
];

export const instanceTypes: ReadonlyMap<string, InstanceType> = new Map(
  rows.flatMap(([family, architecture, sizes]) =>
    Object.entries(sizes).map(([size, facts]) => {
      const [cpus = 0, memoryMiB = 0, interfaces = 0, addressesPerInterface = 0, gpus = 0] = facts;
      const name = `${family}.${size}`;
      return [
        name,
        { name, cpus, memoryMiB, interfaces, addressesPerInterface, architecture, gpus },
      ] as const;
    }),
  ),
);

/** Pod addresses: one address of each interface is the interface's own. */
export const podAddressesOf = (type: InstanceType): number =>
  type.interfaces * (type.addressesPerInterface - 1);

/**
 * The kubelet's --max-pods: ENIs x (addresses - 1) + 2, the two being pods on the host network
 * (amazon-vpc-cni-k8s, docs/eni-and-ip-target.md and its max-pods table).
 */
export const maxPodsOf = (type: InstanceType): number => podAddressesOf(type) + 2;
