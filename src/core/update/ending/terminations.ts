// Whether an instance that left its group was terminated by Drover's call, which decrements the
// desired size, or by another actor. Decided from its NodeDisruption: the call is made only after
// the drain and the cooldown. Pure.
import { type EpochMs, parseTime } from '../../../api/brand.ts';
import { isConfirmed } from '../../../api/confirmation.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import { ownCause, updateCauseId } from '../records/nodes.ts';

/**
 * When Drover learned of another actor's termination from a lifecycle hook; Infinity if there was
 * none.
 */
const noticedAt = ({ causes }: NodeDisruption['spec'], { receivedAt }: DisruptionCause): number =>
  Math.min(
    ...causes
      .filter((one) => one.kind === 'LifecycleHook' && isConfirmed(one))
      .filter((one) => one.receivedAt > receivedAt)
      .map((one) => parseTime(one.receivedAt) ?? Number.POSITIVE_INFINITY),
  );

/**
 * Earliest time of the termination call; undefined: the drain has not ended, so no call was made.
 */
const callableFrom = (
  { status }: NodeDisruption,
  { id, receivedAt, cooldownSeconds = 0, terminationFreeAt, holdTermination }: DisruptionCause,
): number | undefined => {
  const { drainedAt, handledCauses, completingCauses, outcome, previous } = status ?? {};
  // Drover's own call triggers a hook, which starts the next episode with its own drain.
  const isLast = completingCauses?.includes(id) === true;
  const isOver = isLast || handledCauses?.includes(id) === true;
  if (!isOver || holdTermination === true) return undefined;
  const how = isLast ? outcome : previous?.outcome;
  // The cooldown applies only after a drain.
  const cooledMs = how === 'Drained' || how === 'Forced' ? cooldownSeconds * 1000 : 0;
  const emptyAt = parseTime((isLast ? drainedAt : undefined) ?? receivedAt) ?? 0;
  return Math.max(emptyAt + cooledMs, parseTime(terminationFreeAt) ?? 0);
};

/** The update requests termination with decrement. */
export const isTerminationRequested = (disruption: NodeDisruption, updateName: string): boolean =>
  ownCause(disruption, updateCauseId(updateName))?.followUp === 'Terminate';

/**
 * `maybe`: the record does not show that the drain ended. Without a cooldown, the instance may be
 * terminated before the cached record shows the end.
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
  const leftAt = Math.min(noticedAt(disruption.spec, cause), parseTime(endedAt) ?? now);
  return leftAt < from ? 'no' : 'yes';
};
