// Published facts of EC2 instance types: network interfaces, addresses, processors, memory. From
// awslabs/amazon-eks-ami's instance-info.jsonl and moto's instance types (see NOTICE). No
// behaviour.
import facts from './facts/instance-types.json' with { type: 'json' };

export interface InstanceTypeFacts {
  readonly name: string;
  /** Interfaces of the default network card, as nodeadm counts. */
  readonly interfaces: number;
  readonly addressesPerInterface: number;
  /** Undefined when not published and not implied by the name. */
  readonly cpus: number | undefined;
  readonly memoryMiB: number | undefined;
}

const rows: Readonly<Record<string, readonly number[]>> = facts;

/** large has 2, xlarge 4, Nxlarge 4 N: holds for all types newer than the published table. */
const cpusByName = (name: string): number | undefined => {
  const size = name.split('.')[1] ?? '';
  if (size === 'large') return 2;
  if (size === 'xlarge') return 4;
  const times = /^(\d+)xlarge$/.exec(size)?.[1];
  return times === undefined ? undefined : 4 * Number(times);
};

export const instanceTypeFacts = (name: string): InstanceTypeFacts | undefined => {
  const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
  if (row === undefined) return undefined;
  const [interfaces = 0, addressesPerInterface = 0, cpus = cpusByName(name), memoryMiB] = row;
  return { name, interfaces, addressesPerInterface, cpus, memoryMiB };
};

/**
 * Families with NVIDIA GPUs (EC2 user guide, accelerated computing): p2 and later, g3 and later
 * except g4ad.
 */
const nvidiaFamily = /^(?:p\d\w*(?:-\w+)?|g(?:[3-9]\w*(?:-\w+)?|r\d\w*))\./;

export const hasNvidiaGpu = (instanceType: string): boolean =>
  nvidiaFamily.test(instanceType) && !instanceType.startsWith('g4ad.');

export const knownInstanceTypes: readonly string[] = Object.keys(rows);
