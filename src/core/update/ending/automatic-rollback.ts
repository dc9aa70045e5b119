// When an update by Drover's own strategy goes back by itself: new nodes that do not become Ready,
// as many as its policy names. Says so in the journal; the way back is an update of its own. Pure.
import { parseTime } from '../../../api/brand.ts';
import { joinTimeoutMs } from '../../nodegroup/index.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { type Counted, type Herd, isWhole } from '../records/nodes.ts';

const never = Number.POSITIVE_INFINITY;

/** It is a node, and not a Ready one for as long as a node may take to join. */
const isIll = ({ instance }: Counted, now: number): boolean => {
  const since = parseTime(instance.notReadySince);
  return since !== undefined && now - since >= joinTimeoutMs;
};

/** New instances that have had their time to become Ready nodes. */
export const lateNewNodes = (
  { issues, now }: UpdateObservation,
  { fresh }: Herd,
): readonly Counted[] => {
  const unjoined = new Set(
    issues.flatMap(({ code, resourceIds }) => (code === 'NodeCreationFailure' ? resourceIds : [])),
  );
  return fresh.filter(
    (one) => !isWhole(one) && (unjoined.has(one.instance.instanceId) || isIll(one, now)),
  );
};

/** So many of them are too many to go on with. */
export const areTooMany = ({ policies }: UpdateObservation, failed: readonly Counted[]): boolean =>
  failed.length >= (policies?.failedNewNodes ?? never);

/** An end for want of Ready new nodes, with the way back noted where the policy asks for it. */
export const goingBack = (
  observation: UpdateObservation,
  { fresh }: Herd,
  decided: UpdateDecision,
): UpdateDecision => {
  const { change } = decided;
  const isOfNodes = change?.errors?.[0]?.code === 'NodeCreationFailure';
  const failed = fresh.filter((one) => !isWhole(one));
  if (!isOfNodes || !areTooMany(observation, failed)) return decided;
  const nodes = failed.length === 1 ? 'new node' : 'new nodes';
  const cause = `${failed.length} ${nodes} did not become Ready`;
  const message = `${cause}: the group rolls back. ${change?.message ?? ''}`;
  return { ...decided, change: { ...change, message, goesBack: cause } };
};
