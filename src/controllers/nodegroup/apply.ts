// Runs the steps of a node group's plan, in order. A step whose precondition does not hold changes
// nothing or ends the plan; the next pass observes again. Decides nothing.
import type { ScalingGroup } from '../../api/cloud.ts';
import { resourceTypes } from '../../api/kube.ts';
import { isLifecycleStep, type LifecycleStep } from '../../api/lifecycle-steps.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { GroupPlan, GroupRecord, GroupStep } from '../../api/plan.ts';
import type { NodeGroupDeps } from './deps.ts';
import { Impossible } from './impossible.ts';
import { lifecycleStep } from './lifecycle/steps.ts';
import type { NodeRoles } from './nodes/node-roles.ts';
import type { Effect, PassMemory } from './pass-input.ts';
import { recordStep, setSizesStep, terminateSteps, withdrawStep } from './size/drains.ts';
import { resumeLate } from './update/late-processes.ts';
import { type LastStep, runLast, setUpStep, writeUpdateStep } from './update/run.ts';

type StepOf<K extends GroupStep['kind']> = Extract<GroupStep, { kind: K }>;

/** What the pass provides to a plan. It contains the group as last written. */
export interface PlanHost {
  group(): NodeGroup;
  /** False: the group is gone. */
  writeSpecSizes(step: StepOf<'WriteSpecSizes'>): Promise<boolean>;
  writeStatus(record: GroupRecord): Promise<boolean>;
  /** An error that retrying cannot fix becomes a health issue. */
  attempt(name: Effect, effect: () => Promise<void>): Promise<void>;
}

export interface PlanRun {
  readonly plan: GroupPlan;
  readonly host: PlanHost;
  /** Undefined: no Auto Scaling group, and so no step of sizes or of an update. */
  readonly scaling: ScalingGroup | undefined;
  readonly update: NodeGroupUpdate | undefined;
  readonly memory: PassMemory;
  readonly roles: NodeRoles;
  readonly signal: AbortSignal;
}

/** `gone`: the group was deleted. `stale`: the plan is based on an outdated observation. */
export type Applied = 'done' | 'gone' | 'stale';

/** Steps that follow the group's sizes. */
const lastKinds = {
  PrepareUpdate: true,
  Hold: true,
  Lift: true,
  Replace: true,
  Retire: true,
  LetGo: true,
  Empty: true,
  RunHook: true,
  Discourage: true,
  Encourage: true,
  Shield: true,
  Unshield: true,
  Quarantine: true,
  Unquarantine: true,
  Pause: true,
  Resume: true,
  RestoreTypes: true,
  Withdraw: true,
  Lower: true,
  RestoreTemplate: true,
  ClearHooks: true,
  EndUpdate: true,
} as const satisfies Readonly<Record<LastStep['kind'], true>>;

type Early = Exclude<
  GroupStep,
  LastStep | LifecycleStep | StepOf<'ResumeLate' | 'TerminateMember'>
>;

const isLast = (step: GroupStep): step is LastStep => step.kind in lastKinds;
const isEarly = (step: GroupStep): step is Early =>
  !isLast(step) &&
  !isLifecycleStep(step) &&
  step.kind !== 'ResumeLate' &&
  step.kind !== 'TerminateMember';

const setUp = async (
  deps: NodeGroupDeps,
  run: PlanRun,
  step: StepOf<'UseTemplate' | 'SuspendProcesses'>,
): Promise<boolean> => {
  const { host, update, scaling, signal } = run;
  if (update !== undefined && scaling !== undefined) {
    return setUpStep(deps, { ...run, update, scaling, group: host.group() }, step);
  }
  // A delete has no update and no UseTemplate step; it only suspends processes.
  if (step.kind === 'UseTemplate') return true;
  const { autoScalingGroupName: name, processes } = step;
  await deps.cloud.setProcesses({ name, processes, suspended: true }, { signal });
  return true;
};

const patchNode = async (
  { kube, nodes }: NodeGroupDeps,
  { node, patch, body }: StepOf<'PatchNode'>,
  signal: AbortSignal,
): Promise<void> => {
  const request = { type: patch, body };
  const found = await kube.patch(resourceTypes.nodes, { name: node }, request, { signal });
  if (found.kind !== 'found') return;
  await nodes.observedAtLeast(found.object.metadata.resourceVersion, signal);
};

/** Steps that precede the steps of an update. */
const runEarly = async (deps: NodeGroupDeps, run: PlanRun, step: Early): Promise<Applied> => {
  const { host, update, scaling, signal } = run;
  switch (step.kind) {
    case 'WriteSpecSizes':
      return (await host.writeSpecSizes(step)) ? 'done' : 'gone';
    case 'WriteGroupStatus':
      return (await host.writeStatus(step.record)) ? 'done' : 'gone';
    case 'WriteUpdateStatus': {
      if (update === undefined || scaling === undefined) return 'stale';
      const input = { ...run, update, scaling, group: host.group() };
      return (await writeUpdateStep(deps, input, step)) ? 'done' : 'stale';
    }
    case 'UseTemplate':
    case 'SuspendProcesses':
      return (await setUp(deps, run, step)) ? 'done' : 'stale';
    case 'WithdrawCauses':
      await withdrawStep(deps, step, signal);
      return 'done';
    case 'SetSizes':
      await host.attempt('sizes', () => setSizesStep(deps, step, signal));
      return 'done';
    case 'RecordCause':
      await recordStep(deps, host.group(), step, signal);
      return 'done';
    case 'PatchNode':
      await patchNode(deps, step, signal);
      return 'done';
  }
};

/** Also runs without an update: an earlier refusal is then cleared. */
const runUpdateSteps = (deps: NodeGroupDeps, run: PlanRun): Promise<void> =>
  run.host.attempt('update', async () => {
    const { plan, host, update, memory, scaling, signal } = run;
    if (scaling === undefined) return;
    const resumes = plan.steps.find((step) => step.kind === 'ResumeLate');
    if (resumes !== undefined) {
      const context = { scaling, memory: memory.lateCall };
      return resumeLate(deps, host.group(), context, resumes, signal);
    }
    const last = plan.steps.filter(isLast);
    if (update === undefined || last.length === 0) return;
    return runLast(deps, { ...run, update, scaling, group: host.group() }, last);
  });

/** Runs all steps but those of an update. Throws Impossible, CloudError, KubeError. */
export const applySteps = async (deps: NodeGroupDeps, run: PlanRun): Promise<Applied> => {
  const { plan, host, signal } = run;
  const { refusal } = plan;
  if (refusal !== undefined) {
    throw new Impossible(refusal.code, refusal.message, refusal.resourceIds);
  }
  const terminates = plan.steps.filter((step) => step.kind === 'TerminateMember');
  const first = terminates[0];
  for (const step of plan.steps) {
    signal.throwIfAborted();
    // One read of the group serves all terminations.
    if (step === first) await terminateSteps(deps, host.group(), terminates, signal);
    let applied: Applied = 'done';
    if (isLifecycleStep(step)) {
      applied = await lifecycleStep(deps, { ...run, group: host.group() }, step);
    } else if (isEarly(step)) applied = await runEarly(deps, run, step);
    if (applied !== 'done') return applied;
  }
  return 'done';
};

/** The plan of a group's sizes and its update. */
export const applyGroupPlan = async (deps: NodeGroupDeps, run: PlanRun): Promise<Applied> => {
  const applied = await applySteps(deps, run);
  if (applied !== 'done') return applied;
  const { plan, memory } = run;
  if (!plan.steps.some(({ kind }) => kind === 'SetSizes')) memory.trouble.delete('sizes');
  await runUpdateSteps(deps, run);
  return 'done';
};
