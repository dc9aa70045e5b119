// The taints that a node should carry for its conditions and its cordon. Pure; upstream:
// pkg/controller/nodelifecycle (taintKeyToNodeConditionMap, doNoScheduleTaintingPass).
import { conditionOf, type NodeView, type TaintView } from '../actors/index.ts';

const unschedulableKey = 'node.kubernetes.io/unschedulable';
const notReadyKey = 'node.kubernetes.io/not-ready';
const unreachableKey = 'node.kubernetes.io/unreachable';

/** Keys that the node lifecycle controller adds and removes; it leaves all others alone. */
const owned: ReadonlySet<string> = new Set([
  unschedulableKey,
  notReadyKey,
  unreachableKey,
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/network-unavailable',
  'node.kubernetes.io/pid-pressure',
]);

const pressure: readonly (readonly [string, string])[] = [
  ['MemoryPressure', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure', 'node.kubernetes.io/pid-pressure'],
];

/** Key and effect of every required taint. */
const wantedTaints = (
  node: NodeView,
): readonly { readonly key: string; readonly effect: string }[] => {
  const conditions = node.status?.conditions;
  const ready = conditionOf(conditions, 'Ready')?.status;
  const wanted: { key: string; effect: string }[] = [];
  if (node.spec?.unschedulable === true)
    wanted.push({ key: unschedulableKey, effect: 'NoSchedule' });
  const key = ready === 'False' ? notReadyKey : ready === 'True' ? undefined : unreachableKey;
  if (ready === undefined) return wanted;
  if (key !== undefined) {
    wanted.push({ key, effect: 'NoSchedule' }, { key, effect: 'NoExecute' });
  }
  for (const [type, taint] of pressure) {
    if (conditionOf(conditions, type)?.status === 'True') {
      wanted.push({ key: taint, effect: 'NoSchedule' });
    }
  }
  return wanted;
};

/** The node's corrected taints, or undefined when they are correct. Keeps taints of others. */
export const correctedTaints = (node: NodeView, now: string): readonly TaintView[] | undefined => {
  const have = node.spec?.taints ?? [];
  const wanted = wantedTaints(node);
  const isWanted = (taint: TaintView): boolean =>
    wanted.some((one) => one.key === taint.key && one.effect === taint.effect);
  const kept = have.filter((taint) => !owned.has(taint.key) || isWanted(taint));
  const missing = wanted
    .filter((one) => !have.some((taint) => taint.key === one.key && taint.effect === one.effect))
    .map((one) => ({ ...one, timeAdded: now }));
  if (missing.length === 0 && kept.length === have.length) return undefined;
  return [...kept, ...missing];
};
