// The Job that runs a hook for one node: its name, and its spec from the CronJob's template. Pure.
import { type EpochMs, parseTime } from '../../../api/brand.ts';
import type { JsonObject } from '../../../api/json.ts';
import { isObject, objectOr } from '../../../api/json.ts';
import type { KubeObject } from '../../../api/kube.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import {
  defaultHookTimeoutSeconds,
  type HookCall,
  type HookKind,
  hookInstanceLabel,
  hookKindLabel,
  hookUpdateLabel,
  type JobHook,
} from '../../../api/update-hooks.ts';
import { fnv1a } from '../../fnv.ts';

export interface RunningHook {
  readonly state: 'Running';
  readonly since: string;
  /** Webhooks only: number of calls, last answer, and time of the next call. */
  readonly attempt?: number;
  readonly message?: string;
  readonly nextAt?: EpochMs;
}

/** The known state of a hook's run; a hook without one has not started. */
export type HookRun =
  | RunningHook
  | { readonly state: 'Succeeded'; readonly seconds?: number }
  | { readonly state: 'Failed'; readonly message: string };

const words: Readonly<Record<HookKind, string>> = {
  preDrain: 'pre-drain',
  postDrain: 'post-drain',
  preTerminate: 'pre-terminate',
  postReady: 'post-ready',
};

/** `tryId` distinguishes tries of one update for the same instance. */
export const hookJobName = (kind: HookKind, instanceId: string, tryId: string): string =>
  `${words[kind]}-${instanceId}-${fnv1a(tryId).toString(16).padStart(8, '0')}`;

/** The part of a CronJob that says what to run. */
export interface CronJob extends KubeObject {
  readonly spec: { readonly jobTemplate: JsonObject };
}

/** The common prefix of all runs of one hook for one instance, whatever the try. */
export const withoutTry = (name: string): string => name.slice(0, name.lastIndexOf('-'));

/** Returns `i-1` for `pre-drain-i-1-ab`. */
export const instanceOfCall = (name: string): string => {
  const known = Object.values(words).find((word) => name.startsWith(`${word}-`));
  return withoutTry(name).slice((known?.length ?? -1) + 1);
};

const arrayOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const withEnv = (containers: unknown, env: readonly JsonObject[]): readonly JsonObject[] =>
  arrayOf(containers).map((container) => {
    const names = new Set(env.map(({ name }) => name));
    const others = arrayOf(container.env).filter(({ name }) => !names.has(name));
    return { ...container, env: [...others, ...env] };
  });

const labelsOf = ({ metadata }: NodeGroupUpdate, { kind, instanceId }: HookCall): JsonObject => ({
  [hookUpdateLabel]: metadata.uid,
  [hookKindLabel]: kind,
  [hookInstanceLabel]: instanceId,
});

/** Kubernetes stops the Job at its deadline and deletes it together with the update. */
export const hookJob = (
  { spec }: CronJob,
  update: NodeGroupUpdate,
  call: HookCall & { readonly job: JobHook },
): JsonObject => {
  const { hook, job: target, name, nodeName, instanceId, kind } = call;
  const metadata = objectOr(spec.jobTemplate.metadata);
  // Without its TTL: a Job deleted before the controller has seen its result would be run again.
  const {
    ttlSecondsAfterFinished: _ttl,
    suspend: _suspend,
    ...job
  } = objectOr(spec.jobTemplate.spec);
  const template = objectOr(job.template);
  const pod = objectOr(template.spec);
  const env = Object.entries({
    DROVER_HOOK: kind,
    DROVER_NODE: nodeName,
    DROVER_INSTANCE: instanceId,
    DROVER_NODEGROUP: update.spec.nodeGroup,
    DROVER_UPDATE: update.metadata.name,
  }).map(([key, value]) => ({ name: key, value }));
  const seconds = hook.timeoutSeconds ?? defaultHookTimeoutSeconds;
  const own = typeof job.activeDeadlineSeconds === 'number' ? job.activeDeadlineSeconds : seconds;
  const labels = labelsOf(update, call);
  const init = pod.initContainers === undefined ? [] : withEnv(pod.initContainers, env);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: target.namespace,
      labels: { ...objectOr(metadata.labels), ...labels },
      annotations: objectOr(metadata.annotations),
      ownerReferences: [
        {
          apiVersion: update.apiVersion,
          kind: update.kind,
          name: update.metadata.name,
          uid: update.metadata.uid,
        },
      ],
    },
    spec: {
      ...job,
      activeDeadlineSeconds: Math.min(own, seconds),
      template: {
        ...template,
        metadata: {
          ...objectOr(template.metadata),
          labels: { ...objectOr(objectOr(template.metadata).labels), ...labels },
        },
        spec: {
          ...pod,
          ...(init.length === 0 ? {} : { initContainers: init }),
          containers: withEnv(pod.containers, env),
        },
      },
    },
  };
};

export type HookJob = KubeObject & {
  readonly status?: {
    readonly completionTime?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
};

/**
 * The run's state from the Job's conditions. A Job of the same name that is not this hook's counts
 * as failed.
 */
export const hookRunOf = (
  { metadata, status }: HookJob,
  update: NodeGroupUpdate,
  { kind, instanceId }: Pick<HookCall, 'kind' | 'instanceId'>,
): HookRun => {
  const { labels } = metadata;
  const isOurs =
    labels?.[hookUpdateLabel] === update.metadata.uid &&
    labels[hookKindLabel] === kind &&
    labels[hookInstanceLabel] === instanceId;
  if (!isOurs)
    return {
      state: 'Failed',
      message: 'a Job of that name exists and does not belong to this hook',
    };
  const has = (type: string) =>
    status?.conditions?.find((one) => one.type === type && one.status === 'True');
  if (has('Complete') !== undefined) {
    const [from, to] = [parseTime(metadata.creationTimestamp), parseTime(status?.completionTime)];
    const took = from === undefined || to === undefined ? {} : { seconds: (to - from) / 1000 };
    return { state: 'Succeeded', ...took };
  }
  const failed = has('Failed');
  if (failed === undefined) return { state: 'Running', since: metadata.creationTimestamp };
  const why = [failed.reason, failed.message].filter((one) => one !== undefined && one !== '');
  return { state: 'Failed', message: why.join(': ') || 'it failed' };
};
