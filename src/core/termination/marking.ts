// Pending and Marking: the intent is written to the status before the first patch. Nothing is
// evicted before the watch shows the marks.
import { epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { isRefuted } from '../../api/confirmation.ts';
import type { OwnedMarks } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import { classifyPods } from '../drain/index.ts';
import { complete, withoutNode } from './absence.ts';
import { type Demand, standingCauses } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { holdFields } from './held.ts';
import {
  hasMarksOfOurs,
  markSteps,
  marksAreVisible,
  marksToOwn,
  marksToUndo,
  noMarks,
  recordedOn,
  settleMs,
} from './marks.ts';
import type { Observation } from './observation.ts';
import { type StatusChange, waitingFields, writeStatus } from './status.ts';
import { whileWaiting } from './waiting-turn.ts';

/** Writes the intent to mark `node`, then the patches for what is missing. */
export const startMarking = (observation: Observation, demand: Demand, node: Node): Decision => {
  const { disruption, now, options } = observation;
  const { name, uid } = node.metadata;
  const { status } = disruption;
  const subject = disruption.metadata.name;
  const { compat } = options;
  // Marks on an earlier node of the same name were deleted with it.
  const sameNode = status?.node?.uid === uid;
  const before = sameNode ? status?.ownedMarks : undefined;
  const ownedMarks = marksToOwn({ node, disruption: subject, compat, before });
  const change = {
    phase: 'Marking' as const,
    startedAt: status?.startedAt ?? formatTime(now),
    node: { name, uid },
    ownedMarks,
    ...holdFields(observation, demand),
  };
  const patches = markSteps({ node, disruption: subject, compat, owned: ownedMarks });
  return decision({
    steps: [writeStatus({ disruption, demand, change, now }), ...patches],
    waitingOn: [{ kind: 'marks', node: name }],
  });
};

export const decidePending = (observation: Observation, demand: Demand): Decision => {
  const { disruption, node, now } = observation;
  if (demand.causes.length === 0) {
    const { node: marked, ownedMarks } = disruption.status ?? {};
    const isMarked = node?.metadata.uid === marked?.uid && hasMarksOfOurs(node, ownedMarks);
    if (isMarked && standingCauses(disruption).length === 0) return startUndoing(observation);
    const change = {
      phase: 'Ended' as const,
      outcome: 'Cancelled' as const,
      message: disruption.spec.causes.some(isRefuted)
        ? 'the cloud does not confirm it: nothing was done'
        : 'withdrawn before anything was done',
      endedAt: formatTime(now),
    };
    return decision({ steps: [writeStatus({ disruption, change, now })] });
  }
  if (node === undefined) return withoutNode(observation, demand);
  const waiting = whileWaiting(observation, demand);
  if (waiting !== undefined) return waiting;
  return goOn(observation, demand, node) ?? startMarking(observation, demand, node);
};

/**
 * The node was drained before and its marks remain; usually this is the notice of its own
 * termination. Schedulers already know the marks, so there is no settle time. The controller checks
 * again that the node is empty.
 */
const goOn = (observation: Observation, demand: Demand, node: Node): Decision | undefined => {
  const { disruption, now, options } = observation;
  const { previous, node: marked } = disruption.status ?? {};
  const wasDrained = previous?.outcome === 'Drained' || previous?.outcome === 'Forced';
  const isSame = marked?.uid === node.metadata.uid;
  if (!wasDrained || previous.endedAt === undefined || !isSame) return undefined;
  const endedAt = parseTime(previous.endedAt);
  if (endedAt === undefined || !marksAreVisible(node, options.compat)) return undefined;
  const change = {
    phase: 'Draining' as const,
    startedAt: formatTime(now),
    // Schedulers have observed the marks already, but a pod list from before the end does not
    // count.
    markedAt: formatTime(epochMs(endedAt - settleMs + 1)),
    ...podCounts(observation),
    ...holdFields(observation, demand),
  };
  return decision({ steps: [writeStatus({ disruption, demand, change, now })] });
};

/**
 * True if the single patch of native mode was not applied: the node lacks Drover's annotation.
 * Another actor then set any marks that it has. An intent without the annotation belongs to eks
 * mode, whose patches are applied one by one.
 */
const hasNotLanded = ({ disruption, node }: Observation): boolean => {
  const { metadata, status } = disruption;
  const intended = status?.ownedMarks?.annotation === true && status.markedAt === undefined;
  const isMarking = status?.phase === 'Marking';
  return isMarking && intended && node !== undefined && !recordedOn(node, metadata.name);
};

/** The last cause was withdrawn: starts undoing the marks. */
export const startUndoing = (observation: Observation): Decision => {
  const { disruption, node, now } = observation;
  const { status } = disruption;
  const same = node !== undefined && status?.node?.uid === node.metadata.uid;
  const owned = same
    ? (recordedOn(node, disruption.metadata.name) ?? status?.ownedMarks)
    : undefined;
  // If no mark is visible, the patch may have been applied just now and not be observed yet.
  const areTheirs = hasNotLanded(observation) && hasMarksOfOurs(node, owned);
  const change = {
    phase: 'Undoing' as const,
    ...(same && owned !== undefined
      ? { ownedMarks: areTheirs ? noMarks : marksToUndo(node, owned) }
      : {}),
    ...waitingFields([]),
  };
  return decision({ steps: [writeStatus({ disruption, change, now })] });
};

/** How many pods there are to drain, if they are listed yet. */
const podCounts = ({ pods, daemonSetIsGone, disruption, now }: Observation): StatusChange => {
  if (pods === undefined) return {};
  const { boomerangs = [] } = disruption.status ?? {};
  const more = daemonSetIsGone === undefined ? {} : { daemonSetIsGone };
  const { evict } = classifyPods(pods, { markedAt: now, boomerangs, ...more });
  return { podsTotal: evict.length, podsRemaining: evict.length };
};

const sameMarks = (a: OwnedMarks, b: OwnedMarks | undefined): boolean =>
  a.excludeLabel === b?.excludeLabel &&
  a.unschedulable === b.unschedulable &&
  a.taint === b.taint &&
  a.annotation === b.annotation;

export const decideMarking = (observation: Observation, demand: Demand): Decision => {
  const { disruption, node, now, options } = observation;
  const { status } = disruption;
  if (demand.causes.length === 0) return startUndoing(observation);
  if (node === undefined) return withoutNode(observation, demand);
  if (status?.node?.uid !== node.metadata.uid) return startMarking(observation, demand, node);
  const { compat } = options;
  if (marksAreVisible(node, compat)) {
    const markedAt = formatTime(now);
    const change = {
      phase: 'Draining' as const,
      markedAt,
      ...podCounts(observation),
      ...holdFields(observation, demand),
    };
    return decision({ steps: [writeStatus({ disruption, demand, change, now })] });
  }
  if (demand.deadline !== undefined && now >= demand.deadline) {
    const outcome = demand.onDeadline === 'force' ? ('Forced' as const) : ('Failed' as const);
    const message = 'the node could not be marked before the deadline';
    return complete(observation, demand, { outcome, message });
  }
  const subject = disruption.metadata.name;
  // If another actor set marks meanwhile, the status must record before the patch that they are not
  // Drover's.
  const unpatched = compat === 'native' && hasNotLanded(observation);
  const before = unpatched ? undefined : status.ownedMarks;
  const owned = marksToOwn({ node, disruption: subject, compat, before });
  const moved = !sameMarks(owned, status.ownedMarks);
  const change = { phase: 'Marking' as const, ownedMarks: owned };
  return decision({
    steps: [
      ...(moved ? [writeStatus({ disruption, demand, change, now })] : []),
      ...markSteps({ node, disruption: subject, compat, owned }),
    ],
    waitingOn: [{ kind: 'marks', node: node.metadata.name }],
    wakeAt: [demand.deadline],
  });
};
