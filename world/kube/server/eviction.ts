// POST pods/NAME/eviction, as measured on a real control plane and in the order of
// registry/core/pod/storage/eviction.go. disruptionsAllowed is decremented before the uid is
// checked, so a wrong uid uses one up; the disruption controller restores it.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { Kernel } from '../../kernel/index.ts';
import type { ResourceDefinition } from './definition.ts';
import {
  checkPreconditions,
  type DeleteOptions,
  type Deleter,
  dryRunOf,
  parseDeleteOptions,
} from './deletion.ts';
import {
  kubeTime,
  listOf,
  metadataOf,
  numberOf,
  objectsOf,
  type Stored,
  specOf,
  statusOf,
  textOf,
  withFields,
} from './objects.ts';
import { isEmptySelector, labelSelectorMatcher } from './selectors.ts';
import {
  type ApiError,
  badRequest,
  conflict,
  failure,
  forbidden,
  internalError,
  notFound,
  tooManyRequests,
  uidMismatch,
  versionMismatch,
} from './status.ts';
import { objectKey, type Store } from './store.ts';

const budgets = { group: 'policy', resource: 'poddisruptionbudgets' };
const maximumDisruptedPods = 2000;
const processingRetrySeconds = 10;
const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";

export interface EvictionRequest {
  readonly pods: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly body: Json | undefined;
  readonly query: URLSearchParams;
}

interface Eviction {
  readonly name: string;
  readonly options: DeleteOptions;
}

const accepted: readonly string[] = ['policy/v1', 'policy/v1beta1', ''];

/** Both API versions have the same fields; a body without kind counts as policy/v1. */
function parseEviction(request: EvictionRequest): Eviction {
  const { body, query } = request;
  if (!isObject(body)) throw badRequest('the body of the request must be an Eviction');
  const apiVersion = textOf(body.apiVersion) ?? '';
  const kind = textOf(body.kind) ?? '';
  if (!accepted.includes(apiVersion) || (kind !== '' && kind !== 'Eviction')) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match ` +
        'the expected API version (policy/v1)',
    );
  }
  const name = textOf(metadataOf(body).name) ?? '';
  if (name !== request.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const given = body.deleteOptions;
  const none = new URLSearchParams();
  const options = parseDeleteOptions(isObject(given) ? given : {}, none);
  const dryRun = dryRunOf(listOf(objectOr(given).dryRun)) || dryRunOf(query.getAll('dryRun'));
  return { name, options: { ...options, dryRun } };
}

const isReady = (pod: Stored): boolean =>
  objectsOf(statusOf(pod).conditions).some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  );

/** Pods whose deletion disrupts nothing: pending, finished, already terminating. */
const needsNoBudget = (pod: Stored): boolean => {
  const phase = textOf(statusOf(pod).phase) ?? '';
  return (
    phase === 'Succeeded' ||
    phase === 'Failed' ||
    phase === 'Pending' ||
    pod.metadata.deletionTimestamp !== undefined
  );
};

const cause = (message: string): readonly JsonObject[] => [{ reason: 'DisruptionBudget', message }];

const stillProcessed = (name: string): ApiError =>
  tooManyRequests(
    refusal,
    processingRetrySeconds,
    cause(`The disruption budget ${name} is still being processed by the server.`),
  );

/** Which of the three refusals, chosen as the API server does. */
function exhausted(budget: Stored): ApiError {
  const { name } = budget.metadata;
  const status = statusOf(budget);
  const healthy = numberOf(status.currentHealthy) ?? 0;
  const desired = numberOf(status.desiredHealthy) ?? 0;
  const condition = objectsOf(status.conditions).find(
    (candidate) => candidate.type === 'DisruptionAllowed',
  );
  const message = textOf(condition?.message) ?? '';
  const reason = textOf(condition?.reason) ?? '';
  const explained = condition?.status === 'False' && message !== '';
  const base = `The disruption budget ${name} does not allow evicting pods currently`;
  let text = base;
  if (explained && reason === 'SyncFailed') text = `${base} because it failed sync: ${message}`;
  else if (healthy <= desired) {
    const needs = `needs ${desired} healthy pods and has ${healthy} currently`;
    text = `The disruption budget ${name} ${needs}`;
  } else if (explained) text = `${base} (${reason}): ${message}`;
  return tooManyRequests(refusal, 0, cause(text));
}

/** The condition that the disruption controller derives from disruptionsAllowed. */
function withoutAllowance(status: JsonObject, generation: number, time: string): JsonObject {
  const conditions = objectsOf(status.conditions);
  const before = conditions.find((condition) => condition.type === 'DisruptionAllowed');
  const transition = before?.status === 'False' ? before.lastTransitionTime : time;
  const next = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: generation,
    lastTransitionTime: transition ?? time,
    reason: 'InsufficientPods',
    message: '',
  };
  const others = conditions.filter((condition) => condition.type !== 'DisruptionAllowed');
  return { ...status, conditions: [...others, next] };
}

export class Evictor {
  readonly #kernel: Kernel;
  readonly #store: Store;
  readonly #deleter: Deleter;

  constructor(kernel: Kernel, store: Store, deleter: Deleter) {
    this.#kernel = kernel;
    this.#store = store;
    this.#deleter = deleter;
  }

  /** Returns when the pod has been deleted or would be (dry run); throws every refusal. */
  evict(request: EvictionRequest): void {
    const { options } = parseEviction(request);
    const key = objectKey(request.namespace, request.name);
    const pod = this.#store.get(request.pods.storage, key);
    if (pod === undefined) throw notFound(request.pods, request.name);
    if (needsNoBudget(pod)) {
      this.#delete(request, pod, options);
      return;
    }
    const matching = this.#budgetsOf(pod);
    const [budget, second] = matching;
    if (second !== undefined) {
      // Plain 500 without reason, details or causes: only the message identifies it.
      throw failure(
        500,
        undefined,
        'This pod has more than one PodDisruptionBudget, ' +
          'which the eviction subresource does not support.',
      );
    }
    if (budget !== undefined && !isUnreadyAllowed(pod, budget)) {
      this.#take(budget, request.name, options.dryRun);
    }
    this.#delete(request, pod, options);
  }

  #budgetsOf(pod: Stored): readonly Stored[] {
    const labels = objectOr(metadataOf(pod).labels);
    return this.#store.list(budgets, pod.metadata.namespace).filter((budget) => {
      const selector = specOf(budget).selector;
      // In policy/v1 an empty selector matches every pod of its namespace, a missing one none.
      if (selector === undefined || selector === null) return false;
      return isEmptySelector(selector) || labelSelectorMatcher(selector)(labels);
    });
  }

  #take(budget: Stored, podName: string, dryRun: boolean): void {
    const status = statusOf(budget);
    const { name, generation = 0 } = budget.metadata;
    const of = { group: 'policy', resource: 'poddisruptionbudget' };
    if ((numberOf(status.observedGeneration) ?? 0) < generation) throw stillProcessed(name);
    const allowed = numberOf(status.disruptionsAllowed) ?? 0;
    if (allowed < 0) throw forbidden(of, name, 'pdb disruptions allowed is negative');
    const disrupted = objectOr(status.disruptedPods);
    if (Object.keys(disrupted).length > maximumDisruptedPods) {
      const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
      throw forbidden(of, name, why);
    }
    if (allowed === 0) throw exhausted(budget);
    if (dryRun) return;
    const time = kubeTime(this.#kernel.now());
    const counted: JsonObject = {
      ...status,
      disruptionsAllowed: allowed - 1,
      disruptedPods: { ...disrupted, [podName]: time },
    };
    const next = allowed === 1 ? withoutAllowance(counted, generation, time) : counted;
    this.#store.put(budgets, withFields(budget, { status: next }));
  }

  /** Marks the pod as disrupted, then deletes it gracefully. Checks preconditions only here. */
  #delete(request: EvictionRequest, pod: Stored, options: DeleteOptions): void {
    const target = { definition: request.pods, namespace: request.namespace, name: request.name };
    if (options.dryRun) {
      checkPreconditions(request.pods, pod, options);
      this.#deleter.delete(target, options);
      return;
    }
    const of = { group: '', resource: 'Pod' };
    const { name, uid, resourceVersion } = pod.metadata;
    if (options.uid !== undefined && options.uid !== uid) {
      throw conflict(of, name, uidMismatch(options.uid, uid));
    }
    if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
      throw conflict(of, name, versionMismatch(options.resourceVersion, resourceVersion));
    }
    const marked = this.#mark(request, pod);
    const version =
      options.resourceVersion === undefined
        ? {}
        : { resourceVersion: marked.metadata.resourceVersion };
    this.#deleter.delete(target, { ...options, ...version });
  }

  #mark(request: EvictionRequest, pod: Stored): Stored {
    const status = statusOf(pod);
    const conditions = objectsOf(status.conditions);
    const before = conditions.find((condition) => condition.type === 'DisruptionTarget');
    const reason = 'EvictionByEvictionAPI';
    const same = before?.status === 'True' && before.reason === reason;
    if (same) return pod;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: kubeTime(this.#kernel.now()),
      reason,
      message: 'Eviction API: evicting',
    };
    const others = conditions.filter((candidate) => candidate !== before);
    const next = withFields(pod, { status: { ...status, conditions: [...others, condition] } });
    if (pod.metadata.namespace === undefined) throw internalError('pod without namespace');
    return this.#store.put(request.pods.storage, next);
  }
}

/** An unready pod may bypass the budget if the budget is met or its policy allows it. */
function isUnreadyAllowed(pod: Stored, budget: Stored): boolean {
  if (isReady(pod)) return false;
  if (specOf(budget).unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const status = statusOf(budget);
  const desired = numberOf(status.desiredHealthy) ?? 0;
  return (numberOf(status.currentHealthy) ?? 0) >= desired && desired > 0;
}
