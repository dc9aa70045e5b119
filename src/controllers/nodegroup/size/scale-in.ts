// Scale-in and delete of live groups: has nodes drained, and terminates those that are. Who goes is
// core's decision; each termination looks at the group once more and never goes below the target.
import { type EpochMs, epochMs, formatTime } from '../../../api/brand.ts';
import { defaultDrainTimeoutSeconds } from '../../../api/causes.ts';
import type { ScalingGroup, ScalingInstance } from '../../../api/cloud.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import type { JsonObject } from '../../../api/json.ts';
import { resourceTypes } from '../../../api/kube.ts';
import { forceAnnotation, type NodeGroup, type NodeGroupStatus } from '../../../api/nodegroup.ts';
import {
  chooseForScaleIn,
  evictionFailure,
  isOfRequest,
  isOwnScaleIn,
  nextCauseId,
  type Victim,
  victimState,
} from '../../../core/nodegroup/index.ts';
import { updateCauseId } from '../../../core/update/index.ts';
import { recordCause } from '../../causes.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { journalDrain, journalTerminate } from '../events.ts';
import { candidatesOf } from './candidates.ts';
import { lastFailure, scaleInNow } from './request.ts';
import { countedOf, setSizes } from './resize.ts';

export interface ScaleIn {
  readonly id: string;
  readonly target: number;
}

/** How many must go, and what became of those that were asked to. */
export interface ScaleInView {
  readonly needed: number;
  readonly draining: readonly NodeDisruption[];
  readonly drained: readonly NodeDisruption[];
  readonly failed: readonly NodeDisruption[];
}

export const isForced = ({ metadata }: NodeGroup): boolean =>
  metadata.annotations?.[forceAnnotation] === 'true';

/** Instances that are too many; those that Auto Scaling has not started yet need no drain. */
export const surplusOf = (scaling: ScalingGroup, target: number): number =>
  Math.max(0, Math.min(countedOf(scaling).length, scaling.desiredCapacity) - target);

export const viewScaleIn = (
  deps: NodeGroupDeps,
  scaling: ScalingGroup,
  { id, target }: ScaleIn,
): ScaleInView => {
  const view = {
    needed: surplusOf(scaling, target),
    draining: [] as NodeDisruption[],
    drained: [] as NodeDisruption[],
    failed: [] as NodeDisruption[],
  };
  for (const { instanceId } of countedOf(scaling)) {
    const disruption = deps.disruptions.get(instanceId);
    if (disruption === undefined) continue;
    const hasNode = nodeOfInstance(deps.nodes, instanceId) !== undefined;
    const state = victimState(disruption, { id, hasNode, now: deps.clock.now() });
    if (state !== undefined) view[state.kind].push(disruption);
  }
  return view;
};

/** Held for an update that somebody deleted: nobody would ever lift it. */
const isOrphaned = (
  { updates }: NodeGroupDeps,
  { spec }: NodeDisruption,
  cause: DisruptionCause,
  group: string,
): boolean =>
  cause.kind === 'Update' &&
  cause.hold === true &&
  cause.cancelledAt === undefined &&
  spec.nodeGroup === group &&
  !updates.list().some(({ metadata }) => isOfRequest(cause.id, updateCauseId(metadata.name)));

/** Cancels causes on instances that stay. An instance that is being terminated keeps its causes. */
export const withdrawCauses = async (
  deps: NodeGroupDeps,
  what: {
    readonly scaling: ScalingGroup;
    readonly cancelledAt: string;
    readonly isDone: (disruption: NodeDisruption, cause: DisruptionCause) => boolean;
  },
  signal: AbortSignal,
): Promise<void> => {
  const { scaling, cancelledAt } = what;
  const { disruptions } = deps;
  const isLeaving = ({ lifecycleState }: ScalingInstance): boolean =>
    /^Terminat/.test(lifecycleState);
  const leaving = new Set(scaling.instances.filter(isLeaving).map(({ instanceId }) => instanceId));
  for (const disruption of disruptions.list()) {
    const isDone = (cause: DisruptionCause): boolean => what.isDone(disruption, cause);
    if (leaving.has(disruption.metadata.name) || !disruption.spec.causes.some(isDone)) continue;
    const causes = disruption.spec.causes.map(
      ({ hook, ...cause }): JsonObject => ({
        ...cause,
        ...(hook === undefined ? {} : { hook: { ...hook } }),
        ...(isDone({ ...cause }) ? { cancelledAt } : {}),
      }),
    );
    const { resourceVersion } = disruption.metadata;
    const body = { metadata: { resourceVersion }, spec: { causes } };
    const type = resourceTypes.nodedisruptions;
    const target = { name: disruption.metadata.name };
    // biome-ignore format: one call
    const found = await deps.kube.patch<NodeDisruption>(type, target, { type: 'merge', body }, { signal });
    // Seen before the next pass looks: what is withdrawn must not be withdrawn again.
    if (found.kind === 'found') {
      await disruptions.observedAtLeast(found.object.metadata.resourceVersion, signal);
    }
  }
};

/** Causes of scale-ins and updates that no longer apply, as far as `keep` does not hold them. */
export const withdrawOthers = async (
  deps: NodeGroupDeps,
  { group, scaling }: { readonly group: NodeGroup; readonly scaling: ScalingGroup },
  keep: (disruption: NodeDisruption, cause: DisruptionCause) => boolean,
  signal: AbortSignal,
): Promise<void> => {
  const { name } = group.metadata;
  const cancelledAt = formatTime(deps.clock.now());
  const isDone = (disruption: NodeDisruption, cause: DisruptionCause): boolean =>
    (isOwnScaleIn(cause, name) && !keep(disruption, cause)) ||
    isOrphaned(deps, disruption, cause, name);
  await withdrawCauses(deps, { scaling, isDone, cancelledAt }, signal);
};

const causeOf = (
  group: NodeGroup,
  { id, target, why }: ScaleIn & { readonly why: string },
  now: number,
): DisruptionCause => ({
  kind: 'ScaleIn',
  id,
  receivedAt: formatTime(epochMs(now)),
  deadline: formatTime(
    epochMs(now + (group.spec.drain?.timeoutSeconds ?? defaultDrainTimeoutSeconds) * 1000),
  ),
  // Budgets are respected to the end; a group whose owner wants force says so in spec.drain.
  onDeadline: group.spec.drain?.onDeadline ?? 'fail',
  // The group's own controller terminates, with decrement and never below the target.
  followUp: 'Release',
  requestedBy: `NodeGroup ${group.metadata.name}`,
  reason:
    group.metadata.deletionTimestamp === undefined
      ? `scale-in to ${target}: ${why === '' ? 'any node will do' : why}`
      : 'the node group is being deleted',
});

/** False: its record is full of causes in force, which are never dropped for another. */
const askForDrain = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaleIn: ScaleIn,
  { instanceId, why }: Victim,
  signal: AbortSignal,
): Promise<boolean> => {
  const node = nodeOfInstance(deps.nodes, instanceId);
  const subject = {
    name: instanceId,
    instanceId,
    nodeGroup: group.metadata.name,
    ...(node === undefined ? {} : { nodeName: node.metadata.name }),
  };
  const known = deps.disruptions.get(instanceId);
  const id = nextCauseId(known, scaleIn.id);
  const cause = causeOf(group, { ...scaleIn, id, why }, deps.clock.now());
  if ((await recordCause(deps, { subject, cause }, signal)) === 'refused') return false;
  journalDrain(deps.journal, group, instanceId);
  return true;
};

/** Asks for as many drains as are still missing; where one cannot be asked, another is. */
const askForDrains = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  scaleIn: ScaleIn,
  view: ScaleInView,
  signal: AbortSignal,
): Promise<void> => {
  const asked = new Set(
    [...view.draining, ...view.drained, ...view.failed].map(({ metadata }) => metadata.name),
  );
  let missing = view.needed - asked.size;
  if (missing <= 0) return;
  const open = countedOf(scaling).filter(({ instanceId }) => !asked.has(instanceId));
  const isDelete = group.metadata.deletionTimestamp !== undefined;
  const candidates = await candidatesOf(deps, open, isDelete ? open.length : missing, signal);
  let free = isDelete ? candidates.map((one) => ({ ...one, isProtected: false })) : candidates;
  while (missing > 0) {
    const chosen = chooseForScaleIn(free, missing);
    if (chosen.length === 0) return;
    for (const victim of chosen) {
      if (await askForDrain(deps, group, scaleIn, victim, signal)) missing -= 1;
    }
    const tried = new Set(chosen.map(({ instanceId }) => instanceId));
    free = free.filter(({ instanceId }) => !tried.has(instanceId));
  }
};

/** Ends what is drained, as far as it is still too many. */
const terminateDrained = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaleIn: ScaleIn,
  signal: AbortSignal,
): Promise<void> => {
  const [now] = await deps.cloud.describeGroups([group.status?.autoScalingGroupName ?? ''], {
    signal,
  });
  if (now === undefined) return;
  // Drained when the cloud was asked is not drained now: a node may have come back meanwhile.
  const ready = (): readonly NodeDisruption[] => viewScaleIn(deps, now, scaleIn).drained;
  let left = surplusOf(now, scaleIn.target);
  for (const { metadata } of ready()) {
    if (left <= 0) return;
    if (!ready().some((one) => one.metadata.name === metadata.name)) continue;
    await deps.cloud.terminateInGroup(metadata.name, { signal, decrementDesired: true });
    journalTerminate(deps.journal, group, metadata.name);
    left -= 1;
  }
};

/** The failure that ends this scale-in, or undefined while it goes on. */
export const scaleInFailure = (
  { metadata }: NodeGroup,
  view: ScaleInView,
  now: EpochMs,
): NodeGroupStatus['failure'] => {
  if (view.failed.length === 0) return undefined;
  const failure = evictionFailure(metadata.name, view.failed);
  return { ...failure, generation: metadata.generation ?? 0, at: formatTime(now) };
};

interface ScaleInLook {
  readonly scaleIn: NodeGroupStatus['scaleIn'];
  readonly view: ScaleInView | undefined;
  /** The failure that still stands. */
  readonly failure: NodeGroupStatus['failure'];
  /** That of the scale-in that is to be given up now. */
  readonly failed: NodeGroupStatus['failure'];
}

/** The scale-in that is needed now, none without a target, and what became of it. */
export const lookAtScaleIn = (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { scaling, target }: { readonly scaling: ScalingGroup; readonly target: number | undefined },
): ScaleInLook => {
  const now = deps.clock.now();
  const scaleIn = target === undefined ? undefined : scaleInNow(group, scaling, target, now);
  const isNew = scaleIn !== undefined && group.status?.scaleIn === undefined;
  const failure = isNew ? undefined : lastFailure(group);
  const view = scaleIn && viewScaleIn(deps, scaling, scaleIn);
  return { scaleIn, view, failure, failed: view && (failure ?? scaleInFailure(group, view, now)) };
};

/**
 * The desired capacity that a scale-in asks for before it ends anything: places that no instance
 * fills.
 */
export const loweredBy = (
  group: NodeGroup,
  scaling: ScalingGroup,
  { target }: ScaleIn,
): number | undefined => {
  const counted = countedOf(scaling).length;
  const floor = Math.max(target, Math.min(counted, scaling.desiredCapacity));
  const lower = isForced(group) ? target : floor;
  return lower < scaling.desiredCapacity ? lower : undefined;
};

/** Every effect of a scale-in that is due now. */
export const runScaleIn = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  scaleIn: ScaleIn,
  signal: AbortSignal,
): Promise<void> => {
  const lower = loweredBy(group, scaling, scaleIn);
  if (lower !== undefined) {
    await setSizes(deps, scaling, { desiredCapacity: lower }, signal);
    return;
  }
  if (isForced(group)) return;
  const view = viewScaleIn(deps, scaling, scaleIn);
  if (view.drained.length > 0) await terminateDrained(deps, group, scaleIn, signal);
  await askForDrains(deps, group, scaling, scaleIn, view, signal);
};

/** Too many were asked to go, since somebody else took one: the last of them stay. */
export const keepsCause = (
  view: ScaleInView,
  id: string | undefined,
): ((disruption: NodeDisruption, cause: DisruptionCause) => boolean) => {
  const order = [...view.drained, ...view.draining, ...view.failed];
  const kept = new Set(order.slice(0, view.needed).map(({ metadata }) => metadata.name));
  return ({ metadata }, cause) =>
    id !== undefined && isOfRequest(cause.id, id) && kept.has(metadata.name);
};
