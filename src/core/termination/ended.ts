// Ended: the next episode starts with a new cause, or when the node registers again under a cause
// in force. Withdrawing the causes undoes the marks unless the instance is being terminated. The
// record is deleted after a day. Nothing else happens to an ended disruption.

import { epochMs, parseTime } from '../../api/brand.ts';
import { isInForce, isPending } from '../../api/confirmation.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { defaultLateNodeSeconds } from '../../api/drain-policy.ts';
import type { Step } from '../../api/plan.ts';
import { wasHandled } from './cause-writes.ts';
import { type Demand, standingCauses } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { startUndoing } from './marking.ts';
import { hasMarksOfOurs, recordedOn } from './marks.ts';
import type { Observation } from './observation.ts';
import { nextEpisode } from './status.ts';
import { wasTerminated } from './terminating.ts';

/** docs/designs/termination.md: kept 24 h after its end. */
const keptMs = 86_400_000;

/**
 * The Node was deleted and the same instance registered a new one without our marks. It has to be
 * drained for as long as its causes are in force.
 */
const isRegisteredAnew = ({ disruption, node }: Observation): boolean => {
  const drained = disruption.status?.node;
  if (node === undefined || drained === undefined || drained.uid === node.metadata.uid)
    return false;
  return standingCauses(disruption).length > 0;
};

/**
 * The drain found no node, but the instance has registered one now: its boot was slow, or its hook
 * was completed first. Pods would be scheduled to an instance that is about to be terminated.
 */
const isLate = ({ disruption, node, group, now }: Observation): boolean => {
  const { outcome, endedAt, node: drained } = disruption.status ?? {};
  const ended = parseTime(endedAt);
  if (node === undefined || drained !== undefined || ended === undefined) return false;
  const seconds = group?.spec.drain?.lateNodes?.withinSeconds ?? defaultLateNodeSeconds;
  if (outcome !== 'NothingToDrain' || now >= ended + seconds * 1000) return false;
  return standingCauses(disruption).length > 0;
};

/** The next episode for the causes in force; a hook that was completed is not completed again. */
const drainAgain = (disruption: NodeDisruption): Step => {
  const next = nextEpisode(disruption);
  const { handledCauses = [], ...status } = next.status;
  const standing = standingCauses(disruption);
  const handled = handledCauses.filter((id) => !standing.some((one) => wasHandled(one, [id])));
  const { hooks } = disruption.status ?? {};
  return {
    ...next,
    status: { ...status, handledCauses: handled, ...defined({ hooks }) },
  };
};

export const decideEnded = (observation: Observation, demand: Demand): Decision => {
  const { disruption, node, now } = observation;
  const { status } = disruption;
  if (demand.causes.length > 0) return decision({ steps: [nextEpisode(disruption)] });
  const same = node !== undefined && status?.node?.uid === node.metadata.uid;
  if (isRegisteredAnew(observation) || isLate(observation))
    return decision({ steps: [drainAgain(disruption)] });
  // A delayed patch may be applied after the end; the annotation on the node shows it.
  const owned = same
    ? (recordedOn(node, disruption.metadata.name) ?? status.ownedMarks)
    : undefined;
  const ours = same && hasMarksOfOurs(node, owned);
  const { causes } = disruption.spec;
  const withdrawn =
    causes.length > 0 && causes.every((cause) => !isInForce(cause) && !isPending(cause));
  if (ours && withdrawn && !wasTerminated(disruption)) return startUndoing(observation);
  // The record of our marks is needed until the marks are removed.
  if (ours) return decision({});
  const ended = parseTime(status?.endedAt);
  if (ended === undefined) return decision({});
  const goneAt = epochMs(ended + keptMs);
  if (now < goneAt) return decision({ wakeAt: [goneAt] });
  const { name, uid, resourceVersion } = disruption.metadata;
  return decision({
    steps: [{ kind: 'DeleteDisruption', disruption: name, uid, resourceVersion }],
  });
};
