// Health issues of a node group whose deletion does not progress: its failed drains. Without one,
// nodes with pods whose budget has evicted none of them for longer than a replacement takes.
// Decides nothing.
import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import type { NodeDisruption, WaitingOn } from '../../../api/disruption.ts';
import type { HealthIssue, NodeGroup, NodeGroupStatus } from '../../../api/nodegroup.ts';
import { heldBy } from '../../../core/nodegroup/index.ts';
import { progressDueAt } from '../../../core/termination/index.ts';

type Failure = NonNullable<NodeGroupStatus['failure']>;

/** A budget that allows the next eviction once a pod is replaced is not an issue. */
const patienceMs = 60_000;
/** The controller writes what a drain waits for at most this long after it changed. */
const writtenWithinMs = 5_000;

/**
 * The pods that each budget held in the last pass, and when that set last shrank. One drain alone
 * does not show whether other pods were evicted.
 */
export type HeldMemory = Map<string, { readonly pods: ReadonlySet<string>; movedAt: EpochMs }>;

const issueOfFailure = ({ code, message, resourceIds }: Failure): HealthIssue => ({
  code,
  message,
  resourceIds,
});

/**
 * The time up to which the status is known to be current. A drain writes progress at growing
 * intervals, and not at all while nothing changes.
 */
const knownUntil = ({ status }: NodeDisruption, now: EpochMs): EpochMs => {
  const due = status && progressDueAt(status);
  if (due !== undefined && now >= due + writtenWithinMs) return now;
  return parseTime(status?.progressAt ?? status?.markedAt) ?? now;
};

interface Held {
  readonly pods: Set<string>;
  since: EpochMs;
  until: EpochMs;
}

/**
 * By budget, over all drains: a budget that allows an eviction on another node is making progress.
 */
const heldNow = (draining: readonly NodeDisruption[], now: EpochMs): ReadonlyMap<string, Held> => {
  const all = new Map<string, Held>();
  for (const drain of draining) {
    const { waitingOn = [], waitingOnTotal = 0 } = drain.status ?? {};
    const until = knownUntil(drain, now);
    for (const one of waitingOn) {
      if (one.kind !== 'pdb') continue;
      for (const budget of one.budgets) {
        const known = all.get(budget) ?? { pods: new Set<string>(), since: now, until };
        all.set(budget, known);
        known.pods.add(one.pod);
        // The status lists only the first blockers; a smaller total shows that one of the others is
        // gone.
        if (waitingOnTotal > waitingOn.length) {
          known.pods.add(`${drain.metadata.name} ${waitingOnTotal}`);
        }
        known.since = epochMs(Math.min(known.since, parseTime(one.since) ?? now));
        known.until = epochMs(Math.min(known.until, until));
      }
    }
  }
  return all;
};

/** The budgets that have evicted no pod for `patienceMs`. */
const restingBudgets = (
  draining: readonly NodeDisruption[],
  {
    memory,
    isTold,
    now,
  }: {
    readonly memory: HeldMemory;
    readonly isTold: (budget: string) => boolean;
    readonly now: EpochMs;
  },
): ReadonlySet<string> => {
  const all = heldNow(draining, now);
  for (const budget of memory.keys()) if (!all.has(budget)) memory.delete(budget);
  const resting = new Set<string>();
  for (const [budget, { pods, since, until }] of all) {
    const known = memory.get(budget);
    const hasMoved = known !== undefined && [...known.pods].some((pod) => !pods.has(pod));
    // An issue reported by an earlier process continues.
    const movedAt = hasMoved ? now : (known?.movedAt ?? (isTold(budget) ? since : now));
    memory.set(budget, { pods, movedAt });
    if (until - movedAt >= patienceMs) resting.add(budget);
  }
  return resting;
};

const isStuckOn = (one: WaitingOn, resting: ReadonlySet<string>, now: EpochMs): boolean => {
  if (one.kind === 'multiplePdbs') return true;
  if (one.kind === 'pdb') return one.neverAllows || one.budgets.some((each) => resting.has(each));
  if (one.kind !== 'evictionError') return false;
  const since = parseTime(one.since);
  return since !== undefined && now - since >= patienceMs;
};

const nodeOf = ({ spec, status, metadata }: NodeDisruption): string =>
  status?.node?.name ?? spec.nodeName ?? metadata.name;

/** What a drain does at its deadline if nothing changes. */
const endText = ({ status }: NodeDisruption, name: string): string => {
  const { deadline, onDeadline } = status ?? {};
  if (deadline === undefined) return '';
  return onDeadline === 'force'
    ? ` What is left by ${deadline} is deleted.`
    : ` The drain gives up at ${deadline}, and node group ${name} is DELETE_FAILED if that lasts.`;
};

/** Undefined: the deletion progresses. */
const stuckIssue = (
  { metadata: { name }, status }: NodeGroup,
  draining: readonly NodeDisruption[],
  { memory, now }: { readonly memory: HeldMemory; readonly now: EpochMs },
): HealthIssue | undefined => {
  const told = (status?.health ?? [])
    .filter(({ code }) => code === 'PodEvictionFailure')
    .flatMap(({ message }) => message.split(/[\s,;]+|\.(?=\s|$)/));
  const isTold = (budget: string): boolean => told.includes(budget);
  const resting = restingBudgets(draining, { memory, isTold, now });
  const isStuck = (one: WaitingOn): boolean => isStuckOn(one, resting, now);
  const stuck = draining
    .filter((one) => (one.status?.waitingOn ?? []).some(isStuck))
    .toSorted((a, b) => (nodeOf(a) < nodeOf(b) ? -1 : 1));
  const [first] = stuck;
  if (first === undefined) return undefined;
  const names = stuck.map(nodeOf);
  const message =
    `The delete waits: ${names.length === 1 ? 'node' : 'nodes'} ${names.join(', ')}. ` +
    `${heldBy(stuck)}.${endText(first, name)} Let the budget allow an eviction, or delete it.`;
  return { code: 'PodEvictionFailure', message, resourceIds: names };
};

/** Empty while the deletion progresses. */
export const leaveIssues = (
  group: NodeGroup,
  {
    failure,
    draining = [],
    memory = new Map(),
    now,
  }: {
    readonly failure?: Failure | undefined;
    readonly draining?: readonly NodeDisruption[] | undefined;
    /** Memory of this process, kept during the deletion. */
    readonly memory?: HeldMemory | undefined;
    readonly now?: EpochMs;
  },
): readonly HealthIssue[] => {
  if (failure !== undefined) return [issueOfFailure(failure)];
  if (now === undefined) return [];
  const stuck = stuckIssue(group, draining, { memory, now });
  return stuck === undefined ? [] : [stuck];
};
