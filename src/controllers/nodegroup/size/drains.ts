// The effects of a scale-in: causes recorded and withdrawn on NodeDisruptions, drained instances
// terminated. Each looks once more right before it. Decides nothing.
import { formatTime } from '../../../api/brand.ts';
import type { ScalingGroup, ScalingInstance } from '../../../api/cloud.ts';
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

/** Cancels the causes of one record that are done; others stay as they are. */
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
  // Seen before the next pass looks: what is withdrawn must not be withdrawn again.
  if (found.kind === 'found') {
    await disruptions.observedAtLeast(found.object.metadata.resourceVersion, signal);
  }
};

/** Cancels causes on instances that stay. An instance that is being terminated keeps its causes. */
export const withdrawCauses = async (
  deps: NodeGroupDeps,
  what: {
    readonly scaling: ScalingGroup;
    readonly isDone: (disruption: NodeDisruption, cause: DisruptionCause) => boolean;
  },
  signal: AbortSignal,
): Promise<void> => {
  const isLeaving = ({ lifecycleState }: ScalingInstance): boolean =>
    /^Terminat/.test(lifecycleState);
  const { instances } = what.scaling;
  const leaving = new Set(instances.filter(isLeaving).map(({ instanceId }) => instanceId));
  for (const disruption of deps.disruptions.list()) {
    if (leaving.has(disruption.metadata.name)) continue;
    await withdraw(deps, disruption, (cause) => what.isDone(disruption, cause), signal);
  }
};

/** The record as it is by now: its drain writes it while the plan is carried out. */
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

/** Ends what is drained, as far as it is still too many. */
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
    // Drained when it was decided is not drained now: a node may have come back meanwhile.
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

/** Of fewer than there are Auto Scaling would end one of its own choice, with its pods. */
const endsWhatCame = (desired: number, now: ScalingGroup, members: number): boolean => {
  const count = countedOf(now).length;
  return desired < count && count > members;
};

/**
 * How many there are to be is set as a number, and Auto Scaling takes no condition with it: what
 * somebody set since the group was looked at would be lost, and so would an instance that has come
 * since. So it is looked at right before, and where it differs nothing is done: the next pass
 * decides on what is there then.
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
