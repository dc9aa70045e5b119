// Surge and swap: a Deployment that asks for it gets one more replica per pod on draining nodes.
// Once those are Ready it is scaled back, and its ReplicaSet deletes the pods on draining nodes. No
// eviction is sent, so budgets of 0 and single replicas lose nothing. Decides; calls nothing.
//
// Order and fences as measured on a real control plane (docs/designs/drain-order.md).
import { type DurationMs, durationMs, type EpochMs, epochMs, formatTime } from '../../api/brand.ts';
import { isReady } from '../../api/conditions.ts';
import { defaultSurgeWaitSeconds } from '../../api/drain-policy.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import type { Deployment, Pod } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { parseJson } from '../../api/parse-json.ts';
import { selectorMatches } from '../../api/selectors.ts';
import { type SurgeEnd, type SurgeStep, swappedLabel } from '../../api/surge.ts';
import { keyOfObject } from './budgets.ts';
import type { NotYet } from './not-yet.ts';
import { controllerOf, isTerminating } from './pods.ts';

/** Records the intent on the Deployment: set together with the surge, removed at its end. */
export const surgeAnnotation = 'drover.dev/surge-state';
/** The lowest cost: the ReplicaSet deletes these pods first. */
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';
const lowestCost = '-2147483648';
/** The pod's cost before the swap; absent where it had none. */
const formerCost = 'drover.dev/former-pod-deletion-cost';

export const surgeWaitMsOf = (group: NodeGroup | undefined): DurationMs =>
  durationMs((group?.spec.drain?.surge?.waitSeconds ?? defaultSurgeWaitSeconds) * 1000);

export interface Surge {
  /** The replicas before and during the surge. */
  readonly from: number;
  readonly to: number;
  readonly startedAt: string;
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;

/**
 * The surge recorded on the Deployment; undefined if there is none, or the text is not Drover's.
 */
export const surgeOf = ({ metadata }: Pick<Deployment, 'metadata'>): Surge | undefined => {
  const text = metadata.annotations?.[surgeAnnotation];
  if (text === undefined) return undefined;
  try {
    const surge: unknown = parseJson(text);
    if (!isObject(surge)) return undefined;
    const { from, to, startedAt } = surge;
    if (!isCount(from) || !isCount(to) || to <= from) return undefined;
    return typeof startedAt === 'string' ? { from, to, startedAt } : undefined;
  } catch {
    return undefined;
  }
};

/** Whether the pod belongs to a ReplicaSet of this Deployment; its selector must match too. */
export const isOfDeployment = (pod: Pod, { metadata, spec }: Deployment): boolean => {
  const owner = controllerOf(pod);
  const hash = pod.metadata.labels?.['pod-template-hash'];
  return (
    owner?.kind === 'ReplicaSet' &&
    hash !== undefined &&
    pod.metadata.namespace === metadata.namespace &&
    owner.name === `${metadata.name}-${hash}` &&
    selectorMatches(spec.selector, pod.metadata.labels ?? {})
  );
};

/** The Deployments that the owners of these pods name, each once. */
export const deploymentsOf = (
  pods: readonly Pod[],
): readonly { readonly namespace: string; readonly name: string }[] => {
  const found = new Map<string, { readonly namespace: string; readonly name: string }>();
  for (const pod of pods) {
    const { namespace = 'default', labels } = pod.metadata;
    const owner = controllerOf(pod);
    const suffix = `-${labels?.['pod-template-hash'] ?? ''}`;
    if (owner?.kind !== 'ReplicaSet' || !owner.name.endsWith(suffix)) continue;
    const name = owner.name.slice(0, -suffix.length);
    if (name !== '') found.set(`${namespace}/${name}`, { namespace, name });
  }
  return [...found.values()];
};

/** A pod to be swapped, and until when its drain waits for that. */
export interface Doomed {
  readonly pod: Pod;
  readonly until: EpochMs;
}

export interface SurgeDecision {
  readonly steps: readonly SurgeStep[];
  /** In one sentence: what the swap waits for. */
  readonly message: string;
}

const pathOf = (key: string): string => `/metadata/annotations/${key.replace('/', '~1')}`;
const annotationPath = pathOf(surgeAnnotation);
const costPath = pathOf(deletionCost);
const formerPath = pathOf(formerCost);
const labelPath = `/metadata/labels/${swappedLabel.replace('/', '~1')}`;

/**
 * Each write is guarded by `test` operations, since a resourceVersion would conflict with every
 * change of the status.
 */
const annotate = (
  { annotations }: Pod['metadata'] | Deployment['metadata'],
  path: string,
  key: string,
  value: string,
): JsonObject =>
  annotations === undefined
    ? { op: 'add', path: '/metadata/annotations', value: { [key]: value } }
    : { op: 'add', path, value };

/** Adds a label without creating the map of labels, which every pod of a ReplicaSet has. */
const costStep = (pod: Pod): SurgeStep => {
  const former = pod.metadata.annotations?.[deletionCost];
  return {
    kind: 'cost',
    pod,
    body: [
      { op: 'test', path: '/metadata/uid', value: pod.metadata.uid },
      { op: 'add', path: labelPath, value: 'true' },
      ...(former === undefined ? [] : [{ op: 'add', path: formerPath, value: former }]),
      annotate(pod.metadata, costPath, deletionCost, lowestCost),
    ],
  };
};

/**
 * Resets the deletion cost of pods that outlive a swap, unless another client has changed it since.
 */
export const restoreSteps = (pods: readonly Pod[]): readonly SurgeStep[] =>
  pods
    .filter((pod) => pod.metadata.labels?.[swappedLabel] !== undefined && !isTerminating(pod))
    .map((pod) => {
      const { annotations = {}, uid } = pod.metadata;
      const { [deletionCost]: cost, [formerCost]: former } = annotations;
      const back =
        former === undefined
          ? { op: 'remove', path: costPath }
          : { op: 'replace', path: costPath, value: former };
      return {
        kind: 'restore',
        pod,
        body: [
          { op: 'test', path: '/metadata/uid', value: uid },
          { op: 'remove', path: labelPath },
          ...(former === undefined ? [] : [{ op: 'remove', path: formerPath }]),
          ...(cost === lowestCost ? [{ op: 'test', path: costPath, value: lowestCost }, back] : []),
        ],
      };
    });

const replicas = '/spec/replicas';

const raiseStep = (deployment: Deployment, from: number, to: number, now: EpochMs): SurgeStep => {
  const state = JSON.stringify({ from, to, startedAt: formatTime(now) });
  return {
    kind: 'raise',
    body: [
      { op: 'test', path: '/metadata/uid', value: deployment.metadata.uid },
      { op: 'test', path: replicas, value: from },
      annotate(deployment.metadata, annotationPath, surgeAnnotation, state),
      { op: 'replace', path: replicas, value: to },
    ],
  };
};

/** `scale`: false if another client has changed the replicas; they then stay unchanged. */
const endStep = (deployment: Deployment, { from, to }: Surge, scale: boolean): SurgeStep => {
  const state = deployment.metadata.annotations?.[surgeAnnotation] ?? '';
  const remove = [
    { op: 'test', path: '/metadata/uid', value: deployment.metadata.uid },
    { op: 'test', path: annotationPath, value: state },
    { op: 'remove', path: annotationPath },
  ];
  if (!scale) return { kind: 'forget', body: remove };
  const back = [
    { op: 'test', path: replicas, value: to },
    { op: 'replace', path: replicas, value: from },
  ];
  return { kind: 'lower', body: [...remove, ...back] };
};

/** All pods are of the current template and Ready, and the status is of the current spec. */
const isSteady = ({ metadata, spec, status = {} }: Deployment): boolean => {
  const { observedGeneration = 0, replicas: all = 0, updatedReplicas = 0 } = status;
  const { readyReplicas = 0, availableReplicas = 0 } = status;
  const wanted = spec.replicas ?? 1;
  if (observedGeneration < (metadata.generation ?? 0)) return false;
  return [all, updatedReplicas, readyReplicas, availableReplicas].every((n) => n === wanted);
};

const decided = (message: string, ...steps: readonly SurgeStep[]): SurgeDecision => ({
  steps,
  message,
});

const begin = (deployment: Deployment, doomed: readonly Doomed[], now: EpochMs): SurgeDecision => {
  if (!isSteady(deployment))
    return decided('waits until all its replicas are up to date and Ready');
  // Before the surge: if another client reverts the surge late, the ReplicaSet still deletes the
  // right pod.
  const unmarked = doomed.filter(
    ({ pod }) => pod.metadata.annotations?.[deletionCost] !== lowestCost,
  );
  if (unmarked.length > 0) {
    return decided('is about to be scaled up', ...unmarked.map(({ pod }) => costStep(pod)));
  }
  const from = deployment.spec.replicas ?? 1;
  const to = from + doomed.length;
  return decided(`is scaled from ${from} to ${to}`, raiseStep(deployment, from, to, now));
};

/** One Deployment with the label. `doomed`: its pods on draining nodes whose wait is not over. */
export const decideSurge = (
  deployment: Deployment,
  doomed: readonly Doomed[],
  now: EpochMs,
): SurgeDecision => {
  const surge = surgeOf(deployment);
  if (surge === undefined) {
    return doomed.length === 0 ? decided('') : begin(deployment, doomed, now);
  }
  const { from, to } = surge;
  if (deployment.spec.replicas !== to) {
    return decided('was scaled by others', endStep(deployment, surge, false));
  }
  if (doomed.length === 0 || isSteady(deployment)) {
    return decided(`is scaled back to ${from}`, endStep(deployment, surge, true));
  }
  const { readyReplicas = 0 } = deployment.status ?? {};
  return decided(`has ${readyReplicas} of ${to} replicas Ready`);
};

/**
 * The steps that end all surges: the deletion costs of pods that stay are reset before the
 * Deployment is scaled back.
 */
export const surgeEndsOf =
  (now: EpochMs) =>
  (deployments: readonly Deployment[], pods: readonly Pod[]): readonly SurgeEnd[] =>
    deployments.map((deployment) => ({
      deployment,
      steps: [
        ...restoreSteps(pods.filter((pod) => isOfDeployment(pod, deployment))),
        ...decideSurge(deployment, [], now).steps,
      ],
    }));

/**
 * Until when a drain waits for swaps: for half of its time at most; in the other half it evicts.
 */
export const surgeUntil = (times: {
  readonly startedAt: EpochMs;
  readonly waitMs: DurationMs;
  readonly deadline: EpochMs | undefined;
}): EpochMs => {
  const { startedAt, waitMs, deadline = Number.POSITIVE_INFINITY } = times;
  return epochMs(startedAt + Math.max(0, Math.min(waitMs, (deadline - startedAt) / 2)));
};

export const surgeBlocker = (
  { pod, until }: Doomed,
  deployment: Deployment,
  message: string,
): NotYet => ({
  waiting: {
    kind: 'surge',
    pod: keyOfObject(pod),
    owner: `Deployment/${deployment.metadata.name}`,
    message,
    until: formatTime(until),
  },
  until,
});

/** An unready pod serves no requests: it is evicted. A terminating pod needs no eviction. */
export const maySwap = (pod: Pod): boolean => isReady(pod) && !isTerminating(pod);
