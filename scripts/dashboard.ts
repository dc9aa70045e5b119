// The Grafana dashboard as data: rows of panels with their queries. scripts/print-monitoring.ts
// prints deploy/monitoring/dashboard.json from it.

interface Panel {
  readonly title: string;
  readonly unit: 'short' | 's' | 'ops' | 'bytes';
  readonly queries: readonly (readonly [expr: string, legend: string])[];
}

const rate = (metric: string, by: string): string => `sum by (${by}) (rate(${metric}[5m]))`;
const quantile = (q: number, metric: string, by = ''): string =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${metric}_bucket[5m])))`;

export const dashboardRows: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'Drains',
    [
      {
        title: 'Open drains by phase',
        unit: 'short',
        queries: [['sum by (phase) (drover_drains_open)', '{{phase}}']],
      },
      {
        title: 'What drains wait for',
        unit: 'short',
        queries: [['sum by (waiting_on) (drover_drains_waiting)', '{{waiting_on}}']],
      },
      {
        title: 'Oldest wait',
        unit: 's',
        queries: [['max by (waiting_on) (drover_drain_oldest_wait_seconds)', '{{waiting_on}}']],
      },
      {
        title: 'Ended drains by outcome, per hour',
        unit: 'short',
        queries: [['sum by (outcome) (increase(drover_drains_total[1h]))', '{{outcome}}']],
      },
      {
        title: 'Duration of drains',
        unit: 's',
        queries: [
          [quantile(0.5, 'drover_drain_duration_seconds'), 'half'],
          [quantile(0.9, 'drover_drain_duration_seconds'), 'nine of ten'],
        ],
      },
    ],
  ],
  [
    'Evictions',
    [
      {
        title: 'Granted, refused, forced',
        unit: 'ops',
        queries: [
          [rate('drover_evictions_granted_total', 'kind'), 'granted {{kind}}'],
          ['sum(rate(drover_evictions_sent_total{result="refused"}[5m]))', 'refused'],
          ['sum(rate(drover_evictions_forced_total[5m]))', 'forced'],
        ],
      },
      {
        title: 'Freed budget to next eviction',
        unit: 's',
        queries: [[quantile(0.99, 'drover_eviction_reaction_seconds'), 'p99']],
      },
      {
        title: 'Notices',
        unit: 'ops',
        queries: [[rate('drover_notices_total', 'verdict'), '{{verdict}}']],
      },
      {
        title: 'Message to effect',
        unit: 's',
        queries: [[quantile(0.9, 'drover_notice_lag_seconds'), 'nine of ten']],
      },
      {
        title: 'Lifecycle hooks',
        unit: 'short',
        queries: [
          ['sum by (result) (increase(drover_lifecycle_hooks_total[1h]))', '{{result}}'],
          ['sum(increase(drover_lifecycle_hook_heartbeats_total[1h]))', 'heartbeats'],
        ],
      },
    ],
  ],
  [
    'Updates and repairs',
    [
      {
        title: 'Updates per day',
        unit: 'short',
        queries: [
          [
            'sum by (strategy, outcome) (increase(drover_updates_total[1d]))',
            '{{strategy}} {{outcome}}',
          ],
        ],
      },
      {
        title: 'Repairs per day',
        unit: 'short',
        queries: [['sum by (phase) (increase(drover_repairs_total[1d]))', '{{phase}}']],
      },
      {
        title: 'Notifications',
        unit: 'short',
        queries: [
          ['sum by (result) (increase(drover_notifications_total[1h]))', '{{result}}'],
          ['sum(drover_notifications_pending)', 'pending'],
        ],
      },
    ],
  ],
  [
    'The controller',
    [
      { title: 'Leaders', unit: 'short', queries: [['sum(drover_leader)', 'leaders']] },
      {
        title: 'Requests to the Kubernetes API',
        unit: 'ops',
        queries: [[rate('drover_kube_requests_total', 'verb, code'), '{{verb}} {{code}}']],
      },
      {
        title: 'Calls to AWS',
        unit: 'ops',
        queries: [
          [rate('drover_cloud_requests_total', 'operation, code'), '{{operation}} {{code}}'],
        ],
      },
      {
        title: 'Queue depth',
        unit: 'short',
        queries: [['sum by (queue) (drover_workqueue_depth)', '{{queue}}']],
      },
      {
        title: 'Time in queue, p99',
        unit: 's',
        queries: [
          [quantile(0.99, 'drover_workqueue_queue_duration_seconds', 'queue'), '{{queue}}'],
        ],
      },
      {
        title: 'Failed passes',
        unit: 'ops',
        queries: [
          [rate('drover_reconcile_errors_total', 'queue'), '{{queue}}'],
          ['sum(rate(drover_assertion_failures_total[5m]))', 'errors of Drover'],
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [['process_resident_memory_bytes{job=~".*drover.*"}', '{{instance}}']],
      },
    ],
  ],
];

const width = 8;
const height = 7;
const datasource = { type: 'prometheus', uid: '${datasource}' };

const panelOf = ({ title, unit, queries }: Panel, id: number, x: number, y: number) => ({
  id,
  type: 'timeseries',
  title,
  datasource,
  gridPos: { x, y, w: width, h: height },
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  targets: queries.map(([expr, legendFormat], i) => ({
    refId: String.fromCharCode(65 + i),
    datasource,
    expr,
    legendFormat,
  })),
});

export const dashboard = (): object => {
  const panels: object[] = [];
  let y = 0;
  for (const [title, members] of dashboardRows) {
    panels.push({ id: panels.length + 1, type: 'row', title, gridPos: { x: 0, y, w: 24, h: 1 } });
    members.forEach((panel, i) => {
      const place = [(i % 3) * width, y + 1 + Math.floor(i / 3) * height] as const;
      panels.push(panelOf(panel, panels.length + 1, ...place));
    });
    y += 1 + Math.ceil(members.length / 3) * height;
  }
  return {
    uid: 'drover',
    title: 'Drover',
    tags: ['drover'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }],
    },
    panels,
  };
};
