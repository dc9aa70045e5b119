// How hooks affect an update by Drover's own strategy. Decides which hooks run, which nodes wait
// for one before drain, termination or counting, and how a failed hook ends the update. Pure.

import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import { isOwnStrategy } from '../../../api/nodegroup-update.ts';
import type { StepHolds, UpdateStep } from '../../../api/plan.ts';
import type { HookCall } from '../../../api/update-hooks.ts';
import {
  defaultHookTimeoutSeconds,
  type HookKind,
  type HookStatus,
} from '../../../api/update-hooks.ts';
import { stay } from '../ending/waiting.ts';
import type { UpdateDecision, UpdateInstance, UpdateObservation } from '../observation.ts';
import { soakEnd } from '../pacing/index.ts';
import { fail } from '../records/journal.ts';
import {
  areNewNodesHealthy,
  type Counted,
  type GroupNodes,
  groupNodesOf,
  inFlightOf,
  isJoined,
  isKeptEmpty,
  ownCause,
  updateCauseId,
} from '../records/nodes.ts';
import { sentences } from '../sentences.ts';
import { doneOf, isOver, journalOf, type Looked, sentenceOf, timesOf } from './hook-records.ts';
import { hookJobName, type RunningHook } from './job.ts';

/** How often running Jobs are polled. */
const lookMs = 5_000;

/**
 * Kubernetes fails a Job at its deadline. A Job still running this long after its deadline counts
 * as failed.
 */
const graceMs = 60_000;

const isUnderWay = ({ update, status }: UpdateObservation): boolean =>
  isOwnStrategy(status.strategy) &&
  update.spec.abort === undefined &&
  (status.phase === 'ScalingUp' || status.phase === 'Rolling' || status.phase === 'Soaking');

/** Hooks that run again with each retry of the drain, since each retry has a new cause. */
const isOfTry: Readonly<Record<HookCall['kind'], boolean>> = {
  preDrain: true,
  postDrain: true,
  preTerminate: true,
  postReady: false,
};

const callOf = (
  { update, hooks }: UpdateObservation,
  instance: UpdateInstance,
  kind: HookCall['kind'],
): readonly HookCall[] => {
  const { nodeName, instanceId, disruption } = instance;
  const hook = hooks?.[kind];
  if (hook === undefined || nodeName === undefined) return [];
  const cause = ownCause(disruption, updateCauseId(update.metadata.name));
  const tryId = `${update.metadata.uid}/${isOfTry[kind] ? (cause?.id ?? '') : ''}`;
  return [{ kind, hook, instanceId, nodeName, name: hookJobName(kind, instanceId, tryId) }];
};

/**
 * Blue/green: whether preTerminate may begin. All new nodes are healthy, the soak is over and
 * nothing holds the update. A hook that has begun continues regardless of holds.
 */
const mayBegin = (
  { status, holds = [], ...observation }: UpdateObservation,
  groupNodes: GroupNodes,
  { kind, instanceId }: HookCall,
): boolean => {
  const isTold = ({ hook, ...one }: HookStatus): boolean =>
    hook === kind && one.instanceId === instanceId;
  if (status.hooks?.some(isTold) === true) return true;
  const isSoaked = observation.now >= soakEnd({ status, ...observation });
  const isDue =
    status.phase === 'Soaking' && isSoaked && areNewNodesHealthy(observation, groupNodes);
  return isDue && holds.length === 0 && !isFailing(status);
};

const isFailing = ({ failingProbes }: UpdateObservation['status']): boolean =>
  failingProbes !== undefined;

const oldCalls = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  { instance, state }: Counted,
): readonly HookCall[] => {
  if (state.kind === 'kept') {
    const last = callOf(observation, instance, 'preTerminate');
    return [
      ...callOf(observation, instance, 'postDrain'),
      ...last.filter((call) => mayBegin(observation, groupNodes, call)),
    ];
  }
  // The node is marked first, so that no new pods arrive while the hook runs.
  if (state.kind === 'hooking' && state.isMarked) return callOf(observation, instance, 'preDrain');
  if (state.kind !== 'draining' || state.emptied === undefined) return [];
  const isCool = observation.now >= state.emptied.cooledAt;
  return [
    ...callOf(observation, instance, 'postDrain'),
    ...(isCool ? callOf(observation, instance, 'preTerminate') : []),
  ];
};

/** The hooks that should have started, in order for each node; the result of each one is polled. */
export const hookCalls = (observation: UpdateObservation): readonly HookCall[] => {
  if (!isUnderWay(observation)) return [];
  const groupNodes = groupNodesOf(observation);
  const { old, fresh } = groupNodes;
  return [
    ...old.flatMap((one) => oldCalls(observation, groupNodes, one)),
    ...fresh.flatMap(({ instance, state }) =>
      isJoined(instance) && state.kind === 'untouched'
        ? callOf(observation, instance, 'postReady')
        : [],
    ),
  ];
};

const secondsOf = ({ hook }: HookCall): number => hook.timeoutSeconds ?? defaultHookTimeoutSeconds;

/** The time after which a running hook counts as failed. */
const latestOf = (call: HookCall, { since }: RunningHook, now: EpochMs): EpochMs => {
  const began = parseTime(since) ?? now;
  return epochMs(began + secondsOf(call) * 1000 + (call.hook.webhook === undefined ? graceMs : 0));
};

/** When to poll a running hook again. */
const nextLookOf = ({ call, run }: Looked, now: EpochMs): EpochMs => {
  if (run?.state !== 'Running' || run.nextAt === undefined) return epochMs(now + lookMs);
  return epochMs(Math.min(run.nextAt, latestOf(call, run, now)));
};

const lookAt = (observation: UpdateObservation, call: HookCall): Looked => {
  const run = observation.hookRuns?.get(call.name);
  if (run?.state !== 'Running' || observation.now < latestOf(call, run, observation.now)) {
    return { call, run };
  }
  const said = run.message === undefined ? '' : `; at last ${run.message}`;
  return {
    call,
    run: { state: 'Failed', message: `it was not done in ${secondsOf(call)} s${said}` },
  };
};

/**
 * At most one hook per node runs at a time; the next one starts when the previous one has ended.
 */
const lookedAt = (observation: UpdateObservation): readonly Looked[] => {
  const all = hookCalls(observation).map((call) => lookAt(observation, call));
  const busy = new Set<string>();
  return all.filter((one) => {
    const { instanceId } = one.call;
    if (busy.has(instanceId)) return false;
    if (!isOver(one)) busy.add(instanceId);
    return true;
  });
};

/** Kept nodes of blue/green with a hook pending that this phase waits for. */
const keptAwaiting = (
  observation: UpdateObservation,
  looked: readonly Looked[],
): readonly string[] => {
  const { hooks, status } = observation;
  const kinds: readonly HookKind[] =
    status.phase === 'Soaking' ? ['postDrain', 'preTerminate'] : ['postDrain'];
  const wanted = kinds.filter((kind) => hooks?.[kind] !== undefined);
  if (wanted.length === 0 || !isUnderWay(observation)) return [];
  const over = new Set(looked.filter(isOver).map(({ call }) => `${call.kind}/${call.instanceId}`));
  return groupNodesOf(observation)
    .old.filter(({ state, instance }) => state.kind === 'kept' && instance.nodeName !== undefined)
    .map(({ instance }) => instance.instanceId)
    .filter((instanceId) => wanted.some((kind) => !over.has(`${kind}/${instanceId}`)));
};

/**
 * Marks nodes that do not count: new ones before their hook has ended, and kept ones with a hook
 * pending.
 */
export const withHookedNodes = (observation: UpdateObservation): UpdateObservation => {
  const looked = lookedAt(observation);
  const awaiting = new Set([
    ...looked
      .filter((one) => one.call.kind === 'postReady' && !isOver(one))
      .map(({ call }) => call.instanceId),
    ...keptAwaiting(observation, looked),
  ]);
  if (awaiting.size === 0) return observation;
  const instances = observation.instances.map((one) =>
    awaiting.has(one.instanceId) ? { ...one, awaitsHook: true } : one,
  );
  return { ...observation, instances };
};

/**
 * An old node with hooks is marked first, drained after its hook, and terminated after its last
 * hook.
 */
export const holdFor = ({ hooks }: UpdateObservation, { nodeName }: UpdateInstance): StepHolds => {
  if (hooks === undefined || nodeName === undefined) return {};
  const { preDrain, postDrain, preTerminate } = hooks;
  return {
    ...(preDrain === undefined ? {} : { hold: true }),
    ...(postDrain === undefined && preTerminate === undefined ? {} : { holdTermination: true }),
  };
};

/** The other nodes in flight when a hook failed, and what happens to them. */
const besideOf = (
  groupNodes: GroupNodes,
  looked: readonly Looked[],
  failed: ReadonlySet<string>,
): readonly string[] => {
  const running = new Map(
    looked.filter((one) => !isOver(one)).map(({ call }) => [call.instanceId, call.kind]),
  );
  const others = inFlightOf(groupNodes)
    .filter(({ instance }) => !failed.has(instance.instanceId))
    .map(({ instance: { instanceId, nodeName }, state }) => {
      const hook = running.get(instanceId);
      const is = hook === undefined ? 'its drain continues' : `hook ${hook} was not over`;
      const then = state.kind === 'hooking' ? '; uncordoned' : '';
      return `${nodeName ?? instanceId} (${is}${then})`;
    });
  return others.length === 0 ? [] : [`In flight beside it: ${others.join(', ')}.`];
};

/** Ends the update if a hook failed; undefined if none failed or the failure is ignored. */
const endOf = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  looked: readonly Looked[],
): UpdateDecision | undefined => {
  const failed = looked.flatMap((one) =>
    one.run?.state === 'Failed' && !isOver(one) ? [{ call: one.call, run: one.run }] : [],
  );
  const [first] = failed;
  if (first === undefined) return undefined;
  const isNew = first.call.kind === 'postReady';
  const issues = [
    {
      code: isNew ? 'NodeCreationFailure' : 'HookFailed',
      message: sentences([
        ...failed.map(({ call, run }) => sentenceOf(call, run.message)),
        ...besideOf(groupNodes, looked, new Set(failed.map(({ call }) => call.instanceId))),
      ]),
      resourceIds: failed.map(({ call }) => call.nodeName),
    },
  ];
  const ids = new Map(failed.map(({ call, run }) => [call.instanceId, { call, run }]));
  const nodes = [...groupNodes.old, ...groupNodes.fresh].filter(({ instance }) =>
    ids.has(instance.instanceId),
  );
  const change = fail(observation, issues, nodes);
  const failedNodes = (change.failedNodes ?? []).map((one) => {
    const of = ids.get(one.instanceId);
    return of === undefined ? one : { ...one, message: sentenceOf(of.call, of.run.message) };
  });
  return stay(observation, { change: { ...change, failedNodes } });
};

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const isLeft = (decided: UpdateDecision): boolean =>
  decided.end !== undefined || decided.change?.phase === 'Restoring';

const stepsOf = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  looked: readonly Looked[],
): readonly UpdateStep[] => {
  const over = new Set(looked.filter(isOver).map(({ call }) => `${call.kind}/${call.instanceId}`));
  // A node without a Node object, or whose hook was removed from the group, waits for nothing.
  const isFree = ({ instanceId, nodeName }: UpdateInstance, kind: HookKind): boolean =>
    observation.hooks?.[kind] === undefined ||
    nodeName === undefined ||
    over.has(`${kind}/${instanceId}`);
  return [
    ...looked.flatMap(({ call, run }): readonly UpdateStep[] =>
      // A webhook is called only after the status records it.
      run === undefined && call.hook.job !== undefined ? [{ kind: 'RunHook', call }] : [],
    ),
    ...groupNodes.old.flatMap((one): readonly UpdateStep[] => {
      const { instance, state } = one;
      const { instanceId } = instance;
      if (state.kind === 'hooking') {
        return isFree(instance, 'preDrain') ? [{ kind: 'Lift', instanceId }] : [];
      }
      const goes = isFree(instance, 'postDrain') && isFree(instance, 'preTerminate');
      return isKeptEmpty(one) && goes ? [{ kind: 'LetGo', instanceId }] : [];
    }),
  ];
};

/** When preTerminate may begin on drained nodes that are cooling down. */
const coolingOf = ({ hooks, now }: UpdateObservation, { old }: GroupNodes): readonly EpochMs[] =>
  hooks?.preTerminate === undefined
    ? []
    : old.flatMap(({ state }) =>
        state.kind === 'draining' && state.emptied !== undefined && state.emptied.cooledAt > now
          ? [state.emptied.cooledAt]
          : [],
      );

/** Adds the hooks to start, the drains that waited for a hook, and the status of both. */
export const withHooks = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  decided: UpdateDecision,
): UpdateDecision => {
  const looked = lookedAt(observation);
  const ended = isLeft(decided) ? undefined : endOf(observation, groupNodes, looked);
  const next = ended ?? decided;
  const goesOn = isUnderWay(observation) && !isLeft(next);
  const kept = goesOn ? looked : looked.filter(({ run }) => run?.state === 'Failed');
  const hooks = journalOf(observation, kept);
  const { status } = observation;
  const hookTimes = timesOf(status, looked);
  const webhooksDone = goesOn ? doneOf(observation, looked) : undefined;
  const steps = goesOn ? stepsOf(observation, groupNodes, looked) : [];
  const change = {
    ...next.change,
    ...(same(hooks, status.hooks) ? {} : { hooks }),
    ...(same(hookTimes, status.hookTimes) ? {} : { hookTimes }),
    ...(same(webhooksDone, status.webhooksDone) ? {} : { webhooksDone }),
  };
  const waiting = goesOn ? looked.filter((one) => !isOver(one)) : [];
  const times = [
    ...(next.wakeAt === undefined ? [] : [next.wakeAt]),
    ...waiting.map((one) => nextLookOf(one, observation.now)),
    ...(goesOn ? coolingOf(observation, groupNodes) : []),
  ];
  return {
    ...next,
    ...(Object.keys(change).length === 0 ? {} : { change }),
    ...(times.length === 0 ? {} : { wakeAt: epochMs(Math.min(...times)) }),
    steps: [...next.steps, ...steps],
  };
};
