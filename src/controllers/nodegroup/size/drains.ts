// The effects of a scale-in: records and withdraws causes on NodeDisruptions, terminates drained
// instances. Each reads again just before it acts. Decides nothing.
import { formatTime } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import type { JsonObject } from '../../../api/json.ts';
import { resourceTypes } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { GroupStep } from '../../../api/plan.ts';
import { countedOf, recordsOf, sizesOf, viewScaleIn } from '../../../core/group-plan/index.ts';
import { recordCause } from '../../causes.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { journalDrain, journalTerminate } from '../events.ts';
import { nodeNamesOf } from '../nodes/names.ts';

type StepOf<K extends GroupStep['kind']> = Extract<GroupStep, { kind: K }>;

/** Cancels the completed causes of one record; the others stay unchanged. */
const withdraw = async (
  { kube, disruptions, clock }: NodeGroupDeps,
  disruption: NodeDisruption,
  isDone: (cause: DisruptionCause) => boolean,
  signal: AbortSignal,
): Promise<void> => {
  if (!disruption.spec.causes.some(isDone)) return;
  const cancelledAt = formatTime(clock.now());
  const causes = disruption.spec.causes.map(
    ({ hook, ...cause }): JsonObject => ({
      ...cause,
      ...(hook === undefined ? {} : { hook: { ...hook } }),
      ...(isDone({ ...cause }) ? { cancelledAt } : {}),
    }),
  );
  const { resourceVersion, name } = disruption.metadata;
  const patch = {
    type: 'merge',
    body: { metadata: { resourceVersion }, spec: { causes } },
  } as const;
  const type = resourceTypes.nodedisruptions;
  const found = await kube.patch<NodeDisruption>(type, { name }, patch, { signal });
  // Wait until the cache has the write, so that the next pass does not withdraw again.
  if (found.kind === 'found') {
    await disruptions.observedAtLeast(found.object.metadata.resourceVersion, signal);
  }
};

/** Uses the current record, since its drain writes it while the plan is carried out. */
export const withdrawStep = async (
  deps: NodeGroupDeps,
  { disruption: name, causeIds }: StepOf<'WithdrawCauses'>,
  signal: AbortSignal,
): Promise<void> => {
  const disruption = deps.disruptions.get(name);
  if (disruption === undefined) return;
  const isDone = ({ id, cancelledAt }: DisruptionCause): boolean =>
    cancelledAt === undefined && causeIds.includes(id);
  await withdraw(deps, disruption, isDone, signal);
};

export const recordStep = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { disruption, nodeName, cause }: StepOf<'RecordCause'>,
  signal: AbortSignal,
): Promise<void> => {
  const { name } = group.metadata;
  const subject = { name: disruption, instanceId: disruption, nodeGroup: name };
  const what = { subject: { ...subject, ...defined({ nodeName }) }, cause };
  if ((await recordCause(deps, what, signal)) === 'refused') return;
  journalDrain(deps.journal, group, disruption);
};

/** Terminates drained instances, as long as the group is above its target. */
export const terminateSteps = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  steps: readonly StepOf<'TerminateMember'>[],
  signal: AbortSignal,
): Promise<void> => {
  if (steps.length === 0) return;
  const name = group.status?.autoScalingGroupName ?? '';
  const [now] = await deps.cloud.describeGroups([name], { signal });
  if (now === undefined) return;
  let terminated = 0;
  for (const { instanceId, scaleIn } of steps) {
    // An instance that was drained at the decision may not be drained any more: its node may have
    // been uncordoned.
    const records = recordsOf(deps.disruptions.list());
    const drainRecords = { records, nodeNames: nodeNamesOf(deps, now), now: deps.clock.now() };
    const { drained, needed } = viewScaleIn(drainRecords, now, scaleIn);
    if (terminated >= needed) return;
    if (!drained.some(({ metadata }) => metadata.name === instanceId)) continue;
    await deps.cloud.terminateInGroup(instanceId, { signal, decrementDesired: true });
    journalTerminate(deps.journal, group, instanceId);
    terminated += 1;
  }
};

/**
 * Whether a lower size would end an instance that was launched since the decision: Auto Scaling
 * would choose the instance itself, and end its pods.
 */
const endsWhatCame = (desired: number, now: ScalingGroup, members: number): boolean => {
  const count = countedOf(now).length;
  return desired < count && count > members;
};

/**
 * Sets the desired size. Auto Scaling supports no precondition, so a concurrent change would be
 * lost, and so would an instance launched since. The group is therefore read just before; if it
 * differs nothing is done, and the next pass decides again.
 */
export const setSizesStep = async (
  { cloud }: Pick<NodeGroupDeps, 'cloud'>,
  { autoScalingGroupName: name, expected, members, change }: StepOf<'SetSizes'>,
  signal: AbortSignal,
): Promise<void> => {
  const { desiredCapacity } = change;
  if (desiredCapacity !== undefined) {
    const [now] = await cloud.describeGroups([name], { signal });
    if (now === undefined) return;
    const { desired, minSize, maxSize } = sizesOf(now);
    const isSame =
      desired === expected.desired && minSize === expected.minSize && maxSize === expected.maxSize;
    if (!isSame || endsWhatCame(desiredCapacity, now, members)) return;
  }
  await cloud.updateGroup({ name, ...change }, { signal });
};
