// The status of a Job: counts, conditions, outcome. Pure; upstream: pkg/controller/job (Kubernetes
// 1.32: trackJobStatusAndRemoveFinalizers, newCondition).
import type { JsonObject } from '../../../src/api/json.ts';
import { type Cond, conditionOf, isReady, type JobView, type PodView } from '../actors/index.ts';
import { formatIndexes, isIndexed } from './job-pods.ts';

export interface Ending {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/** Counts from one sync over a Job's pods. */
export interface Tally {
  readonly active: readonly PodView[];
  readonly terminating: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly indexes: ReadonlySet<number>;
  /** Counted in this sync: their finalizer may be removed once the status is written. */
  readonly counted: readonly PodView[];
  readonly failure: Ending | undefined;
}

/** The condition that marks a Job as finished. */
export const jobEnding = (job: JobView): Cond | undefined =>
  job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );

const jobConditions = (job: JobView, ending: Ending | undefined, now: string): readonly Cond[] => {
  let conditions: readonly Cond[] = job.status?.conditions ?? [];
  const set = (type: string, status: string, reason: string, message: string): void => {
    if (conditionOf(conditions, type)?.status === status) return;
    const fresh = { type, status, reason, message, lastProbeTime: now, lastTransitionTime: now };
    conditions = [...conditions.filter((one) => one.type !== type), fresh];
  };
  if (job.spec.suspend === true && ending === undefined) {
    set('Suspended', 'True', 'JobSuspended', 'Job suspended');
  } else if (conditionOf(conditions, 'Suspended')?.status === 'True') {
    set('Suspended', 'False', 'JobResumed', 'Job resumed');
  }
  if (ending !== undefined) {
    const interim = ending.type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    set(interim, 'True', ending.reason, ending.message);
    set(ending.type, 'True', ending.reason, ending.message);
  }
  return conditions;
};

export const jobStatus = (
  job: JobView,
  facts: {
    readonly tally: Tally;
    readonly ending: Ending | undefined;
    readonly now: string;
  },
): JsonObject => {
  const { tally, ending, now } = facts;
  const conditions = jobConditions(job, ending, now);
  const suspended = job.spec.suspend === true;
  return {
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(suspended ? {} : { startTime: job.status?.startTime ?? now }),
    ...(ending?.type === 'Complete' ? { completionTime: now } : {}),
    ...(tally.active.length === 0 ? {} : { active: tally.active.length }),
    ...(tally.succeeded === 0 ? {} : { succeeded: tally.succeeded }),
    ...(tally.failed === 0 ? {} : { failed: tally.failed }),
    ...(isIndexed(job) && tally.indexes.size > 0
      ? { completedIndexes: formatIndexes(tally.indexes) }
      : {}),
    ready: tally.active.filter(isReady).length,
    terminating: tally.terminating,
    uncountedTerminatedPods: {},
  };
};

export const sameFields = (a: JsonObject, b: JsonObject): boolean => {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]));
};

/** null for each field to remove: part of the body of a merge patch. */
export const cleared = (old: JsonObject, next: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.keys(old)
      .filter((name) => next[name] === undefined && name !== 'conditions')
      .map((name) => [name, null]),
  );
