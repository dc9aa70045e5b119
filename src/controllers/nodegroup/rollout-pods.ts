// What the pods of old nodes ask of their budgets, for the gate of an update: how many there are, how many
// may be missing, how long a replacement takes by what these pods themselves took. Lists the pods of the nodes
// at hand and no others; decides nothing.
import { parseTime } from '../../api/brand.ts';
import { type Pod, type PodDisruptionBudget, resourceTypes } from '../../api/kube.ts';
import { BudgetIndex, classifyPods, keyOfObject } from '../../core/drain/index.ts';
import type { BudgetLoad, UpdateInstance } from '../../core/update/index.ts';
import type { NodeGroupDeps } from './deps.ts';

export interface NodeLoad {
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

/** By node name, of old nodes: those that are being drained first. Throws KubeError. */
export const loadsOf = async (
  { kube }: Pick<NodeGroupDeps, 'kube'>,
  instances: readonly UpdateInstance[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, NodeLoad>> => {
  const old = instances.filter(({ isCounted, isTarget }) => isCounted && !isTarget);
  // All that are being drained, and as many more: beside them the next ones are weighed.
  const begun = old.filter(({ disruption }) => disruption?.status?.phase === 'Draining');
  const others = old.filter((one) => !begun.includes(one)).slice(0, maxNodes);
  const names = [...begun, ...others].flatMap(({ nodeName }) => nodeName ?? []);
  const found = new Map<string, NodeLoad>();
  if (names.length === 0) return found;
  const type = resourceTypes.poddisruptionbudgets;
  const { items } = await kube.list<PodDisruptionBudget>(type, { signal });
  const budgets = new BudgetIndex(items);
  for (const name of names) {
    const fieldSelector = `spec.nodeName=${name}`;
    const pods = await kube.list<Pod>(resourceTypes.pods, { fieldSelector, signal });
    found.set(name, loadOf(pods.items, budgets));
  }
  return found;
};
