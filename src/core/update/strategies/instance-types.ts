// Instance-type fallback: where a zone has no capacity for the first type, EC2 Auto Scaling
// launches the next type in that zone. A type that cannot fit the pods of an old node is skipped
// while the group is updated. Pure.
import type { SkippedType, UpdateFallback } from '../../../api/nodegroup-update.ts';
import type { FullPod } from '../../../api/workloads.ts';
import {
  instanceTypeFacts,
  maxPodsOf,
  reservedMemoryMiB,
  reservedMillicores,
} from '../../../formats/node/index.ts';
import type { StatusChange, UpdateObservation } from '../observation.ts';
import { type Amounts, podAmounts, printQuantity, shortOf, sum } from '../preflight/quantity.ts';
import type { GroupNodes } from '../records/nodes.ts';

/**
 * The sum of the requests of one node's pods, DaemonSet pods included. Completed pods request
 * nothing.
 */
export const podsAsk = (pods: readonly FullPod[]): Amounts =>
  sum(
    pods
      .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
      .map(podAmounts),
  );

/** The requests on one old node, which its new node must fit. */
export interface TypeLoad {
  readonly node: string;
  readonly asks: Amounts;
}

const bytesPerMiB = 2 ** 20;
/** The kernel and the hypervisor keep some of what is published: Karpenter's default, 7.5 %. */
const usableShare = 0.925;
/** The kubelet's hard eviction threshold in EKS' images. */
const evictionMiB = 100;

/**
 * Approximate allocatable resources of a node of this type; undefined if the type is not published.
 */
const roomOf = (type: string): Amounts | undefined => {
  const facts = instanceTypeFacts(type);
  const { cpus, memoryMiB } = facts ?? {};
  if (facts === undefined || cpus === undefined || memoryMiB === undefined) return undefined;
  const pods = maxPodsOf(facts);
  const memory = memoryMiB * usableShare - reservedMemoryMiB(pods) - evictionMiB;
  return { cpu: cpus - reservedMillicores(cpus) / 1000, memory: memory * bytesPerMiB, pods };
};

/** The published facts cover only these three resources. */
const known = ({ cpu = 0, memory = 0, pods = 0 }: Amounts): Amounts => ({ cpu, memory, pods });

const complaintOf = (type: string, loads: readonly TypeLoad[]): string | undefined => {
  const room = roomOf(type);
  if (room === undefined) return undefined;
  for (const { node, asks } of loads) {
    const [short] = shortOf(known(asks), room);
    if (short === undefined) continue;
    const print = (value: number): string => printQuantity(short.resource, value);
    return (
      `pods of node ${node} ask for ${print(short.wanted)} of ${short.resource}, and ${type} ` +
      `has ${print(short.has)} for pods`
    );
  }
  return undefined;
};

/**
 * Skipped types, each with its reason. The first type is never skipped: it is the requested one.
 */
export const skippedTypes = (
  types: readonly string[],
  loads: readonly TypeLoad[],
): readonly SkippedType[] =>
  types.slice(1).flatMap((type) => {
    const message = complaintOf(type, loads);
    return message === undefined ? [] : [{ type, message }];
  });

const fallbacksOf = (
  [first]: readonly string[],
  { fresh }: GroupNodes,
): readonly UpdateFallback[] => {
  const counts = new Map<string, UpdateFallback>();
  for (const { instance } of fresh) {
    const { zone, instanceType: type } = instance;
    if (type === undefined || type === first) continue;
    const key = `${zone} ${type}`;
    counts.set(key, { zone, type, nodes: (counts.get(key)?.nodes ?? 0) + 1 });
  }
  return [...counts.values()].toSorted(
    (a, b) => a.zone.localeCompare(b.zone) || a.type.localeCompare(b.type),
  );
};

/**
 * Zones whose new nodes are of another type than the first, if that changed. It stays in the status
 * after the update ends.
 */
export const fallbackChange = (
  { types = [], status }: UpdateObservation,
  groupNodes: GroupNodes,
): Pick<StatusChange, 'fallbacks'> => {
  if (types.length < 2 || status.phase === 'Restoring') return {};
  const found = fallbacksOf(types, groupNodes);
  if (JSON.stringify(found) === JSON.stringify(status.fallbacks ?? [])) return {};
  return { fallbacks: found.length === 0 ? undefined : found };
};
