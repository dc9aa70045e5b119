// When an update by Drover's own strategy rolls back by itself: when the policy's number of new
// nodes did not become Ready. Records it in the status; the rollback is a separate update. Pure.
import { parseTime } from '../../../api/brand.ts';
import { joinTimeoutMs } from '../../nodegroup/index.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { type Counted, type GroupNodes, isHealthyNew } from '../records/nodes.ts';

const never = Number.POSITIVE_INFINITY;

/** The node exists and has not been Ready for the whole join timeout. */
const isIll = ({ instance }: Counted, now: number): boolean => {
  const since = parseTime(instance.notReadySince);
  return since !== undefined && now - since >= joinTimeoutMs;
};

/** New instances that did not become Ready nodes within the join timeout. */
export const lateNewNodes = (
  { issues, now }: UpdateObservation,
  { fresh }: GroupNodes,
): readonly Counted[] => {
  const unjoined = new Set(
    issues.flatMap(({ code, resourceIds }) => (code === 'NodeCreationFailure' ? resourceIds : [])),
  );
  return fresh.filter(
    (one) => !isHealthyNew(one) && (unjoined.has(one.instance.instanceId) || isIll(one, now)),
  );
};

/** Whether the number of failed new nodes reaches the policy's limit. */
export const areTooMany = ({ policies }: UpdateObservation, failed: readonly Counted[]): boolean =>
  failed.length >= (policies?.failedNewNodes ?? never);

/**
 * Fails the update because too few new nodes are Ready; marks it for rollback if the policy
 * requests that.
 */
export const startRollback = (
  observation: UpdateObservation,
  { fresh }: GroupNodes,
  decided: UpdateDecision,
): UpdateDecision => {
  const { change } = decided;
  const isOfNodes = change?.errors?.[0]?.code === 'NodeCreationFailure';
  const failed = fresh.filter((one) => !isHealthyNew(one));
  if (!isOfNodes || !areTooMany(observation, failed)) return decided;
  const nodes = failed.length === 1 ? 'new node' : 'new nodes';
  const cause = `${failed.length} ${nodes} did not become Ready`;
  const message = `${cause}: the group rolls back. ${change?.message ?? ''}`;
  return { ...decided, change: { ...change, message, goesBack: cause } };
};
