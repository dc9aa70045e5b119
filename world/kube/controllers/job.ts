// Jobs: runs pods until enough succeed or too many fail, counts each once through a finalizer,
// handles suspension and deadlines, adopts and releases pods by label. Upstream: pkg/controller/job
// (Kubernetes 1.32), without success policies and limits per index.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import { objectOr } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { microsPerSecond, nameSuffix } from '../../kernel/index.ts';
import {
  asJob,
  asPod,
  conditionOf,
  controllerOf,
  countsTheSame,
  type EventRecorder,
  isNamespaceEnding,
  isReady,
  isTerminating,
  type JobView,
  keyOf,
  kubeTime,
  lostController,
  microsOf,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
  type Worker,
} from '../actors/index.ts';
import { Claims } from './claims.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import {
  backoffMicros,
  failureVerdict,
  hasFailed,
  indexAnnotation,
  indexOf,
  isIndexed,
  isTracked,
  parseIndexes,
  restartsOf,
  takesPlace,
  trackingFinalizer,
} from './job-pods.ts';
import {
  cleared,
  type Ending,
  jobEnding,
  jobStatus,
  sameFields,
  type Tally,
} from './job-status.ts';
import { podFromTemplate } from './pod-template.ts';

/** Upstream's MaxPodCreateDeletePerSync. */
const burst = 500;
const defaultBackoffLimit = 6;

export class JobController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  readonly #claims: Claims;

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'job-controller');
    this.#client = client;
    this.#events = events;
    this.#worker = newWorker(context, 'job', (key) => this.#reconcile(key));
    this.#claims = new Claims({
      kube: context.kube,
      client,
      parents: resources.jobs,
      kind: 'Job',
      children: resources.pods,
      mark: (key) => this.#worker.mark(key),
      finalizer: trackingFinalizer,
    });
    context.kube.onChange(resources.jobs, ({ type, object }) => {
      if (type === 'DELETED') this.#orphans(object.metadata.uid);
      else this.#worker.mark(keyOf(object));
    });
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    this.#claims.resume();
    for (const job of this.#context.kube.readAll(resources.jobs)) this.#worker.mark(keyOf(job));
  }

  #podChanged(change: StoreChange): void {
    const pod = asPod(change.object);
    const before = change.previous && asPod(change.previous);
    if (before && countsTheSame(before, pod) && change.type === 'MODIFIED') return;
    const lost = lostController(before, pod);
    if (lost?.kind === 'Job') this.#worker.mark(`${pod.metadata.namespace ?? ''}/${lost.name}`);
    const owner = controllerOf(pod);
    if (owner?.kind !== 'Job') return;
    this.#worker.mark(`${pod.metadata.namespace ?? ''}/${owner.name}`);
    // No other controller removes the finalizer from a pod whose Job is deleted.
    if (change.type === 'MODIFIED' && isTerminating(pod) && isTracked(pod)) {
      this.#worker.mark(`uid/${owner.uid}`);
    }
  }

  #orphans(uid: string): void {
    for (const _pod of this.#context.kube.ownedBy(uid)) {
      this.#worker.mark(`uid/${uid}`);
      return;
    }
  }

  #podsOf(uid: string): PodView[] {
    const pods: PodView[] = [];
    for (const object of this.#context.kube.ownedBy(uid)) {
      if (object.kind === 'Pod' && controllerOf(asPod(object))?.uid === uid) {
        pods.push(asPod(object));
      }
    }
    return pods;
  }

  #reconcile(key: string): Outcome {
    if (key.startsWith('uid/')) return this.#freeOrphans(key.slice(4));
    const object = this.#context.kube.read(resources.jobs, nameOfKey(key));
    if (object === undefined) {
      this.#worker.forget(key);
      return undefined;
    }
    const job = asJob(object);
    if (!this.#claims.settle(job)) return 'retry';
    const pods = this.#podsOf(job.metadata.uid);
    const ended = jobEnding(job);
    if (ended !== undefined || isTerminating(job)) {
      return this.#free(pods.filter(isTracked)) ? undefined : 'retry';
    }
    return this.#advance(job, pods);
  }

  /** An unfinished Job: counts its pods, then finishes it or starts and stops pods. */
  #advance(job: JobView, pods: readonly PodView[]): Outcome {
    const tally = this.#count(job, pods);
    const ending = this.#ending(job, tally, pods);
    let active = tally.active;
    let outcome: Outcome;
    if (ending !== undefined || job.spec.suspend === true) {
      if (!this.#stop(job, active, ending !== undefined)) return 'retry';
      active = [];
    } else {
      const moved = this.#manage(job, tally, pods);
      if (moved === undefined) return 'retry';
      active = this.#podsOf(job.metadata.uid).filter((pod) => takesPlace(job, pod));
      outcome = moved === 0 ? undefined : { againInMicros: moved };
    }
    if (!this.#writeStatus(job, { ...tally, active }, ending)) return 'retry';
    if (!this.#free(tally.counted)) return 'retry';
    return outcome ?? this.#untilDeadline(job);
  }

  #count(job: JobView, pods: readonly PodView[]): Tally {
    const indexes = parseIndexes(job.status?.completedIndexes);
    let succeeded = job.status?.succeeded ?? 0;
    let failed = job.status?.failed ?? 0;
    let failure: Ending | undefined;
    const counted: PodView[] = [];
    for (const pod of pods) {
      if (!isTracked(pod)) continue;
      if (pod.status?.phase === 'Succeeded') {
        counted.push(pod);
        const index = indexOf(pod);
        if (!isIndexed(job)) succeeded++;
        else if (index !== undefined && index < (job.spec.completions ?? 0)) indexes.add(index);
      } else if (hasFailed(job, pod)) {
        counted.push(pod);
        const verdict = failureVerdict(job, pod);
        if (verdict.kind !== 'ignore') failed++;
        if (verdict.kind === 'fail-job') {
          const { message } = verdict;
          failure ??= { type: 'Failed', reason: 'PodFailurePolicy', message };
        }
      }
    }
    const alive = pods.filter(
      ({ status }) => !['Succeeded', 'Failed'].includes(status?.phase ?? ''),
    );
    return {
      active: pods.filter((pod) => takesPlace(job, pod)),
      terminating: alive.filter(isTerminating).length,
      succeeded: isIndexed(job) ? indexes.size : succeeded,
      failed,
      indexes,
      counted,
      failure,
    };
  }

  #ending(job: JobView, tally: Tally, pods: readonly PodView[]): Ending | undefined {
    if (tally.failure !== undefined) return tally.failure;
    const { completions, backoffLimit = defaultBackoffLimit } = job.spec;
    const onFailure = job.spec.template.spec.restartPolicy === 'OnFailure';
    const failures = tally.failed + (onFailure ? restartsOf(tally.active) : 0);
    if (failures > backoffLimit) {
      return {
        type: 'Failed',
        reason: 'BackoffLimitExceeded',
        message: 'Job has reached the specified backoff limit',
      };
    }
    if (this.#deadlineIn(job) <= 0) {
      return {
        type: 'Failed',
        reason: 'DeadlineExceeded',
        message: 'Job was active longer than specified deadline',
      };
    }
    const reached =
      completions === undefined
        ? tally.succeeded > 0 && pods.every((pod) => !takesPlace(job, pod))
        : tally.succeeded >= completions;
    if (!reached || job.spec.suspend === true) return undefined;
    return {
      type: 'Complete',
      reason: 'CompletionsReached',
      message: 'Reached expected number of succeeded pods',
    };
  }

  /** Infinity without a deadline or while the Job has not started. */
  #deadlineIn(job: JobView): number {
    const start = microsOf(job.status?.startTime);
    const { activeDeadlineSeconds, suspend } = job.spec;
    if (start === undefined || activeDeadlineSeconds === undefined || suspend === true) {
      return Number.POSITIVE_INFINITY;
    }
    return start + activeDeadlineSeconds * microsPerSecond - this.#context.kernel.now();
  }

  #untilDeadline(job: JobView): Outcome {
    const deadline = job.spec.activeDeadlineSeconds;
    if (deadline === undefined || job.spec.suspend === true) return undefined;
    const left = this.#deadlineIn(job);
    const wait = Number.isFinite(left) ? Math.max(0, left) : deadline * microsPerSecond;
    return { againInMicros: wait };
  }

  /**
   * Creates or deletes pods. Returns the time until more may be created, undefined on a refusal.
   */
  #manage(job: JobView, tally: Tally, pods: readonly PodView[]): number | undefined {
    const { parallelism = 1, completions } = job.spec;
    const left =
      completions === undefined
        ? tally.succeeded > 0
          ? tally.active.length
          : parallelism
        : Math.max(0, completions - tally.succeeded);
    const wanted = Math.min(parallelism, left);
    const surplus = tally.active.length - wanted;
    if (surplus > 0) {
      const unready = [...tally.active].sort((a, b) => Number(isReady(a)) - Number(isReady(b)));
      return this.#delete(job, unready.slice(0, surplus)) ? 0 : undefined;
    }
    if (surplus === 0) return 0;
    const wait = backoffMicros(job, pods, this.#context.kernel.now());
    if (wait > 0) return wait;
    const free = isIndexed(job) ? this.#freeIndexes(job, tally) : undefined;
    for (let i = 0; i < Math.min(-surplus, burst); i++) {
      if (!this.#create(job, free?.[i])) return undefined;
    }
    return 0;
  }

  #freeIndexes(job: JobView, tally: Tally): readonly number[] {
    const taken = new Set(tally.active.map(indexOf));
    const all = Array.from({ length: job.spec.completions ?? 0 }, (_, index) => index);
    return all.filter((index) => !taken.has(index) && !tally.indexes.has(index));
  }

  #create(job: JobView, index: number | undefined): boolean {
    const made = this.#client.create(
      resources.pods,
      job.metadata.namespace,
      jobPod(job, index, () => nameSuffix(this.#context.kernel.random('kube.job.names'))),
    );
    if (made.kind === 'error') {
      if (isNamespaceEnding(made.status)) return true;
      this.#note(job, 'FailedCreate', `Error creating: ${made.status.message}`, 'Warning');
      return false;
    }
    this.#note(job, 'SuccessfulCreate', `Created pod: ${made.object.metadata.name}`);
    return true;
  }

  #stop(job: JobView, active: readonly PodView[], ending: boolean): boolean {
    const doomed = active.filter((pod) => !isTerminating(pod));
    if (!this.#delete(job, doomed)) return false;
    const suspended = conditionOf(job.status?.conditions, 'Suspended')?.status === 'True';
    if (!ending && !suspended) this.#note(job, 'Suspended', 'Job suspended');
    return true;
  }

  #delete(job: JobView, pods: readonly PodView[]): boolean {
    for (const pod of pods) {
      const gone = this.#client.delete(resources.pods, nameOfKey(keyOf(pod)), {
        uid: pod.metadata.uid,
      });
      if (gone.kind === 'error' && gone.status.code !== 404) return false;
      this.#note(job, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    }
    return true;
  }

  #writeStatus(job: JobView, tally: Tally, ending: Ending | undefined): boolean {
    const now = kubeTime(this.#context.kernel.now());
    const status = jobStatus(job, { tally, ending, now });
    if (sameFields(objectOr(job.status), status)) return true;
    const patched = this.#client.patch(resources.jobs, nameOfKey(keyOf(job)), {
      type: 'merge',
      body: {
        metadata: { uid: job.metadata.uid },
        status: { ...cleared(objectOr(job.status), status), ...status },
      },
      subresource: 'status',
    });
    if (patched.kind === 'error') return patched.status.code === 404;
    const before = conditionOf(job.status?.conditions, 'Suspended')?.status;
    if (before === 'True' && job.spec.suspend !== true) this.#note(job, 'Resumed', 'Job resumed');
    if (ending?.type === 'Complete') this.#note(job, 'Completed', 'Job completed');
    if (ending?.type === 'Failed') this.#note(job, ending.reason, ending.message, 'Warning');
    return true;
  }

  #freeOrphans(uid: string): Outcome {
    const pods = this.#podsOf(uid).filter(isTracked);
    const owner = pods[0] && controllerOf(pods[0]);
    if (owner === undefined) return undefined;
    const name = { namespace: pods[0]?.metadata.namespace ?? '', name: owner.name };
    if (this.#context.kube.read(resources.jobs, name)?.metadata.uid === uid) return undefined;
    return this.#free(pods) ? undefined : 'retry';
  }

  /** Removes the tracking finalizer: the pods are counted, or will never be. */
  #free(pods: readonly PodView[]): boolean {
    for (const pod of pods) {
      const { uid, finalizers } = pod.metadata;
      const rest = (finalizers ?? []).filter((one) => one !== trackingFinalizer);
      const patched = this.#client.patch(resources.pods, nameOfKey(keyOf(pod)), {
        type: 'merge',
        body: { metadata: { uid, finalizers: rest } },
      });
      if (patched.kind === 'error' && patched.status.code !== 404) return false;
    }
    return true;
  }

  #note(job: JobView, reason: string, message: string, type?: 'Warning'): void {
    this.#events.record({ about: job, reason, message, ...defined({ type }) });
  }
}

const jobPod = (job: JobView, index: number | undefined, suffix: () => string): JsonObject => {
  const pod = podFromTemplate(job, job.spec.template);
  const metadata = { ...objectOr(pod.metadata), finalizers: [trackingFinalizer] };
  if (index === undefined) return { ...pod, metadata };
  const base = `${job.metadata.name}-${index}`;
  const spec = objectOr(pod.spec);
  const value = String(index);
  const containers = (spec.containers as readonly JsonObject[]).map((one) => ({
    ...one,
    env: [...((one.env ?? []) as readonly JsonObject[]), { name: 'JOB_COMPLETION_INDEX', value }],
  }));
  return {
    ...pod,
    metadata: {
      ...metadata,
      name: `${base}-${suffix()}`,
      generateName: `${base}-`,
      labels: { ...objectOr(objectOr(pod.metadata).labels), [indexAnnotation]: value },
      annotations: { ...objectOr(objectOr(pod.metadata).annotations), [indexAnnotation]: value },
    },
    spec: { ...spec, hostname: base, containers },
  };
};
