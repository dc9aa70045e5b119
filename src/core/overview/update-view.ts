// One update as it is displayed: the request, the progress, and each node's part in it, from the
// NodeGroupUpdate, its NodeGroup and the NodeDisruptions. Pure; prints nothing.

import { isConfirmed } from '../../api/confirmation.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause, NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  type NodeGroupUpdateStatus,
  type Revision,
  type UpdatePhase,
  updateStatusOf,
} from '../../api/nodegroup-update.ts';
import { explainWaiting } from '../explain/index.ts';
import { isLasting } from './lasting.ts';

export interface NodeView {
  readonly name: string;
  readonly instanceId: string;
  /**
   * waiting: cordoned, nothing evicted yet. notBegun: old, not even cordoned. kept: blue/green,
   * empty until the soak ends. takenBack: a surplus new node that was drained when everything was
   * restored.
   */
  readonly state: 'inFlight' | 'waiting' | 'notBegun' | 'failed' | 'kept' | 'done' | 'takenBack';
  /** Its state in words. */
  readonly what: string;
  /** RFC 3339: start of its drain, or the end of it. */
  readonly since?: string;
  readonly podsLeft?: number;
  readonly podsTotal?: number;
  /** When the drain fails or deletes pods by force. */
  readonly deadline?: string;
  readonly onDeadline?: 'force' | 'fail';
  /** Pod, budget, owner and start, a line each. */
  readonly blockers: readonly string[];
  /** The same in short, most important first: for a single line. */
  readonly briefs?: readonly string[];
}

export interface UpdateView {
  readonly id: string;
  readonly nodeGroup: string;
  readonly cluster: string | undefined;
  readonly update: NodeGroupUpdate;
  /** The update that is carried out first. */
  readonly behind?: string;
  readonly status: NodeGroupUpdateStatus['status'];
  readonly phase: string;
  readonly nodes: readonly NodeView[];
  /** Ready and total instances of the group, from its status. */
  readonly ready: number | undefined;
  readonly instances: number | undefined;
  /** The group's current revision, until the update records its own. */
  readonly before?: Partial<Revision>;
}

const causeIdOf = (update: NodeGroupUpdate): string => `update/${update.metadata.name}`;

/** The cause that this update recorded on the node; a repeated request has a numbered suffix. */
const ownCause = (disruption: NodeDisruption, id: string): DisruptionCause | undefined =>
  disruption.spec.causes.findLast((cause) => cause.id === id || cause.id.startsWith(`${id}/`));

const outcomeText = {
  Drained: 'drained',
  Forced: 'drained by force',
  Failed: 'the drain has failed',
  Cancelled: 'uncordoned',
  NothingToDrain: 'nothing to drain',
  InstanceGone: 'the instance is gone',
} as const;

/** What happens to the instance after its drain. */
const afterText = {
  Release: '; kept, empty',
  Terminate: '; retired',
  Replace: '',
  Reboot: '',
  Detach: '; detached',
} as const;

const phaseText = {
  Pending: 'let go',
  Marking: 'being marked',
  Draining: 'draining',
  Completing: 'empty; being terminated',
  Undoing: 'being uncordoned',
  Ended: 'over',
} as const;

/** For a node whose drain ended: its outcome, if it is the outcome of this cause. */
const endedView = (
  base: Pick<NodeView, 'name' | 'instanceId'>,
  { status }: NodeDisruption,
  cause: DisruptionCause,
): NodeView | undefined => {
  if (status?.handledCauses?.includes(cause.id) !== true) return undefined;
  const over = status.phase === 'Ended' ? status : status.previous;
  const outcome = over?.outcome ?? 'Drained';
  if (outcome === 'Cancelled') return undefined;
  const since = over?.endedAt;
  const isFailed = outcome === 'Failed';
  const text = outcomeText[outcome];
  const isKept = cause.followUp === 'Release' && !isFailed;
  return {
    ...base,
    state: isFailed ? 'failed' : isKept ? 'kept' : 'done',
    what: isFailed ? text : `${text}${afterText[cause.followUp]}`,
    ...defined({ since }),
    blockers: isFailed && over?.message !== undefined ? [over.message] : [],
  };
};

/**
 * Start of the node's own turn, not of the cordon that all old nodes get first. While its instance
 * is being terminated: when it was empty.
 */
const sinceOf = ({ status }: NodeDisruption, { receivedAt }: DisruptionCause): string => {
  const { phase, drainedAt, markedAt, startedAt, heldUntil } = status ?? {};
  if (phase === 'Completing' && drainedAt !== undefined) return drainedAt;
  const begun = markedAt ?? startedAt ?? receivedAt;
  return heldUntil !== undefined && heldUntil > begun ? heldUntil : begun;
};

/** Budget and pod; other kinds in full. */
const briefText = (waiting: WaitingOn): string => {
  if (waiting.kind !== 'pdb' && waiting.kind !== 'multiplePdbs') return explainWaiting(waiting);
  const { budgets, pod } = waiting;
  const never = waiting.kind === 'pdb' && waiting.neverAllows ? ', never allows it' : '';
  return `${budgets.length === 1 ? 'budget' : 'budgets'} ${budgets.join(', ')}: pod ${pod}${never}`;
};

const openView = (
  base: Pick<NodeView, 'name' | 'instanceId'>,
  disruption: NodeDisruption,
  cause: DisruptionCause,
): NodeView => {
  const { status } = disruption;
  const phase = status?.phase === 'Ended' ? 'Pending' : (status?.phase ?? 'Pending');
  const { podsRemaining: podsLeft, podsTotal, deadline, onDeadline } = status ?? {};
  // The cause's own deadline is later: it bounds the deletions that begin at `forceFrom`.
  const until = onDeadline === 'force' ? (cause.forceFrom ?? deadline) : deadline;
  const pods = {
    ...defined({ podsLeft, podsTotal }),
  };
  if (cause.hold === true) {
    const isMarked = phase === 'Draining';
    const what = isMarked ? 'cordoned, waits for its turn' : 'being marked';
    return { ...base, state: 'waiting', what, ...pods, blockers: [] };
  }
  const isEmpty = phase === 'Completing' || (phase === 'Draining' && podsLeft === 0);
  const waiting = (status?.waitingOn ?? []).filter(
    (one) => isLasting(one) && one.kind !== 'hold' && one.kind !== 'batch',
  );
  const more = (status?.waitingOnTotal ?? 0) - (status?.waitingOn ?? []).length;
  const lines = waiting.map(explainWaiting);
  return {
    ...base,
    state: 'inFlight',
    what: isEmpty && phase === 'Draining' ? 'empty' : phaseText[phase],
    since: sinceOf(disruption, cause),
    ...(isEmpty ? {} : pods),
    // An empty node has no deadline left.
    ...(isEmpty || until === undefined ? {} : { deadline: until }),
    ...(isEmpty || onDeadline === undefined ? {} : { onDeadline }),
    blockers: more > 0 ? [...lines, `and ${more} more`] : lines,
    ...(lines.length === 0 ? {} : { briefs: waiting.map(briefText) }),
  };
};

/**
 * Whether the node belongs to the surplus: a node drained while everything is restored, or a
 * surplus node of EKS' strategies. All old nodes have been replaced by that time.
 */
const isSurplus = ({ receivedAt }: DisruptionCause, { status }: NodeGroupUpdate): boolean => {
  const isLast = (phase: UpdatePhase): boolean =>
    phase === 'Restoring' || (phase === 'ScalingDown' && status?.strategy !== 'BLUE_GREEN');
  const last = status?.phases?.find(({ phase }) => isLast(phase));
  return last !== undefined && receivedAt >= last.at;
};

/**
 * The cause of a surplus node under DEFAULT with force: Auto Scaling chose the instance, so the
 * node has the cause of its lifecycle hook and none of the update.
 */
const forcedSurplus = (
  { spec }: NodeDisruption,
  update: NodeGroupUpdate,
): DisruptionCause | undefined => {
  const { nodeGroup, force } = update.spec;
  const { phases, endedAt = '9' } = update.status ?? {};
  const from = phases?.find(({ phase }) => phase === 'ScalingDown')?.at;
  if (force !== true || spec.nodeGroup !== nodeGroup || from === undefined) return undefined;
  const cause = spec.causes.findLast(
    (one) =>
      one.kind === 'LifecycleHook' &&
      isConfirmed(one) &&
      one.receivedAt >= from &&
      one.receivedAt <= endedAt,
  );
  return cause && { ...cause, followUp: 'Terminate' };
};

/** Undefined for a node that does not, or not any more, take part in the update. */
const nodeView = (disruption: NodeDisruption, update: NodeGroupUpdate): NodeView | undefined => {
  const { spec, status } = disruption;
  const id = causeIdOf(update);
  const cause = ownCause(disruption, id) ?? forcedSurplus(disruption, update);
  if (cause === undefined || cause.cancelledAt !== undefined) return undefined;
  // A hold of an ended update has no meaning.
  if (cause.hold === true && updateStatusOf(update) !== 'InProgress') return undefined;
  const instanceId = spec.instanceId ?? disruption.metadata.name;
  const base = { name: status?.node?.name ?? spec.nodeName ?? instanceId, instanceId };
  const ended = endedView(base, disruption, cause);
  if (ended?.state === 'done' && isSurplus(cause, update)) return { ...ended, state: 'takenBack' };
  if (ended !== undefined) return ended;
  const isGivenBack = status?.handledCauses?.includes(cause.id) === true;
  if (isGivenBack) return undefined;
  const open = openView(base, disruption, cause);
  return isSurplus(cause, update) ? { ...open, what: `of the surplus; ${open.what}` } : open;
};

/** What was done about a drain that exceeded its timeout. */
const reportText = {
  Skipped: 'the drain was not over in time; tried once more, after all others',
  Quarantined: 'quarantined: cordoned, with a new node beside it',
  Paused: 'the drain was not over in time; tried again, after all others',
} as const;

/** Keeps nodes whose drain failed in the list after they were uncordoned. */
const withFailed = (
  nodes: readonly NodeView[],
  { failedNodes = [] }: Partial<NodeGroupUpdateStatus>,
): readonly NodeView[] => [
  ...nodes.map((node): NodeView => {
    const report = failedNodes.find(({ instanceId }) => instanceId === node.instanceId);
    const isQuarantined = node.state === 'failed' && report?.outcome === 'Quarantined';
    return isQuarantined ? { ...node, what: reportText.Quarantined } : node;
  }),
  ...failedNodes
    .filter(({ instanceId }) => !nodes.some((one) => one.instanceId === instanceId))
    .map(({ instanceId, node, message, outcome }): NodeView => {
      const what = outcome === undefined ? outcomeText.Failed : reportText[outcome];
      return { name: node ?? instanceId, instanceId, state: 'failed', what, blockers: [message] };
    }),
];

export interface UpdateFacts {
  readonly update: NodeGroupUpdate;
  /** Another update of the group in progress: this one starts when it has ended. */
  readonly behind?: string;
  readonly group: NodeGroup | undefined;
  readonly disruptions: readonly NodeDisruption[];
  /** Old nodes of the group, if they were read. */
  readonly old?: readonly { readonly name: string; readonly instanceId: string }[];
}

/** The group's current revision, for an update that has not recorded its own. */
const beforeOf = ({ update, group }: UpdateFacts): Pick<UpdateView, 'before'> => {
  const { version, releaseVersion, imageId, launchTemplate } = group?.status ?? {};
  const isKnown = releaseVersion !== undefined || imageId !== undefined;
  if (!isKnown || update.status?.from !== undefined) return {};
  if (updateStatusOf(update) !== 'InProgress') return {};
  return {
    before: {
      ...defined({ version, releaseVersion, imageId, launchTemplate }),
    },
  };
};

/** Old nodes that the update has not touched yet. */
const notBegun = ({ update, old = [] }: UpdateFacts, nodes: readonly NodeView[]) => {
  if (updateStatusOf(update) !== 'InProgress') return [];
  const known = new Set(nodes.map(({ instanceId }) => instanceId));
  return old
    .filter(({ instanceId }) => !known.has(instanceId))
    .map((one): NodeView => ({ ...one, state: 'notBegun', what: 'not begun', blockers: [] }));
};

export const updateView = (facts: UpdateFacts): UpdateView => {
  const { update, behind, group, disruptions } = facts;
  const parts = disruptions.flatMap((disruption) => nodeView(disruption, update) ?? []);
  const nodes = [...parts, ...notBegun(facts, parts)].toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  return {
    id: update.metadata.name,
    nodeGroup: update.spec.nodeGroup,
    cluster: group?.spec.clusterName,
    update,
    ...defined({ behind }),
    status: updateStatusOf(update),
    phase: update.status?.phase ?? 'Preparing',
    nodes: withFailed(nodes, update.status ?? {}),
    ready: group?.status?.ready,
    instances: group?.status?.instances,
    ...beforeOf(facts),
  };
};

/** `1.32.9-20260905`, or the image of a group with its own. */
const imageText = ({ releaseVersion, imageId, version }: Partial<Revision>): string =>
  releaseVersion ?? imageId ?? version ?? 'newest';

const templateText = ({ launchTemplate }: Partial<Revision>): string =>
  launchTemplate === undefined ? '' : `template v${launchTemplate.version}`;

const joined = (...texts: readonly string[]): string => texts.filter(Boolean).join(', ');

/** Includes the version of the user's own template, where there is one. */
export const revisionText = (revision: Partial<Revision>): string =>
  joined(imageText(revision), templateText(revision));

/** The revisions before and after, as far as they differ; undefined while they are unknown. */
export const fromTo = ({
  update,
  before,
}: UpdateView): { readonly from?: string; readonly to?: string } => {
  const { change, type } = update.spec;
  const from = update.status?.from ?? (type === 'VersionUpdate' ? before : undefined);
  const to = update.status?.target ?? (type === 'VersionUpdate' ? change : undefined);
  if (from === undefined) return to === undefined ? {} : { to: revisionText(to) };
  if (to === undefined) return { from: revisionText(from) };
  // Before the update has begun, `target` contains only what was requested to change.
  const isSame = to.launchTemplate === undefined || templateText(from) === templateText(to);
  const text = isSame ? imageText : revisionText;
  return { from: text(from), to: text(to) };
};
