// Reads the Jobs of an update's hooks, creates them from their CronJobs, and deletes those that
// succeeded when the update ends; also calls webhooks. A Job's name identifies its hook, so a
// process finds it again after a crash. Decides nothing.

import { resourceTypes } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import type { HookCall } from '../../../api/update-hooks.ts';
import { hookKinds, hookUpdateLabel, type JobHook } from '../../../api/update-hooks.ts';
import {
  type CronJob,
  type HookJob,
  type HookRun,
  hookJob,
  hookRunOf,
} from '../../../core/update/index.ts';
import { KubeError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import type { HookMemory, PassMemory } from '../pass-input.ts';
import { askWebhooks } from './webhooks.ts';

const { jobs, cronjobs } = resourceTypes;

const rightsRemedy =
  '`kubectl apply -n NAMESPACE -f deploy/hooks.yaml` grants the controller the rights for ' +
  'hooks in a namespace.';

const wordsOf = (error: KubeError): string =>
  error.code === 'Forbidden' ? `${error.message}. ${rightsRemedy}` : error.message;

/** An ended hook stays ended, so it is read once. */
const runsOf = (memory: PassMemory, { metadata }: NodeGroupUpdate): HookMemory => {
  const { uid } = metadata;
  if (memory.hooked?.uid !== uid) memory.hooked = { uid, ended: new Map(), asked: new Map() };
  return memory.hooked;
};

/** Undefined: it has not started, or its state is unknown at present. */
const look = async (
  { kube }: NodeGroupDeps,
  update: NodeGroupUpdate,
  call: HookCall & { readonly job: JobHook },
  signal: AbortSignal,
): Promise<HookRun | undefined> => {
  const { namespace } = call.job;
  try {
    const found = await kube.get<HookJob>(jobs, { namespace, name: call.name }, { signal });
    return found.kind === 'gone' ? undefined : hookRunOf(found.object, update, call);
  } catch (error) {
    if (!(error instanceof KubeError) || error.retry !== 'never') throw error;
    return { state: 'Failed', message: wordsOf(error) };
  }
};

/** The state of each hook by the name of its Job; hooks that have not started are missing. */
export const lookAtHooks = async (
  deps: NodeGroupDeps,
  memory: PassMemory,
  { update, calls }: { readonly update: NodeGroupUpdate; readonly calls: readonly HookCall[] },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, HookRun>> => {
  const runs = new Map<string, HookRun>();
  if (calls.length === 0) return runs;
  const known = runsOf(memory, update);
  const found = (call: HookCall, run: HookRun | undefined): void => {
    if (run === undefined) return;
    runs.set(call.name, run);
    if (run.state !== 'Running') known.ended.set(call.name, run);
  };
  const open = calls.filter(({ name }) => !known.ended.has(name));
  for (const call of calls) found(call, known.ended.get(call.name));
  for (const call of open) {
    const { job } = call.hook;
    if (job !== undefined) found(call, await look(deps, update, { ...call, job }, signal));
  }
  const webhooks = open.filter(({ hook }) => hook.webhook !== undefined);
  const answers = await askWebhooks(deps, known.asked, { update, calls: webhooks }, signal);
  for (const [call, run] of answers) found(call, run);
  return runs;
};

const make = async (
  { kube }: NodeGroupDeps,
  update: NodeGroupUpdate,
  call: HookCall & { readonly job: JobHook },
  signal: AbortSignal,
): Promise<string | undefined> => {
  const { namespace, cronJob: name } = call.job;
  const cronJob = await kube.get<CronJob>(cronjobs, { namespace, name }, { signal });
  if (cronJob.kind === 'gone') return `there is no CronJob ${namespace}/${name}`;
  await kube.create(jobs, hookJob(cronJob.object, update, call), { namespace, signal });
  return undefined;
};

/**
 * Creates the Job once: an existing one is found by its name. A permanent refusal counts as failed.
 */
export const runHook = async (
  deps: NodeGroupDeps,
  memory: PassMemory,
  { update, call }: { readonly update: NodeGroupUpdate; readonly call: HookCall },
  signal: AbortSignal,
): Promise<void> => {
  const { job } = call.hook;
  if (job === undefined) return;
  let refused: string | undefined;
  try {
    refused = await make(deps, update, { ...call, job }, signal);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === 'AlreadyExists') return;
    if (error.retry !== 'never') throw error;
    refused = wordsOf(error);
  }
  if (refused === undefined) return;
  runsOf(memory, update).ended.set(call.name, { state: 'Failed', message: refused });
};

const clearNamespace = async (
  deps: NodeGroupDeps,
  { namespace, uid: updateUid }: { readonly namespace: string; readonly uid: string },
  signal: AbortSignal,
): Promise<void> => {
  const labelSelector = `${hookUpdateLabel}=${updateUid}`;
  const { items } = await deps.kube.list<HookJob>(jobs, { namespace, labelSelector, signal });
  for (const { metadata, status } of items) {
    const isFailed = status?.conditions?.some(
      ({ type, status: is }) => type === 'Failed' && is === 'True',
    );
    if (isFailed === true || metadata.deletionTimestamp !== undefined) continue;
    const { name, uid } = metadata;
    const options = { uid, propagationPolicy: 'Background', signal } as const;
    await deps.kube.delete(jobs, { namespace, name }, options);
  }
};

/** When an update ends: failed Jobs stay for inspection; the others are deleted. */
export const clearHooks = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { metadata: { uid } }: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const { hooks: asked = {} } = group.spec.updateConfig ?? {};
  const hooks = hookKinds.flatMap((kind) => asked[kind]?.job?.namespace ?? []);
  for (const namespace of new Set(hooks)) {
    try {
      await clearNamespace(deps, { namespace, uid }, signal);
    } catch (error) {
      // Without this permission the update still ends; its Jobs, if any, are deleted together with
      // it.
      if (!(error instanceof KubeError) || error.code !== 'Forbidden') throw error;
    }
  }
};
