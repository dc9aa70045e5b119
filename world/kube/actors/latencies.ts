// How long after a change each actor reacts to it, in world milliseconds, and why. A single table,
// so that a slow or fast control plane is one edit (or one override in a test). Contains no
// behaviour.

export interface Latency {
  readonly minMs: number;
  readonly maxMs: number;
  readonly why: string;
}

export const latencies = {
  deployment: { minMs: 2, maxMs: 8, why: 'informer delivery and one queue hop after the change' },
  replicaset: { minMs: 1, maxMs: 6, why: 'as deployment; replacements start within a few ms' },
  daemonset: { minMs: 2, maxMs: 8, why: 'as deployment' },
  statefulset: { minMs: 2, maxMs: 8, why: 'as deployment' },
  job: { minMs: 2, maxMs: 8, why: 'as deployment' },
  cronjob: { minMs: 2, maxMs: 8, why: 'as deployment' },
  'ttl-after-finished': { minMs: 2, maxMs: 8, why: 'as deployment' },
  'volume-binder': { minMs: 2, maxMs: 10, why: 'as deployment' },
  'volume-protection': { minMs: 2, maxMs: 10, why: 'as deployment' },
  'attach-detach': { minMs: 20, maxMs: 120, why: 'its loop comes round every 100 ms' },
  autoscaler: { minMs: 1, maxMs: 5, why: 'its own period of 15 s dominates' },
  'daemonset-status': { minMs: 10, maxMs: 20, why: 'counts settle before they are written' },
  disruption: { minMs: 5, maxMs: 30, why: 'budgets followed a change within 39 ms when measured' },
  'node-lifecycle': { minMs: 1, maxMs: 5, why: 'taints follow a cordon within ms when measured' },
  'taint-eviction': { minMs: 1, maxMs: 5, why: 'reacts to taints as they appear' },
  'pod-gc': { minMs: 1, maxMs: 10, why: 'its own period and quarantine dominate' },
  'garbage-collector': { minMs: 5, maxMs: 30, why: 'graph update, then the attempt' },
  namespace: { minMs: 5, maxMs: 20, why: 'waits for discovery before it deletes' },
  endpointslice: { minMs: 2, maxMs: 10, why: 'endpoints follow readiness within ms' },
  'endpoint-mirroring': { minMs: 2, maxMs: 10, why: 'as endpointslice' },
  serviceaccount: { minMs: 1, maxMs: 5, why: 'the account is there before the first pod' },
  'service-lb': { minMs: 5, maxMs: 20, why: 'one queue hop; the cloud answers at once here' },
  'role-aggregation': { minMs: 2, maxMs: 10, why: 'as deployment' },
  certificates: { minMs: 2, maxMs: 10, why: 'as deployment' },
  scheduler: { minMs: 1, maxMs: 5, why: 'an idle scheduler binds within a few ms' },
  kubelet: { minMs: 1, maxMs: 5, why: 'watch delivery to the node' },
} as const satisfies Readonly<Record<string, Latency>>;

export type LatencyName = keyof typeof latencies;
