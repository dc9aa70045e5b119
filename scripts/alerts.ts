// The alerts as data. scripts/print-monitoring.ts prints them as a plain rule file and as a
// PrometheusRule; each has a page in docs/runbooks. At most twelve: an alert is a call to act.

export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** How long the expression must hold; absent: it fires at once. */
  readonly for?: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
}

export const alerts: readonly Alert[] = [
  {
    name: 'DroverNoLeader',
    expr: 'sum(drover_leader) < 1 or absent(drover_leader)',
    for: '2m',
    severity: 'critical',
    summary: 'No replica of Drover leads: nodes are neither drained nor repaired.',
  },
  {
    name: 'DroverHookExpired',
    expr: 'sum(increase(drover_lifecycle_hooks_total{result="Expired"}[1h])) > 0',
    severity: 'critical',
    summary: 'A lifecycle hook ended before its node was drained: pods were cut off.',
  },
  {
    name: 'DroverDrainBlocked',
    expr: 'max by (waiting_on) (drover_drain_oldest_wait_seconds{waiting_on=~"pdb|multiplePdbs|budgetHeld|selfMoving|replacement|evictionError"}) > 900',
    for: '1m',
    severity: 'warning',
    summary: 'A drain has waited for {{ $labels.waiting_on }} for more than 15 minutes.',
  },
  {
    name: 'DroverDrainsFailing',
    expr: 'sum by (cause) (increase(drover_drains_total{outcome="Failed"}[1h])) > 0',
    severity: 'warning',
    summary: 'A drain for {{ $labels.cause }} ended before the node was empty.',
  },
  {
    name: 'DroverUpdateFailed',
    expr: 'sum by (strategy) (increase(drover_updates_total{outcome="Failed"}[1h])) > 0',
    severity: 'warning',
    summary: 'An update of a node group failed.',
  },
  {
    name: 'DroverRepairsFailing',
    expr: 'sum(increase(drover_repairs_total{phase="Failed"}[6h])) > 0',
    severity: 'warning',
    summary: 'A repair did not make its node healthy.',
  },
  {
    name: 'DroverNoticesLate',
    expr: 'histogram_quantile(0.9, sum by (le) (rate(drover_notice_lag_seconds_bucket[10m]))) > 10',
    for: '5m',
    severity: 'warning',
    summary: 'Notices take more than 10 s from the queue into the cluster.',
  },
  {
    name: 'DroverCloudRefuses',
    expr: 'sum by (operation, code) (rate(drover_cloud_requests_total{code!~"OK|NoActiveLifecycleAction"}[10m])) > 0.05',
    for: '10m',
    severity: 'warning',
    summary: 'AWS answers {{ $labels.operation }} with {{ $labels.code }}.',
  },
  {
    name: 'DroverReconcileFailing',
    expr: 'sum by (queue) (rate(drover_reconcile_errors_total{retry!="now"}[10m])) > 0.1 or sum by (queue) (increase(drover_assertion_failures_total[1h])) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'Passes of the queue {{ $labels.queue }} keep failing.',
  },
  {
    name: 'DroverNotificationsFailing',
    expr: 'sum by (result) (increase(drover_notifications_total{result=~"refused|dropped|given-up|misconfigured"}[1h])) > 0',
    severity: 'warning',
    summary: 'Notifications do not reach their receiver: {{ $labels.result }}.',
  },
  {
    name: 'DroverNotificationsPending',
    expr: 'max(drover_notifications_pending) > 0',
    for: '15m',
    severity: 'warning',
    summary: 'Notifications have waited for their receiver for more than 15 minutes.',
  },
];
