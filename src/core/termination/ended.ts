// Ended: a new cause, or a node that registers anew under a cause that stands, opens the next
// episode. Withdrawing the causes undoes the marks unless the instance is being terminated; after a
// day the record is deleted. Nothing else happens to a disruption that has ended.

import { epochMs, parseTime } from '../../api/brand.ts';
import { isInForce, isPending } from '../../api/confirmation.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
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
 * The Node object was deleted and the same instance has registered another one, without our marks:
 * what was drained stays drained for as long as its causes stand.
 */
const isRegisteredAnew = ({ disruption, node }: Observation): boolean => {
  const drained = disruption.status?.node;
  if (node === undefined || drained === undefined || drained.uid === node.metadata.uid)
    return false;
  return standingCauses(disruption).length > 0;
};

/** The next episode for the causes that stand: what ended their hooks is not asked for again. */
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
  if (isRegisteredAnew(observation)) return decision({ steps: [drainAgain(disruption)] });
  // A patch that was long on its way may land after the end: the node's own record shows it.
  const owned = same
    ? (recordedOn(node, disruption.metadata.name) ?? status.ownedMarks)
    : undefined;
  const ours = same && hasMarksOfOurs(node, owned);
  const { causes } = disruption.spec;
  const withdrawn =
    causes.length > 0 && causes.every((cause) => !isInForce(cause) && !isPending(cause));
  if (ours && withdrawn && !wasTerminated(disruption)) return startUndoing(observation);
  // The record of our marks is needed for as long as they stand.
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
