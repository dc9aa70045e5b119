// A node's maximum number of pods and its reserved resources, by the exact formulas of EKS' images.
// Sources: amazon-eks-ami (nodeadm/internal/kubelet/eni_max_pods.go, config.go), VPC CNI,
// max-pods-calculator.sh, Windows prefix delegation. Pure arithmetic.
import { evaluate } from '@marcbachmann/cel-js';

export interface EniLimits {
  readonly interfaces: number;
  readonly addressesPerInterface: number;
}

/** nodeadm's default for an unknown instance type. */
export const defaultMaxPods = 110;

/** Each interface keeps its first address; aws-node and kube-proxy use the host's. */
export const maxPodsOf = ({ interfaces, addressesPerInterface }: EniLimits): number =>
  interfaces * (addressesPerInterface - 1) + 2;

export interface MaxPodsOptions {
  /** The first interface is reserved for the node. */
  readonly isCustomNetworking?: boolean;
  /** /28 prefixes instead of addresses (Nitro, VPC CNI 1.9 and later). */
  readonly isPrefixDelegation?: boolean;
  /** Undefined: no cap. The recommendation requires it. */
  readonly cpus?: number;
  readonly isWindows?: boolean;
  /** Maximum number of interfaces, as MAX_ENI of the VPC CNI. */
  readonly maxInterfaces?: number;
}

const addressesPerPrefix = 16;
const smallNodeCap = 110;
const largeNodeCap = 250;
const largeNodeCpus = 30;

/** The number that EKS recommends (max-pods-calculator.sh). Windows uses one interface. */
export const recommendedMaxPods = (limits: EniLimits, options: MaxPodsOptions = {}): number => {
  const { isCustomNetworking = false, isPrefixDelegation = false, cpus, isWindows } = options;
  const perInterface = limits.addressesPerInterface - 1;
  const perAddress = isPrefixDelegation ? addressesPerPrefix : 1;
  if (isWindows === true) return perInterface * perAddress;
  const interfaces = Math.min(limits.interfaces, options.maxInterfaces ?? limits.interfaces);
  const usable = isCustomNetworking ? interfaces - 1 : interfaces;
  const pods = usable * perInterface * perAddress + 2;
  if (cpus === undefined) return pods;
  return Math.min(pods, cpus <= largeNodeCpus ? smallNodeCap : largeNodeCap);
};

export type MaxPodsExpression =
  | { readonly kind: 'ok'; readonly maxPods: number }
  | { readonly kind: 'fault'; readonly message: string };

/** nodeadm's maxPodsExpression: CEL over three integers; the result is an integer of at least 1. */
export const evaluateMaxPods = (expression: string, limits: EniLimits): MaxPodsExpression => {
  try {
    const result: unknown = evaluate(expression, {
      default_enis: BigInt(limits.interfaces),
      ips_per_eni: BigInt(limits.addressesPerInterface),
      max_pods: BigInt(maxPodsOf(limits)),
    });
    if (typeof result !== 'bigint') {
      return { kind: 'fault', message: `gives ${typeof result}, not a whole number` };
    }
    if (result < 1n || result > 2_147_483_647n) {
      return { kind: 'fault', message: `gives ${result}, which is no number of pods` };
    }
    return { kind: 'ok', maxPods: Number(result) };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { kind: 'fault', message: why };
  }
};

/** Millicores reserved of each 1,000 between the bounds: 6 %, 1 %, 0.5 %, 0.25 %. */
const cpuShares = [
  { upTo: 1000, perTenThousand: 600 },
  { upTo: 2000, perTenThousand: 100 },
  { upTo: 4000, perTenThousand: 50 },
  { upTo: Number.POSITIVE_INFINITY, perTenThousand: 25 },
];

export const reservedMillicores = (cpus: number): number => {
  let reserved = 0;
  let from = 0;
  for (const { upTo, perTenThousand } of cpuShares) {
    const span = Math.min(upTo, cpus * 1000) - from;
    if (span <= 0) break;
    reserved += Math.floor((span * perTenThousand) / 10_000);
    from = upTo;
  }
  return reserved;
};

export const reservedMemoryMiB = (maxPods: number): number => 11 * maxPods + 255;

export const kubeReserved = (
  cpus: number,
  maxPods: number,
): Readonly<Record<'cpu' | 'ephemeral-storage' | 'memory', string>> => ({
  cpu: `${reservedMillicores(cpus)}m`,
  'ephemeral-storage': '1Gi',
  memory: `${reservedMemoryMiB(maxPods)}Mi`,
});

export const evictionHard = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
} as const;

/** nodeadm's rule on the text of the service CIDR; undefined for an invalid one. */
export const clusterDnsOf = (cidr: string): string | undefined => {
  const address = cidr.split('/')[0] ?? '';
  if (cidr.includes(':')) return `${address}a`;
  const dot = address.lastIndexOf('.');
  return dot < 0 ? undefined : `${address.slice(0, dot)}.10`;
};

/** Default of both bootstraps and pluto: EKS' service range that does not overlap the VPC's. */
export const defaultDns = (vpcCidr: string | undefined): string =>
  vpcCidr?.startsWith('10.') === true ? '172.20.0.10' : '10.100.0.10';

export const clusterDnsOr = (serviceCidr: string | undefined, vpcCidr: string | undefined) =>
  clusterDnsOf(serviceCidr ?? '') ?? defaultDns(vpcCidr);
