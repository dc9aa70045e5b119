// Whether an instance that has left its group did so by our call, which takes its place along, or
// by somebody else's. Its record tells: no call is made before the drain is over and the node has
// cooled down. Pure.
import { type EpochMs, parseTime } from '../../../api/brand.ts';
import { isConfirmed } from '../../../api/confirmation.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import { ownCause, updateCauseId } from '../records/nodes.ts';

/**
 * When somebody else's termination, of which a hook told, came to our knowledge; before our own
 * there is none.
 */
const toldAt = ({ causes }: NodeDisruption['spec'], { receivedAt }: DisruptionCause): number =>
  Math.min(
    ...causes
      .filter((one) => one.kind === 'LifecycleHook' && isConfirmed(one))
      .filter((one) => one.receivedAt > receivedAt)
      .map((one) => parseTime(one.receivedAt) ?? Number.POSITIVE_INFINITY),
  );

/** From when on the call may have been made; undefined: before this drain is over there is none. */
const callableFrom = (
  { status }: NodeDisruption,
  { id, receivedAt, cooldownSeconds = 0, terminationFreeAt, holdTermination }: DisruptionCause,
): number | undefined => {
  const { drainedAt, handledCauses, completingCauses, outcome, previous } = status ?? {};
  // The next episode, of the hook that our call begins, has a drain of its own.
  const isLast = completingCauses?.includes(id) === true;
  const isOver = isLast || handledCauses?.includes(id) === true;
  if (!isOver || holdTermination === true) return undefined;
  const how = isLast ? outcome : previous?.outcome;
  // Nothing was drained: there is nothing to cool down.
  const cooledMs = how === 'Drained' || how === 'Forced' ? cooldownSeconds * 1000 : 0;
  const emptyAt = parseTime((isLast ? drainedAt : undefined) ?? receivedAt) ?? 0;
  return Math.max(emptyAt + cooledMs, parseTime(terminationFreeAt) ?? 0);
};

/** The update asks for the instance's end, its place included. */
export const isAskedToEnd = (disruption: NodeDisruption, updateName: string): boolean =>
  ownCause(disruption, updateCauseId(updateName))?.followUp === 'Terminate';

/**
 * `maybe`: its record does not say that the drain is over, and without a cooldown what the cloud
 * shows may be ahead of what is known of the record.
 */
export const endedByCall = (
  disruption: NodeDisruption,
  updateName: string,
  now: EpochMs,
): 'yes' | 'maybe' | 'no' => {
  const cause = ownCause(disruption, updateCauseId(updateName));
  if (cause?.followUp !== 'Terminate') return 'no';
  const { outcome, endedAt, node } = disruption.status ?? {};
  if (outcome === 'Failed' || outcome === 'InstanceGone') return 'no';
  const from = callableFrom(disruption, cause);
  const cools = (cause.cooldownSeconds ?? 0) > 0 && node !== undefined;
  if (from === undefined) return cools ? 'no' : 'maybe';
  const leftAt = Math.min(toldAt(disruption.spec, cause), parseTime(endedAt) ?? now);
  return leftAt < from ? 'no' : 'yes';
};
