// A version update of a node group, run inside the group's pass: asks core/update what comes next,
// writes that down and then does it. Knows no phase.

import { type EpochMs, epochMs, formatTime } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { NodeGroupStatus, UpdateNote } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdate, NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import {
  decideUpdate,
  shortagePast,
  stopTimesOf,
  type UpdateDecision,
  type UpdateSurge,
} from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';
import type { Made } from '../lifecycle/create.ts';
import { noSurge } from '../size/request.ts';
import { tellSurplus } from '../tell.ts';
import { clearHooks } from './hooks.ts';
import { type RolloutInput, statusOf } from './input.ts';
import { isNoted, noteOf } from './lost.ts';
import { observeUpdate } from './observe.ts';
import { prepareOrFail } from './prepare.ts';
import { writeUpdate } from './records.ts';
import { rollBack } from './requests.ts';
import { setUpOrFail } from './setup.ts';
import { runSteps } from './steps.ts';

/**
 * A note that is not there when it was written so often is one that the definition of NodeGroups
 * that is served does not know.
 */
const maxNotings = 3;

const mustNote = ({ group, memory }: RolloutInput, note: UpdateNote | undefined): boolean => {
  if (note === undefined || isNoted(group, note)) return false;
  const text = JSON.stringify(note);
  const times = memory.noting?.text === text ? memory.noting.times + 1 : 1;
  memory.noting = { text, times };
  return times <= maxNotings;
};

/** What the pass has to do for it: tell of the surge and of what the group is now, then `act`. */
export interface Rollout {
  readonly surge: UpdateSurge;
  /** The group is to be made smaller to it, with the other sizes. */
  readonly lower?: number;
  /** What the group's status is to say of it, as long as it runs. */
  readonly updating: NodeGroupStatus['updating'];
  readonly made?: Made;
  /** When to look again, if sooner than usual. */
  readonly nextAt: EpochMs | undefined;
  readonly act: () => Promise<void>;
}

/** Why it is where it is, where others can see it. */
const tell = async (
  deps: NodeGroupDeps,
  update: NodeGroupUpdate,
  message: string,
  signal: AbortSignal,
): Promise<void> => {
  const { status } = statusOf(deps, update);
  if (status === undefined || status.message === message) return;
  await writeUpdate(deps, statusOf(deps, update), { ...status, message }, signal);
};

/** While instances come or go, and after a step of ours. */
const movingMs = 1_000;

/**
 * A look at a group costs what its instances do: thousands of them are not looked at every second.
 */
const soon = ({ clock }: NodeGroupDeps, { instances }: ScalingGroup): EpochMs =>
  epochMs(clock.now() + Math.max(movingMs, instances.length));

const nextLook = (
  deps: NodeGroupDeps,
  { group, memory, scaling }: RolloutInput,
  { steps, change, isMoving, isHeld, wakeAt }: UpdateDecision,
): EpochMs | undefined => {
  memory.isMoving = isMoving === true;
  // What is refused for good is not tried every second.
  const isStuck = memory.trouble.has('update');
  const isNews = steps.length > 0 || change !== undefined;
  // Probes have intervals of their own.
  const isProbed = (group.spec.updateConfig?.probes ?? []).length > 0;
  const isWatched = isHeld !== true && (isMoving === true || isProbed);
  const isBusy = isWatched || (!isStuck && isNews);
  return isBusy ? soon(deps, scaling) : wakeAt;
};

/**
 * One step on. Undefined when no version update is under way, or nothing of it is to do in this
 * pass.
 */
export const rollOut = async (
  deps: NodeGroupDeps,
  {
    update: asked,
    ...around
  }: Omit<RolloutInput, 'update'> & { readonly update: NodeGroupUpdate | undefined },
): Promise<Rollout | undefined> => {
  const update = asked && statusOf(deps, asked);
  if (update?.spec.type !== 'VersionUpdate' || update.status?.phase === undefined) return undefined;
  const input = { ...around, update };
  await prepareOrFail(deps, input);
  const { group, signal } = input;
  const before = statusOf(deps, input.update);
  const target = before.status?.target;
  if (target === undefined || before.status?.status !== 'InProgress') return undefined;
  const updating = noteOf(deps, group, input.scaling, before);
  const isNew = mustNote(input, updating);
  if (isNew || (await setUpOrFail(deps, input, before, target))) {
    // Noted by this pass, or seen in the next.
    const surge = group.status?.surge ?? noSurge;
    const nextAt = isNew ? deps.clock.now() : soon(deps, input.scaling);
    return { surge, updating, nextAt, act: async () => {} };
  }
  const observation = await observeUpdate(deps, input);
  if (observation === undefined) return undefined;
  const decision = decideUpdate(observation);
  const { change, steps, end, surge } = decision;
  if (change !== undefined) {
    const next = { ...before.status, ...change } as NodeGroupUpdateStatus;
    await writeUpdate(deps, before, next, signal);
    const { phase, message = '' } = next;
    const isHeld = phase === 'ScalingDown' && 'message' in change && message !== '';
    if (isHeld) await tellSurplus(deps, group, before, message, signal);
  }
  // Stopped when the last old node had gone already: all there is is of the target.
  const { total = 0, done = 0 } = { ...before.status.progress, ...change?.progress };
  const isDone = end?.status === 'Successful' || (end !== undefined && total > 0 && done === total);
  const { templateVersion: _derived, ...made } = target;
  const lower = steps.find((step) => step.kind === 'Lower')?.desired;
  return {
    surge,
    updating,
    ...defined({ lower }),
    ...(isDone ? { made } : {}),
    nextAt: nextLook(deps, input, decision),
    act: async () => {
      const update = statusOf(deps, input.update);
      await runSteps(deps, { ...input, update }, steps).catch(async (error: unknown) => {
        if (error instanceof Impossible) await tell(deps, update, error.issue.message, signal);
        if (!(error instanceof Impossible && end !== undefined)) throw error;
      });
      // What was refused before and is no more is no news any longer.
      const refusal = input.memory.trouble.get('update')?.message;
      if (end === undefined && refusal !== undefined && update.status?.message === refusal) {
        await tell(deps, update, '', signal);
      }
      if (update.status?.phase === 'Restoring') await clearHooks(deps, group, update, signal);
      if (end === undefined || update.status === undefined) return;
      await rollBack(deps, group, update, signal);
      const endedAt = formatTime(deps.clock.now());
      const phases = [...(update.status.phases ?? []), { phase: 'Ended' as const, at: endedAt }];
      const past = { ...update.status, ...shortagePast(update.status, end.status) };
      const stopTimes = stopTimesOf(deps.disruptions.list(), update.metadata.name);
      const learned = stopTimes.length === 0 ? {} : { stopTimes };
      const ended = { ...past, ...end, ...learned, phase: 'Ended' as const, phases, endedAt };
      await writeUpdate(deps, update, ended, signal);
    },
  };
};
