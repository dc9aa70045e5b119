// Reads the load of nodes' pods on their budgets, for the gate of an update. The load is the number
// of pods, the allowed disruptions, and the replacement time by these pods' own start times. Lists
// only pods of the given nodes, and only when they can have changed. Decides nothing.
import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import { type Pod, type PodDisruptionBudget, resourceTypes } from '../../../api/kube.ts';
import { BudgetIndex, classifyPods, keyOfObject } from '../../../core/drain/index.ts';
import type { BudgetLoad, UpdateInstance } from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

interface NodeLoad {
  readonly pods: number;
  readonly loads: readonly BudgetLoad[];
}

/** Maximum number of nodes whose pods are read before the next node is chosen. */
const maxNodes = 40;
/** Used if no pod of a budget shows how long its replacement took. */
const usualRecoveryMs = 30_000;
const defaultGraceSeconds = 30;

/** From creation until Ready, plus the grace period of its predecessor. */
const recoveryOf = ({ metadata, spec, status }: Pod): number => {
  const readyAt = status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  const [created, ready] = [parseTime(metadata.creationTimestamp), parseTime(readyAt)];
  const graceMs = (spec.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000;
  if (created === undefined || ready === undefined || ready < created) {
    return usualRecoveryMs + graceMs;
  }
  return ready - created + graceMs;
};

const allowedBy = ({ status }: PodDisruptionBudget): number =>
  Math.max(0, (status.expectedPods ?? 0) - (status.desiredHealthy ?? 0));

const loadOf = (pods: readonly Pod[], budgets: BudgetIndex): NodeLoad => {
  const { evict } = classifyPods(pods, { markedAt: undefined, boomerangs: [] });
  const perBudget = new Map<string, BudgetLoad>();
  for (const { pod } of evict) {
    for (const budget of budgets.of(pod)) {
      const key = keyOfObject(budget);
      const known = perBudget.get(key);
      perBudget.set(key, {
        budget: key,
        pods: (known?.pods ?? 0) + 1,
        allowed: allowedBy(budget),
        recoveryMs: Math.max(known?.recoveryMs ?? 0, recoveryOf(pod)),
      });
    }
  }
  return { pods: evict.length, loads: [...perBudget.values()] };
};

/** Results of the gate's last read: pods are many and change slowly. */
export interface GateMemory {
  /** The drains in flight and the candidate nodes. */
  readonly key: string;
  readonly found: ReadonlyMap<string, NodeLoad>;
  readonly looked: ReadonlyMap<string, { readonly at: number; readonly load: NodeLoad }>;
  readonly waitMs: number;
  readonly nextAt: EpochMs;
}

/**
 * While the gate holds, it is read again after this interval, doubled each time up to the second
 * value.
 */
const firstLookMs = 4_000;
const longestLookMs = 30_000;
/** Pods of a node that is not being drained are read again after this time. */
const believedMs = 60_000;

/**
 * By node name, for these instances, draining ones first. Returns the last result until a drain has
 * progressed or the interval is over. Throws KubeError.
 */
export const lookAtGate = async (
  { kube, clock }: Pick<NodeGroupDeps, 'kube' | 'clock'>,
  instances: readonly UpdateInstance[],
  last: GateMemory | undefined,
  signal: AbortSignal,
): Promise<GateMemory> => {
  const now = clock.now();
  // All draining nodes, and up to `maxNodes` candidates to compare with them.
  const begun = instances.filter(({ disruption }) => disruption?.status?.phase === 'Draining');
  const others = instances.filter((one) => !begun.includes(one)).slice(0, maxNodes);
  const left = begun.map(({ instanceId, disruption }) => [
    instanceId,
    disruption?.status?.podsRemaining,
  ]);
  const key = JSON.stringify([left, others.map(({ instanceId }) => instanceId)]);
  if (last?.key === key && now < last.nextAt) return last;
  const waitMs = last?.key === key ? Math.min(2 * last.waitMs, longestLookMs) : firstLookMs;
  const looked = new Map<string, { readonly at: number; readonly load: NodeLoad }>();
  const namesOf = (some: readonly UpdateInstance[]) =>
    some.flatMap(({ nodeName }) => nodeName ?? []);
  const known = namesOf(others).filter((name) => isBelieved(last, name, now));
  const names = [...namesOf(begun), ...namesOf(others)];
  const budgets = names.length > known.length ? await budgetsOf(kube, signal) : undefined;
  for (const name of names) {
    const before = known.includes(name) ? last?.looked.get(name) : undefined;
    if (before === undefined && budgets !== undefined) {
      const fieldSelector = `spec.nodeName=${name}`;
      const pods = await kube.list<Pod>(resourceTypes.pods, { fieldSelector, signal });
      looked.set(name, { at: now, load: loadOf(pods.items, budgets) });
    } else if (before !== undefined) looked.set(name, before);
  }
  const found = new Map([...looked].map(([name, { load }]) => [name, load]));
  return { key, found, looked, waitMs, nextAt: epochMs(now + waitMs) };
};

const isBelieved = (last: GateMemory | undefined, name: string, now: EpochMs): boolean => {
  const before = last?.looked.get(name);
  return before !== undefined && now < before.at + believedMs;
};

const budgetsOf = async (
  kube: NodeGroupDeps['kube'],
  signal: AbortSignal,
): Promise<BudgetIndex> => {
  const type = resourceTypes.poddisruptionbudgets;
  return new BudgetIndex((await kube.list<PodDisruptionBudget>(type, { signal })).items);
};
