// What keeps a node group that is being deleted from going, as issues of its health: the drains that have failed, else
// nodes whose pods a budget holds now, for longer than a replacement takes. Decides nothing.
import { type EpochMs, parseTime } from '../../api/brand.ts';
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { HealthIssue, NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import { heldBy } from '../../core/scaling/index.ts';

type Failure = NonNullable<NodeGroupStatus['failure']>;

/** A budget that lets the next pod go when the one before is replaced is no trouble. */
const patienceMs = 60_000;

const issueOfFailure = ({ code, message, resourceIds }: Failure): HealthIssue => ({
  code,
  message,
  resourceIds,
});

const isStuckOn = (one: WaitingOn, now: EpochMs): boolean => {
  if (one.kind === 'multiplePdbs' || (one.kind === 'pdb' && one.neverAllows)) return true;
  if (one.kind !== 'pdb' && one.kind !== 'evictionError') return false;
  const since = parseTime(one.since);
  return since !== undefined && now - since >= patienceMs;
};

const nodeOf = ({ spec, status, metadata }: NodeDisruption): string =>
  status?.node?.name ?? spec.nodeName ?? metadata.name;

/** What a drain does at its end, if that lasts. */
const endText = ({ status }: NodeDisruption, name: string): string => {
  const { deadline, onDeadline } = status ?? {};
  if (deadline === undefined) return '';
  return onDeadline === 'force'
    ? ` What is left by ${deadline} is deleted.`
    : ` The drain gives up at ${deadline}, and node group ${name} is DELETE_FAILED if that lasts.`;
};

/** Undefined: it goes on. */
const stuckIssue = (
  { metadata: { name } }: NodeGroup,
  draining: readonly NodeDisruption[],
  now: EpochMs,
): HealthIssue | undefined => {
  const stuck = draining
    .filter(({ status }) => (status?.waitingOn ?? []).some((one) => isStuckOn(one, now)))
    .toSorted((a, b) => (nodeOf(a) < nodeOf(b) ? -1 : 1));
  const [first] = stuck;
  if (first === undefined) return undefined;
  const names = stuck.map(nodeOf);
  const message =
    `The delete waits: ${names.length === 1 ? 'node' : 'nodes'} ${names.join(', ')}. ` +
    `${heldBy(stuck)}.${endText(first, name)} Let the budget allow an eviction, or delete it.`;
  return { code: 'PodEvictionFailure', message, resourceIds: names };
};

/** Nothing while it goes on. */
export const leaveIssues = (
  group: NodeGroup,
  {
    failure,
    draining = [],
    now,
  }: {
    readonly failure?: Failure | undefined;
    readonly draining?: readonly NodeDisruption[] | undefined;
    readonly now?: EpochMs;
  },
): readonly HealthIssue[] => {
  if (failure !== undefined) return [issueOfFailure(failure)];
  if (now === undefined) return [];
  const stuck = stuckIssue(group, draining, now);
  return stuck === undefined ? [] : [stuck];
};
