// The reboot of a drained instance. It is recorded before it is requested, so that a restart does
// not request a second one. The requester verifies whether it helped.
import { epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionOutcome, NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { Demand } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import type { Observation } from './observation.ts';
import { waitingFields, writeStatus } from './status.ts';

const againMs = 5_000;
/** Well within this, a rebooting machine reports another boot id or is silent. */
const showsWithinMs = 2 * 60_000;

export const mustReboot = (
  { spec }: NodeDisruption,
  { followUp }: Demand,
  outcome: DisruptionOutcome | undefined,
): boolean =>
  followUp === 'Reboot' &&
  spec.instanceId !== undefined &&
  (outcome === 'Drained' || outcome === 'Forced');

const bootIdOf = ({ node }: Observation): string | undefined => node?.status.nodeInfo?.bootID;

/** Requests the reboot. `waitingOn` is empty when nothing is left to do. */
export const reboot = (observation: Observation, demand: Demand): Decision => {
  const { disruption, memory, now } = observation;
  const { instanceId } = disruption.spec;
  if (instanceId === undefined || memory.reboot?.done === true) return decision({});
  const { reboot: noted } = disruption.status ?? {};
  const message = memory.reboot?.message ?? 'being rebooted';
  const waitingOn: readonly WaitingOn[] = [{ kind: 'instance', message }];
  const askedAt = parseTime(noted?.askedAt);
  if (noted === undefined || askedAt === undefined) {
    const change = {
      reboot: { askedAt: formatTime(now), ...defined({ bootId: bootIdOf(observation) }) },
      ...waitingFields(waitingOn),
    };
    return decision({
      steps: [writeStatus({ disruption, demand, change, now })],
      waitingOn,
    });
  }
  const bootId = bootIdOf(observation);
  if (bootId !== undefined && noted.bootId !== undefined && bootId !== noted.bootId) {
    return decision({});
  }
  // An earlier process may have requested it.
  const isOthers = (memory.firstLookAt ?? 0) > askedAt;
  const shownAt = epochMs(askedAt + showsWithinMs);
  if (isOthers && memory.reboot === undefined && now < shownAt) {
    return decision({ waitingOn, wakeAt: [shownAt] });
  }
  const { reboot: tried } = memory;
  const dueAt = epochMs((tried?.at ?? now) + againMs * Math.min(6, tried?.failures ?? 0));
  if (now < dueAt) return decision({ waitingOn, wakeAt: [dueAt] });
  return decision({ steps: [{ kind: 'RebootInstance', instanceId }], waitingOn });
};
