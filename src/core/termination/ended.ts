// Ended: a new cause opens the next episode, withdrawing the old ones gives the node back unless its
// instance was asked for, after a day the record goes. Nothing else happens to a disruption that has ended.
import { epochMs, parseTime } from '../../api/brand.ts';
import type { Demand } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { startUndoing } from './marking.ts';
import { hasMarksOfOurs, recordedOn } from './marks.ts';
import type { Observation } from './observation.ts';
import { nextEpisode } from './status.ts';
import { wasTerminated } from './terminating.ts';

/** docs/designs/termination.md: kept 24 h after its end. */
const keptMs = 86_400_000;

export const decideEnded = (observation: Observation, demand: Demand): Decision => {
  const { disruption, node, now } = observation;
  const { status } = disruption;
  if (demand.causes.length > 0) return decision({ steps: [nextEpisode(disruption)] });
  const same = node !== undefined && status?.node?.uid === node.metadata.uid;
  // A patch that was long on its way may land after the end: the node's own record tells.
  const owned = same
    ? (recordedOn(node, disruption.metadata.name) ?? status.ownedMarks)
    : undefined;
  const ours = same && hasMarksOfOurs(node, owned);
  const { causes } = disruption.spec;
  const withdrawn = causes.length > 0 && causes.every((cause) => cause.cancelledAt !== undefined);
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
