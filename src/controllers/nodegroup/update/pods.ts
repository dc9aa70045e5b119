// What the pods of nodes that are to go ask of their budgets, for the gate of an update: how many
// there are, how many may be missing, how long a replacement takes by what these pods themselves
// took. Lists the pods of the nodes at hand and no others, and none again before something can have
// changed; decides nothing.
import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import { type Pod, type PodDisruptionBudget, resourceTypes } from '../../../api/kube.ts';
import { BudgetIndex, classifyPods, keyOfObject } from '../../../core/drain/index.ts';
import type { BudgetLoad, UpdateInstance } from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

interface NodeLoad {
  readonly pods: number;
  readonly loads: readonly BudgetLoad[];
}

/** So many nodes are looked at before the next is chosen. */
const maxNodes = 40;
/** Where no pod of a budget tells how long it took. */
const usualRecoveryMs = 30_000;
const defaultGraceSeconds = 30;

/** Created until Ready, and the grace that its predecessor may take. */
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

/** What was seen when the gate was last looked at: pods change slowly, and are many. */
export interface GateMemory {
  /** Of the drains under way and of the nodes among which is chosen. */
  readonly key: string;
  readonly found: ReadonlyMap<string, NodeLoad>;
  readonly looked: ReadonlyMap<string, { readonly at: number; readonly load: NodeLoad }>;
  readonly waitMs: number;
  readonly nextAt: EpochMs;
}

/** A gate that holds is looked at again after this, then after twice as long, up to the second. */
const firstLookMs = 4_000;
const longestLookMs = 30_000;
/** Pods of a node that is not being drained are believed for so long. */
const believedMs = 60_000;

/**
 * By node name, of these instances: those that are being drained first. The last answer, until a
 * drain has moved on or its time is over. Throws KubeError.
 */
export const lookAtGate = async (
  { kube, clock }: Pick<NodeGroupDeps, 'kube' | 'clock'>,
  instances: readonly UpdateInstance[],
  last: GateMemory | undefined,
  signal: AbortSignal,
): Promise<GateMemory> => {
  const now = clock.now();
  // All that are being drained, and as many more: beside them the next ones are weighed.
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
