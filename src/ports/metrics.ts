// The metrics of the controllers: one table of names, types and labels, and the port that counts.
// Labels have bounded sets of values: kinds, outcomes and codes, never a node, a pod or a group.
// docs/metrics.md is generated from this table (scripts/print-metrics.ts).
import { causeKinds } from '../api/disruption.ts';
import { repairPhases } from '../api/node-repair.ts';
import { updateStrategies } from '../api/nodegroup-update.ts';

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Label -> its values if the set is closed, otherwise a description of them. */
  readonly labels: Readonly<Record<string, string | readonly string[]>>;
  /** Upper bounds in seconds; histograms only. */
  readonly buckets?: readonly number[];
}

/** From an empty node to drains of several hours. */
const drainBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200] as const;
/** From an API's typical answer to the client's own limit of 30 s. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
/** Fine-grained around 50 ms, the target for evicting the next pod after a budget allows one. */
const reactionBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10] as const;

/** Value of a label whose fact is absent. */
const none = 'none';
/** The kind of the first cause. */
const cause = [...causeKinds, none] as const;
const outcome = [
  'Drained',
  'Forced',
  'Failed',
  'Cancelled',
  'NothingToDrain',
  'InstanceGone',
] as const;
const queue = [
  'disruption',
  'eviction',
  'targets',
  'confirmation',
  'lifecycle',
  'zone-shift',
  'surge',
  'nodegroup',
  'repair',
  'sequence',
  'certificates',
  'notify',
] as const;
const strategy = [...updateStrategies, none] as const;
const ended = ['Successful', 'Failed', 'Cancelled'] as const;
const evictionKind = ['evict', 'delete'] as const;
const operation = 'method of the cloud port, such as describeGroups, completeHook';
const waitingOn = 'what the drain waits for first, such as pdb, termination, hook';

export const metricTable = {
  drover_drains_total: {
    type: 'counter',
    help: 'Drains of nodes that ended, by the kind of their first cause.',
    labels: { cause, outcome },
  },
  drover_drain_duration_seconds: {
    type: 'histogram',
    help: 'Time from the cordon of the node to the end of its drain.',
    labels: { cause, outcome },
    buckets: drainBuckets,
  },
  drover_drains_forced_total: {
    type: 'counter',
    help: 'Drains that passed their deadline and began to delete what was left.',
    labels: {},
  },
  drover_drains_open: {
    type: 'gauge',
    help: 'NodeDisruptions that have not ended.',
    labels: { phase: ['Pending', 'Marking', 'Draining', 'Completing', 'Undoing'] },
  },
  drover_drains_waiting: {
    type: 'gauge',
    help: 'Open NodeDisruptions by what they wait for.',
    labels: { waiting_on: waitingOn },
  },
  drover_drain_oldest_wait_seconds: {
    type: 'gauge',
    help: 'Age of the oldest open drain that waits for this.',
    labels: { waiting_on: waitingOn },
  },
  drover_evictions_granted_total: {
    type: 'counter',
    help:
      'Pods that the allocation granted; each is sent once. Signals to applications that move ' +
      'their pods themselves are counted apart.',
    labels: { kind: [...evictionKind, 'signal'] },
  },
  drover_evictions_sent_total: {
    type: 'counter',
    help: 'Answers to evictions and deletions of pods.',
    labels: {
      kind: evictionKind,
      result: ['done', 'gone', 'refused'],
      code: 'OK, or the code of the Kubernetes port, such as DisruptionBudget',
    },
  },
  drover_evictions_forced_total: {
    type: 'counter',
    help: 'Pods deleted without regard to their budgets, after a deadline.',
    labels: {},
  },
  drover_eviction_reaction_seconds: {
    type: 'histogram',
    help: 'Time from the event that frees a budget to the next eviction that uses it.',
    labels: {},
    buckets: reactionBuckets,
  },
  drover_lifecycle_hooks_total: {
    type: 'counter',
    help: 'Lifecycle hooks that Drover completed, and those that ended without it.',
    labels: { result: ['CONTINUE', 'ABANDON', 'Expired', 'Gone', none] },
  },
  drover_lifecycle_hook_heartbeats_total: {
    type: 'counter',
    help: 'Heartbeats sent to Auto Scaling.',
    labels: {},
  },
  drover_notices_total: {
    type: 'counter',
    help: 'Notices about instances, by what became of them.',
    labels: {
      kind: cause,
      verdict: [
        'confirmed',
        'unconfirmed',
        'refuted',
        'reason-lost',
        'withdrawn',
        'dropped',
        'kept',
      ],
    },
  },
  drover_notice_lag_seconds: {
    type: 'histogram',
    help: 'Time from the sending of a queue message to its effect in the cluster.',
    labels: {},
    buckets: requestBuckets,
  },
  drover_updates_total: {
    type: 'counter',
    help: 'Updates of node groups that ended.',
    labels: { strategy, outcome: ended },
  },
  drover_update_duration_seconds: {
    type: 'histogram',
    help: 'Time from the creation of an update to its end.',
    labels: { strategy, outcome: ended },
    buckets: [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400],
  },
  drover_repairs_total: {
    type: 'counter',
    help: 'Phases that node repairs entered.',
    labels: {
      phase: repairPhases,
    },
  },
  drover_kube_requests_total: {
    type: 'counter',
    help: 'Requests to the Kubernetes API.',
    labels: {
      verb: ['get', 'list', 'watch', 'create', 'patch', 'delete', 'evict'],
      code: 'OK, or the code of the Kubernetes port, such as Conflict, Unreachable',
    },
  },
  drover_kube_request_duration_seconds: {
    type: 'histogram',
    help: 'Time to the complete answer of the Kubernetes API; watches are left out.',
    labels: { verb: ['get', 'list', 'create', 'patch', 'delete', 'evict'] },
    buckets: requestBuckets,
  },
  drover_cloud_requests_total: {
    type: 'counter',
    help: 'Calls of the cloud port; one may be several requests to AWS.',
    labels: { operation, code: 'OK, or the code of the cloud port, such as Throttled' },
  },
  drover_cloud_request_duration_seconds: {
    type: 'histogram',
    help: 'Time to the answer of the cloud; long polls of the queue are left out.',
    labels: { operation },
    buckets: requestBuckets,
  },
  drover_workqueue_depth: {
    type: 'gauge',
    help: 'Keys that are ready and not yet processed.',
    labels: { queue },
  },
  drover_workqueue_queue_duration_seconds: {
    type: 'histogram',
    help: 'Time that a ready key waits before it is processed.',
    labels: { queue },
    buckets: reactionBuckets,
  },
  drover_workqueue_work_duration_seconds: {
    type: 'histogram',
    help: 'Time that the processing of a key takes.',
    labels: { queue },
    buckets: requestBuckets,
  },
  drover_workqueue_retries_total: {
    type: 'counter',
    help: 'Failed passes that are tried again.',
    labels: { queue },
  },
  drover_reconcile_errors_total: {
    type: 'counter',
    help: 'Passes that failed on an answer of an API, or on the lack of one; now: a conflict.',
    labels: { queue, retry: ['now', 'backoff', 'never'] },
  },
  drover_assertion_failures_total: {
    type: 'counter',
    help: 'Passes that failed on an error of Drover itself.',
    labels: { queue },
  },
  drover_notifications_total: {
    type: 'counter',
    help: 'Notifications; misconfigured: a Secret that cannot be used, or its address may not be called.',
    labels: { result: ['sent', 'refused', 'retried', 'dropped', 'given-up', 'misconfigured'] },
  },
  drover_notifications_pending: {
    type: 'gauge',
    help: 'Transitions that wait for their receiver.',
    labels: {},
  },
  drover_leader: {
    type: 'gauge',
    help: '1 while this process leads, else 0.',
    labels: {},
  },
  drover_build_info: {
    type: 'gauge',
    help: 'Always 1.',
    labels: { version: 'version of Drover' },
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Gauges that only the leader knows; a process that has lost leadership exports none of them. */
export const leaderGauges = [
  'drover_drains_open',
  'drover_drains_waiting',
  'drover_drain_oldest_wait_seconds',
  'drover_workqueue_depth',
  'drover_notifications_pending',
] as const satisfies readonly MetricName[];

type Table = typeof metricTable;
export type MetricName = keyof Table;
type NameOf<T extends MetricRow['type']> = {
  [N in MetricName]: Table[N]['type'] extends T ? N : never;
}[MetricName];
type LabelsOf<N extends MetricName> = Readonly<Record<keyof Table[N]['labels'], string>>;

export interface Metrics {
  add<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>): void;
  observe<N extends NameOf<'histogram'>>(name: N, labels: LabelsOf<N>, seconds: number): void;
  set<N extends NameOf<'gauge'>>(name: N, labels: LabelsOf<N>, value: number): void;
  /** Removes all series of a gauge. */
  reset(name: NameOf<'gauge'>): void;
  /**
   * Calls `sample` to set gauges right before each read. Returns a function that unregisters it.
   */
  onRead(sample: () => void): () => void;
}

const nothing = (): void => undefined;

/** For processes and tests that expose no metrics. */
export const noMetrics: Metrics = {
  add: nothing,
  observe: nothing,
  set: nothing,
  reset: nothing,
  onRead: () => nothing,
};
