// The steps of an update: records, lifts and withdraws causes on NodeDisruptions, lowers the
// group's desired size, restores the template. Each is safe to repeat; decides nothing.

import { epochMs, formatTime } from '../../../api/brand.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import { resourceTypes } from '../../../api/kube.ts';
import type { StepHolds, UpdateStep } from '../../../api/plan.ts';
import { quarantineLabel } from '../../../api/update-policy.ts';
import { nextCauseId } from '../../../core/nodegroup/index.ts';
import {
  type CauseWrite,
  freeTerminationWrite,
  type Lifted,
  liftWrite,
  withdrawUpdatesWrite,
} from '../../../core/termination/index.ts';
import {
  disableScaleDownPatch,
  outdatedTaint,
  ownCause,
  type Policies,
  policiesOf,
  restoreScaleDownPatch,
  updateCauseId,
} from '../../../core/update/index.ts';
import { KubeError } from '../../../ports/index.ts';
import { recordCause } from '../../causes.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { journalStep } from '../events.ts';
import { Impossible } from '../impossible.ts';
import { runHook } from './hooks.ts';
import { type StepInput, willAct } from './input.ts';
import { widened } from './instance-types.ts';
import { restoreTemplate, useTemplate } from './template.ts';

/** With force: how long deleted pods have to stop before the instance is terminated. */
const forcedGraceMs = 11 * 60_000;

type Input = StepInput;

const policiesNow = ({ group, update }: Input): Policies =>
  policiesOf(group.spec, update.spec, update.status?.strategy);

const baseCause = (deps: NodeGroupDeps, input: Input, id: string) => {
  const { update } = input;
  const { cooldownSeconds } = policiesNow(input);
  const target = update.status?.target;
  const what = target?.releaseVersion ?? target?.imageId ?? '';
  return {
    kind: 'Update',
    id,
    receivedAt: formatTime(deps.clock.now()),
    onDeadline: 'fail',
    cooldownSeconds,
    requestedBy: `NodeGroupUpdate ${update.metadata.name}`,
    reason: `update to ${what}`,
  } as const;
};

const record = async (
  deps: NodeGroupDeps,
  input: Input,
  instanceId: string,
  more: Pick<DisruptionCause, 'followUp' | 'hold' | 'holdTermination' | 'cooldownSeconds'> &
    Partial<Lifted>,
): Promise<void> => {
  const { group, update, signal } = input;
  const node = nodeOfInstance(deps.nodes, instanceId);
  const known = deps.disruptions.get(instanceId);
  const id = nextCauseId(known, updateCauseId(update.metadata.name));
  const subject = {
    name: instanceId,
    instanceId,
    nodeGroup: group.metadata.name,
    ...(node === undefined ? {} : { nodeName: node.metadata.name }),
  };
  const cause: DisruptionCause = { ...baseCause(deps, input, id), ...more };
  await recordCause(deps, { subject, cause, untilSeen: true }, signal);
};

/** Nodes and their records change often; after a conflict the next pass uses the new version. */
const unlessRaced = async (write: () => Promise<void>): Promise<void> => {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof KubeError && error.code === 'Conflict')) throw error;
  }
};

/** Wait until the cache has the write, so that the next pass does not write again. */
const write = async (
  deps: NodeGroupDeps,
  instanceId: string,
  written: CauseWrite,
  signal: AbortSignal,
): Promise<void> => {
  if (written.kind !== 'patch') return;
  const patch = { type: 'merge', body: written.body } as const;
  const type = resourceTypes.nodedisruptions;
  await unlessRaced(async () => {
    const found = await deps.kube.patch<NodeDisruption>(type, { name: instanceId }, patch, {
      signal,
    });
    if (found.kind !== 'found') return;
    await deps.disruptions.observedAtLeast(found.object.metadata.resourceVersion, signal);
  });
};

/** The drain timeout starts here; after it the drain fails or is forced. */
const drainNow = (deps: NodeGroupDeps, input: Input): Lifted => {
  const { onTimeout, drainTimeoutMs, forceAfterMs } = policiesNow(input);
  const until = deps.clock.now() + drainTimeoutMs + forceAfterMs;
  if (onTimeout !== 'Force') {
    return { onDeadline: 'fail', deadline: formatTime(epochMs(until)) };
  }
  return {
    onDeadline: 'force',
    forceFrom: formatTime(epochMs(until)),
    deadline: formatTime(epochMs(until + forcedGraceMs)),
  };
};

/** With a hook before the drain, the drain timeout starts when the hook has ended. */
const begin = (
  deps: NodeGroupDeps,
  input: Input,
  {
    instanceId,
    hold,
    holdTermination,
    isSurplus,
  }: { readonly instanceId: string; readonly isSurplus?: true } & StepHolds,
  followUp: DisruptionCause['followUp'],
): Promise<void> => {
  const how = hold === true ? { hold } : drainNow(deps, input);
  const end = holdTermination === true ? { holdTermination } : {};
  // EKS has a cooldown between empty and terminated for replaced nodes, but not for surplus ones.
  const cool = isSurplus === true ? { cooldownSeconds: 0 } : {};
  return record(deps, input, instanceId, { followUp, ...how, ...end, ...cool });
};

/** The node's hooks have ended; only the cooldown still delays its termination. */
const letGo = async (deps: NodeGroupDeps, input: Input, instanceId: string): Promise<void> => {
  const { update, signal } = input;
  const known = deps.disruptions.get(instanceId);
  const cause = ownCause(known, updateCauseId(update.metadata.name));
  if (known === undefined || cause === undefined) return;
  const at = formatTime(deps.clock.now());
  await write(deps, instanceId, freeTerminationWrite(known, cause.id, at), signal);
};

const lift = async (deps: NodeGroupDeps, input: Input, instanceId: string): Promise<void> => {
  const { update, signal } = input;
  const known = deps.disruptions.get(instanceId);
  const cause = ownCause(known, updateCauseId(update.metadata.name));
  if (known === undefined || cause === undefined) return;
  await write(deps, instanceId, liftWrite(known, cause.id, drainNow(deps, input)), signal);
};

/** The owner and the earlier value are set in the same patch. */
const setScaleDownDisabled = async (
  deps: NodeGroupDeps,
  { update, signal }: Input,
  name: string,
  isShielded: boolean,
): Promise<void> => {
  const node = deps.nodes.list().find(({ metadata }) => metadata.name === name);
  if (node === undefined) return;
  const annotations = isShielded
    ? disableScaleDownPatch(node, update.metadata.name)
    : restoreScaleDownPatch(node);
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
  const found = await deps.kube.patch(resourceTypes.nodes, { name }, patch, { signal });
  if (found.kind !== 'found') return;
  await deps.nodes.observedAtLeast(found.object.metadata.resourceVersion, signal);
};

/**
 * The taint that keeps new pods off an old node: PreferNoSchedule or NoSchedule; undefined removes
 * it.
 */
const setOutdatedTaint = async (
  deps: NodeGroupDeps,
  name: string,
  effect: 'PreferNoSchedule' | 'NoSchedule' | undefined,
  signal: AbortSignal,
): Promise<void> => {
  const node = deps.nodes.list().find(({ metadata }) => metadata.name === name);
  if (node === undefined) return;
  const others = (node.spec.taints ?? []).filter(({ key }) => key !== outdatedTaint);
  const ours = effect === undefined ? [] : [{ key: outdatedTaint, effect }];
  const taints = [...others, ...ours].map((one) => ({ ...one }));
  const { uid, resourceVersion } = node.metadata;
  // Replaces the whole list, which is safe with the resourceVersion.
  const body = { metadata: { uid, resourceVersion }, spec: { taints } };
  await unlessRaced(async () => {
    const patch = { type: 'merge', body } as const;
    const found = await deps.kube.patch(resourceTypes.nodes, { name }, patch, { signal });
    if (found.kind !== 'found') return;
    await deps.nodes.observedAtLeast(found.object.metadata.resourceVersion, signal);
  });
};

/** Also withdraws causes of earlier updates, which may have left the node quarantined. */
const withdraw = async (deps: NodeGroupDeps, input: Input, instanceId: string): Promise<void> => {
  const known = deps.disruptions.get(instanceId);
  if (known === undefined) return;
  const at = formatTime(deps.clock.now());
  await write(deps, instanceId, withdrawUpdatesWrite(known, at), input.signal);
};

const quarantine = async (
  deps: NodeGroupDeps,
  name: string,
  isQuarantined: boolean,
  signal: AbortSignal,
): Promise<void> => {
  const labels = { [quarantineLabel]: isQuarantined ? 'true' : null };
  const patch = { type: 'merge', body: { metadata: { labels } } } as const;
  const found = await deps.kube.patch(resourceTypes.nodes, { name }, patch, { signal });
  if (found.kind !== 'found') return;
  await deps.nodes.observedAtLeast(found.object.metadata.resourceVersion, signal);
};

/** Like `drover pause update`; resuming the update reverts it. */
const pause = async (deps: NodeGroupDeps, { update, signal }: Input): Promise<void> => {
  const { name } = update.metadata;
  const patch = { type: 'merge', body: { spec: { paused: true } } } as const;
  const found = await deps.kube.patch(resourceTypes.nodegroupupdates, { name }, patch, { signal });
  if (found.kind !== 'found') return;
  await deps.updates.observedAtLeast(found.object.metadata.resourceVersion, signal);
};

const restoreTypes = async (deps: NodeGroupDeps, input: Input): Promise<void> => {
  const { group, scaling } = input;
  const overrides = widened(group, scaling);
  const { version } = scaling.launchTemplate ?? {};
  if (overrides === undefined || version === undefined) return;
  await useTemplate(deps, input, { version, overrides });
};

const run = (deps: NodeGroupDeps, input: Input, step: UpdateStep): Promise<void> => {
  switch (step.kind) {
    case 'Hold':
      return record(deps, input, step.instanceId, { followUp: 'Replace', hold: true });
    case 'Lift':
      return lift(deps, input, step.instanceId);
    case 'LetGo':
      return letGo(deps, input, step.instanceId);
    case 'Replace':
      return begin(deps, input, step, 'Replace');
    case 'Retire':
      return begin(deps, input, step, 'Terminate');
    case 'Empty':
      return begin(deps, input, step, 'Release');
    case 'RunHook': {
      const { memory, update, signal } = input;
      return runHook(deps, memory, { update, call: step.call }, signal);
    }
    case 'Discourage':
      return setOutdatedTaint(deps, step.nodeName, step.effect ?? 'PreferNoSchedule', input.signal);
    case 'Encourage':
      return setOutdatedTaint(deps, step.nodeName, undefined, input.signal);
    case 'Shield':
    case 'Unshield':
      return setScaleDownDisabled(deps, input, step.nodeName, step.kind === 'Shield');
    case 'Quarantine':
    case 'Unquarantine':
      return quarantine(deps, step.nodeName, step.kind === 'Quarantine', input.signal);
    case 'Pause':
      return pause(deps, input);
    case 'Resume': {
      const change = { name: input.scaling.name, processes: step.processes, suspended: false };
      willAct(deps, input);
      return deps.cloud.setProcesses(change, { signal: input.signal });
    }
    case 'RestoreTypes':
      return restoreTypes(deps, input);
    case 'Withdraw':
      return withdraw(deps, input, step.instanceId);
    case 'Lower':
      // The pass sets the desired size and the maximum in one call, so the maximum shows whether
      // the call succeeded.
      return Promise.resolve();
    case 'RestoreTemplate':
      return restoreTemplate(deps, input);
  }
};

/** Throws Impossible for nodes that could not be marked, after all other steps. */
export const runSteps = async (
  deps: NodeGroupDeps,
  input: Input,
  steps: readonly UpdateStep[],
): Promise<void> => {
  const refused: { readonly node: string; readonly error: KubeError }[] = [];
  for (const step of steps) {
    try {
      await run(deps, input, step);
      journalStep(deps.journal, input.update, step);
    } catch (error) {
      // Refused by admission: the steps on other nodes continue, and this one is retried.
      if (!('nodeName' in step && isRefusal(error))) throw error;
      refused.push({ node: step.nodeName, error });
    }
  }
  const [first] = refused;
  if (first === undefined) return;
  const nodes = [...new Set(refused.map(({ node }) => node))];
  const message =
    `Node ${first.node} cannot be marked for update ${input.update.metadata.name}: ` +
    `${first.error.message}. Let the change through, or exempt this controller; other nodes ` +
    'go on.';
  throw new Impossible('AdmissionRequestDenied', message, nodes.slice(0, 20));
};

const isRefusal = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.retry === 'never';
