// CronJobs: starts Jobs when their schedule is due in world time and concurrency policy and
// deadline allow it; keeps the list of active Jobs and the history. Upstream:
// pkg/controller/cronjob (Kubernetes 1.32).
import { defined } from '../../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import {
  asCronJob,
  asJob,
  type CronJobView,
  controllerOf,
  type EventRecorder,
  isNamespaceEnding,
  isTerminating,
  type JobView,
  keyOf,
  kubeTime,
  metaOf,
  microsOf,
  nameOfKey,
  type Outcome,
  resources,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { localClock, nextTime, parseSchedule } from './cron-schedule.ts';
import { cleared, jobEnding, sameFields } from './job-status.ts';
import { controllerReference } from './pod-template.ts';

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
/** Upstream stops counting missed starts here and records an event. */
const tooManyMissed = 100;
const manyMissed = 1000;
const dayMicros = 24 * 3600 * microsPerSecond;
/** Upstream reconciles 100 ms after the scheduled time. */
const slackMicros = 100_000;

interface Due {
  /** The latest scheduled time that passed without a start. */
  readonly last: Micros | undefined;
  readonly missed: number;
  readonly next: Micros | undefined;
}

export class CronJobController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'cronjob-controller');
    this.#client = client;
    this.#events = events;
    this.#worker = newWorker(context, 'cronjob', (key) => this.#reconcile(key));
    context.kube.onChange(resources.cronjobs, ({ type, object }) => {
      if (type !== 'DELETED') this.#worker.mark(keyOf(object));
    });
    context.kube.onChange(resources.jobs, (change) => this.#jobChanged(change));
  }

  resume(): void {
    for (const one of this.#context.kube.readAll(resources.cronjobs)) this.#worker.mark(keyOf(one));
  }

  #jobChanged({ object }: StoreChange): void {
    const owner = controllerOf(asJob(object));
    if (owner?.kind === 'CronJob') {
      this.#worker.mark(`${object.metadata.namespace ?? ''}/${owner.name}`);
    }
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.cronjobs, nameOfKey(key));
    if (object === undefined) {
      this.#worker.forget(key);
      return undefined;
    }
    const cronJob = asCronJob(object);
    if (isTerminating(cronJob)) return undefined;
    const jobs = this.#jobsOf(cronJob);
    // A Job created manually from the template (kubectl create job --from) is not counted.
    const started = new Set((cronJob.status?.active ?? []).map(({ uid }) => uid));
    const running = jobs.filter(
      (job) => started.has(job.metadata.uid) && jobEnding(job) === undefined,
    );
    this.#noteEnded(cronJob, jobs);
    if (!this.#trim(cronJob, jobs)) return 'retry';
    if (!this.#write(cronJob, running, jobs, undefined)) return 'retry';
    if (cronJob.spec.suspend === true) return undefined;
    return this.#start(key, running);
  }

  #jobsOf(cronJob: CronJobView): JobView[] {
    const jobs: JobView[] = [];
    for (const object of this.#context.kube.ownedBy(cronJob.metadata.uid)) {
      if (object.kind === 'Job') jobs.push(asJob(object));
    }
    return jobs;
  }

  #start(key: string, running: readonly JobView[]): Outcome {
    // Reads the version just written, so that its list of active Jobs is the one extended.
    const object = this.#context.kube.read(resources.cronjobs, nameOfKey(key));
    if (object === undefined) return undefined;
    const cronJob = asCronJob(object);
    const due = this.#due(cronJob);
    if (due === undefined) return undefined;
    const now = this.#context.kernel.now();
    const again: Outcome =
      due.next === undefined ? undefined : { againInMicros: due.next - now + slackMicros };
    if (due.missed > tooManyMissed) {
      const message =
        `too many missed start times: ${due.missed}. Set or decrease ` +
        '.spec.startingDeadlineSeconds or check clock skew';
      this.#note(cronJob, 'TooManyMissedTimes', message, 'Warning');
    }
    if (due.last === undefined) return again;
    const deadline = cronJob.spec.startingDeadlineSeconds;
    if (deadline !== undefined && due.last + deadline * microsPerSecond < now) {
      const message = `Missed scheduled time to start a job: ${rfc1123(due.last)}`;
      this.#note(cronJob, 'MissSchedule', message, 'Warning');
      return again;
    }
    const policy = cronJob.spec.concurrencyPolicy;
    if (policy === 'Forbid' && running.length > 0) {
      const message =
        'Not starting job because prior execution is running and concurrency policy is Forbid';
      this.#note(cronJob, 'JobAlreadyActive', message);
      return again;
    }
    const stay = policy === 'Replace' ? [] : running;
    if (policy === 'Replace' && !running.every((job) => this.#remove(cronJob, job))) return 'retry';
    return this.#create(cronJob, due.last, stay) ? again : 'retry';
  }

  /** Undefined when the schedule or the zone is invalid; an event then reports it. */
  #due(cronJob: CronJobView): Due | undefined {
    const { schedule: text, timeZone = 'UTC', startingDeadlineSeconds } = cronJob.spec;
    const schedule = parseSchedule(text);
    const clock = localClock(timeZone);
    if (schedule === undefined) {
      this.#note(cronJob, 'UnparseableSchedule', `unparseable schedule: "${text}"`, 'Warning');
      return undefined;
    }
    if (clock === undefined) {
      this.#note(cronJob, 'UnknownTimeZone', `invalid timeZone: "${timeZone}"`, 'Warning');
      return undefined;
    }
    const now = this.#context.kernel.now();
    const { creationTimestamp } = cronJob.metadata;
    let from = microsOf(cronJob.status?.lastScheduleTime ?? creationTimestamp) ?? now;
    if (startingDeadlineSeconds !== undefined) {
      from = Math.max(from, now - startingDeadlineSeconds * microsPerSecond);
    }
    let last: Micros | undefined;
    let missed = 0;
    let next = nextTime(schedule, from, clock);
    while (next !== undefined && next <= now) {
      last = next;
      missed++;
      // After a long pause only the last day is searched: missed starts are reported, not run.
      const from = missed === manyMissed ? Math.max(next, now - dayMicros) : next;
      next = nextTime(schedule, from, clock);
    }
    return { last, missed, next };
  }

  #create(cronJob: CronJobView, at: Micros, running: readonly JobView[]): boolean {
    const { name, namespace } = cronJob.metadata;
    const { metadata, spec } = cronJob.spec.jobTemplate;
    // Minutes since the epoch: two starts within one minute have the same Job name.
    const jobName = `${name}-${Math.floor(at / (60 * microsPerSecond))}`;
    const made = this.#client.create(resources.jobs, namespace, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: jobName,
        namespace: namespace ?? '',
        ...defined({ labels: metadata?.labels }),
        annotations: { ...metadata?.annotations, [scheduledAnnotation]: kubeTime(at) },
        ownerReferences: [controllerReference(cronJob)],
      },
      spec,
    });
    if (made.kind === 'error' && made.status.reason !== 'AlreadyExists') {
      if (isNamespaceEnding(made.status)) return true;
      this.#note(cronJob, 'FailedCreate', `Error creating job: ${made.status.message}`, 'Warning');
      return false;
    }
    if (made.kind === 'ok') this.#note(cronJob, 'SuccessfulCreate', `Created job ${jobName}`);
    const there =
      made.kind === 'ok'
        ? made.object
        : this.#context.kube.read(resources.jobs, { namespace: namespace ?? '', name: jobName });
    const own = there !== undefined && controllerOf(asJob(there))?.uid === cronJob.metadata.uid;
    const active = own ? [...running, asJob(there)] : running;
    return this.#write(cronJob, active, [], at);
  }

  #write(
    cronJob: CronJobView,
    running: readonly JobView[],
    jobs: readonly JobView[],
    scheduled: Micros | undefined,
  ): boolean {
    const old = cronJob.status ?? {};
    const finished = jobs
      .map((job) => job.status?.completionTime)
      .filter((time) => time !== undefined);
    const lastSuccessfulTime = [old.lastSuccessfulTime, ...finished]
      .filter((time) => time !== undefined)
      .sort()
      .at(-1);
    const lastScheduleTime = scheduled === undefined ? old.lastScheduleTime : kubeTime(scheduled);
    const status: JsonObject = {
      ...(running.length === 0 ? {} : { active: running.map(referenceTo) }),
      ...defined({ lastScheduleTime, lastSuccessfulTime }),
    };
    const names = (list: CronJobView['status']): string =>
      (list?.active ?? []).map(({ uid }) => uid).join(' ');
    const sameActive = names(cronJob.status) === running.map((job) => job.metadata.uid).join(' ');
    const rest = ({ active: _active, ...others }: JsonObject): JsonObject => others;
    if (sameActive && sameFields(rest(objectOr(old)), rest(status))) return true;
    const patched = this.#client.patch(resources.cronjobs, nameOfKey(keyOf(cronJob)), {
      type: 'merge',
      body: {
        metadata: { uid: cronJob.metadata.uid },
        status: { ...cleared(objectOr(old), status), ...status },
      },
      subresource: 'status',
    });
    return patched.kind === 'ok' || patched.status.code === 404;
  }

  #noteEnded(cronJob: CronJobView, jobs: readonly JobView[]): void {
    const active = new Set((cronJob.status?.active ?? []).map(({ uid }) => uid));
    for (const job of jobs) {
      const ended = jobEnding(job);
      if (ended === undefined || !active.has(job.metadata.uid)) continue;
      const message = `Saw completed job: ${job.metadata.name}, condition: ${ended.type}`;
      this.#note(cronJob, 'SawCompletedJob', message);
    }
  }

  /** Deletes Jobs beyond the history limits, oldest first. */
  #trim(cronJob: CronJobView, jobs: readonly JobView[]): boolean {
    const limits = {
      Complete: cronJob.spec.successfulJobsHistoryLimit ?? 3,
      Failed: cronJob.spec.failedJobsHistoryLimit ?? 1,
    };
    for (const [type, limit] of Object.entries(limits)) {
      const ended = jobs
        .filter((job) => jobEnding(job)?.type === type && !isTerminating(job))
        .sort((a, b) => bornAt(a) - bornAt(b));
      for (const job of ended.slice(0, Math.max(0, ended.length - limit))) {
        if (!this.#remove(cronJob, job)) return false;
      }
    }
    return true;
  }

  #remove(cronJob: CronJobView, job: JobView): boolean {
    const gone = this.#client.delete(resources.jobs, nameOfKey(keyOf(job)), {
      uid: job.metadata.uid,
      propagationPolicy: 'Background',
    });
    if (gone.kind === 'error') return gone.status.code === 404;
    this.#note(cronJob, 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
    return true;
  }

  #note(cronJob: CronJobView, reason: string, message: string, type?: 'Warning'): void {
    const note = { about: cronJob, reason, message };
    this.#events.record(type === undefined ? note : { ...note, type });
  }
}

const bornAt = (job: JobView): number =>
  microsOf(job.status?.startTime ?? job.metadata.creationTimestamp) ?? 0;

const referenceTo = (job: JobView): JsonObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: job.metadata.name,
  namespace: job.metadata.namespace ?? '',
  resourceVersion: metaOf(job).resourceVersion,
  uid: job.metadata.uid,
});

/** `Sun, 25 Sep 2022 13:00:00 UTC`, as Go prints RFC 1123. */
const rfc1123 = (at: Micros): string => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: 'UTC',
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
  });
  const parts = new Map(
    format.formatToParts(Math.floor(at / 1000)).map(({ type, value }) => [type, value]),
  );
  const date = `${parts.get('weekday')}, ${parts.get('day')} ${parts.get('month')}`;
  return `${date} ${parts.get('year')} ${kubeTime(at).slice(11, 19)} UTC`;
};
