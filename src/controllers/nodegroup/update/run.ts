// Runs the steps of a plan for a version update: writes its status, sets up template and processes,
// runs its steps, ends it. Decides nothing.
import { formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdate, NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import type { GroupStep, UpdateStep } from '../../../api/plan.ts';
import { fail, shortagePast, stopTimesOf } from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';
import { reportSurplus } from '../kube-events.ts';
import { issueOfRefusal } from '../own-issues.ts';
import { clearHooks } from './hooks.ts';
import { type StepInput, statusOf, willAct } from './input.ts';
import { prepareOrFail } from './prepare.ts';
import { writeUpdate } from './records.ts';
import { rollBack } from './requests.ts';
import { runSteps } from './steps.ts';
import { useTemplate } from './template.ts';

type StepOf<K extends GroupStep['kind']> = Extract<GroupStep, { kind: K }>;

/** Steps of an update that follow the group's sizes. */
export type LastStep = UpdateStep | StepOf<'PrepareUpdate' | 'ClearHooks' | 'EndUpdate'>;

/** Writes the reason for its current state to its status. */
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

/** False: the status has changed since the decision; the next pass decides again. */
export const writeUpdateStep = async (
  deps: NodeGroupDeps,
  { group, update, signal }: StepInput,
  { resourceVersion, change }: StepOf<'WriteUpdateStatus'>,
): Promise<boolean> => {
  const before = statusOf(deps, update);
  if (before.metadata.resourceVersion !== resourceVersion) return false;
  const next = { ...before.status, ...change } as NodeGroupUpdateStatus;
  await writeUpdate(deps, before, next, signal);
  const { phase, message = '' } = next;
  const isHeld = phase === 'ScalingDown' && 'message' in change && message !== '';
  if (isHeld) await reportSurplus(deps, group, before, message, signal);
  return true;
};

/**
 * The first effects of an update. A permanent refusal by AWS (a missing image or permission) ends
 * the update with AWS' message: returns false, and the next pass decides again.
 */
export const setUpStep = async (
  deps: NodeGroupDeps,
  input: StepInput,
  step: StepOf<'UseTemplate' | 'SuspendProcesses'>,
): Promise<boolean> => {
  const { scaling, signal } = input;
  try {
    if (step.kind === 'UseTemplate') {
      const { version, overrides } = step;
      await useTemplate(deps, input, {
        version,
        ...(overrides === undefined ? {} : { overrides }),
      });
    } else {
      willAct(deps, input);
      const { autoScalingGroupName: name, processes } = step;
      await deps.cloud.setProcesses({ name, processes, suspended: true }, { signal });
    }
    return true;
  } catch (error) {
    const issue = issueOfRefusal(error, scaling.name);
    const update = statusOf(deps, input.update);
    const { status } = update;
    if (issue === undefined || status === undefined) throw error;
    const change = fail({ status, now: deps.clock.now() }, [issue]);
    await writeUpdate(deps, update, { ...status, ...change } as NodeGroupUpdateStatus, signal);
    return false;
  }
};

const isUpdateStep = (step: LastStep): step is UpdateStep =>
  step.kind !== 'PrepareUpdate' && step.kind !== 'ClearHooks' && step.kind !== 'EndUpdate';

const end = async (
  deps: NodeGroupDeps,
  { group, signal }: StepInput,
  update: NodeGroupUpdate,
  how: StepOf<'EndUpdate'>['end'],
): Promise<void> => {
  if (update.status === undefined) return;
  await rollBack(deps, group, update, signal);
  const endedAt = formatTime(deps.clock.now());
  const phases = [...(update.status.phases ?? []), { phase: 'Ended' as const, at: endedAt }];
  const past = { ...update.status, ...shortagePast(update.status, how.status) };
  const stopTimes = stopTimesOf(deps.disruptions.list(), update.metadata.name);
  const learned = stopTimes.length === 0 ? {} : { stopTimes };
  const ended = { ...past, ...how, ...learned, phase: 'Ended' as const, phases, endedAt };
  await writeUpdate(deps, update, ended, signal);
};

/** Throws Impossible for nodes that could not be marked, unless the update ends. */
export const runLast = async (
  deps: NodeGroupDeps,
  input: StepInput,
  steps: readonly LastStep[],
): Promise<void> => {
  const { group, signal } = input;
  const prepares = steps.find((step) => step.kind === 'PrepareUpdate');
  if (prepares !== undefined) return prepareOrFail(deps, { ...input, wanted: prepares.desired });
  const update = statusOf(deps, input.update);
  const ends = steps.find((step) => step.kind === 'EndUpdate');
  await runSteps(deps, { ...input, update }, steps.filter(isUpdateStep)).catch(
    async (error: unknown) => {
      if (error instanceof Impossible) await tell(deps, update, error.issue.message, signal);
      if (!(error instanceof Impossible && ends !== undefined)) throw error;
    },
  );
  // Clears the message of an earlier refusal.
  const refusal = input.memory.trouble.get('update')?.message;
  if (ends === undefined && refusal !== undefined && update.status?.message === refusal) {
    await tell(deps, update, '', signal);
  }
  if (steps.some(({ kind }) => kind === 'ClearHooks')) {
    await clearHooks(deps, group, update, signal);
  }
  if (ends !== undefined) await end(deps, input, update, ends.end);
};
