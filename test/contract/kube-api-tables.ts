// Contract cases: the server sends the columns that `kubectl get` shows, kind by kind.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';

interface Row {
  readonly cells: readonly unknown[];
}

/** Names of the columns, and each row without its last cell, which is an age or a time. */
const tableOf = async (
  env: ContractEnv,
  path: string,
): Promise<readonly (readonly unknown[])[]> => {
  const { body } = await env.raw('GET', path, { accept });
  const columns = body.columnDefinitions as readonly JsonObject[];
  const rows = body.rows as unknown as readonly Row[];
  return [columns.map(({ name }) => name), ...rows.map(({ cells }) => cells.slice(0, -1))];
};

const cases: readonly {
  readonly name: string;
  /** Path below the namespace. */
  readonly path: string;
  readonly objects: readonly JsonObject[];
  readonly status?: JsonObject;
  readonly rows: readonly (readonly unknown[])[];
}[] = [
  {
    name: 'autoscalers with their targets',
    path: 'apis/autoscaling/v2 horizontalpodautoscalers',
    objects: [
      {
        metadata: { name: 'a' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          minReplicas: 2,
          maxReplicas: 9,
          metrics: [
            {
              type: 'Resource',
              resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
            },
            {
              type: 'Resource',
              resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
            },
            {
              type: 'Pods',
              pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '5' } },
            },
          ],
        },
      },
    ],
    rows: [
      ['Name', 'Reference', 'Targets', 'MinPods', 'MaxPods', 'Replicas', 'Age'],
      [
        ...['a', 'Deployment/web', 'cpu: <unknown>/50%, memory: <unknown>/1Gi + 1 more...'],
        ...['2', 9, 0],
      ],
    ],
  },
  {
    name: 'Ingresses with hosts and ports',
    path: 'apis/networking.k8s.io/v1 ingresses',
    objects: [
      {
        metadata: { name: 'a' },
        spec: {
          ingressClassName: 'alb',
          rules: ['a', 'b', 'c', 'd'].map((host) => ({ host: `${host}.example` })),
          tls: [{ hosts: ['a.example'], secretName: 's' }],
          defaultBackend: { service: { name: 's', port: { number: 80 } } },
        },
      },
      {
        metadata: { name: 'b' },
        spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      },
    ],
    status: { loadBalancer: { ingress: [{ hostname: 'x.elb' }, { ip: '1.2.3.4' }] } },
    rows: [
      ['Name', 'Class', 'Hosts', 'Address', 'Ports', 'Age'],
      ['a', 'alb', 'a.example,b.example,c.example + 1 more...', '1.2.3.4,x.elb', '80, 443'],
      ['b', '<none>', '*', '', '80'],
    ],
  },
  {
    name: 'network policies with their selector',
    path: 'apis/networking.k8s.io/v1 networkpolicies',
    objects: [
      {
        metadata: { name: 'a' },
        spec: {
          podSelector: {
            matchLabels: { a: 'b' },
            matchExpressions: [{ key: 'x', operator: 'Exists' }],
          },
        },
      },
      { metadata: { name: 'b' }, spec: { podSelector: {} } },
    ],
    rows: [
      ['Name', 'Pod-Selector', 'Age'],
      ['a', 'a=b,x'],
      ['b', '<none>'],
    ],
  },
  {
    name: 'quotas with what is used',
    path: 'api/v1 resourcequotas',
    objects: [
      {
        metadata: { name: 'a' },
        spec: { hard: { pods: '4', 'requests.cpu': '1', 'limits.memory': '2Gi', secrets: '9' } },
      },
    ],
    rows: [
      ['Name', 'Request', 'Limit', 'Age'],
      ['a', 'pods: 0/4, requests.cpu: 0/1, secrets: 0/9', 'limits.memory: 0/2Gi'],
    ],
  },
  {
    name: 'limit ranges',
    path: 'api/v1 limitranges',
    objects: [
      {
        metadata: { name: 'a' },
        spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] },
      },
    ],
    rows: [['Name', 'Created At'], ['a']],
  },
  {
    name: 'endpoints with their ports',
    path: 'api/v1 endpoints',
    objects: [
      { metadata: { name: 'a' } },
      {
        metadata: { name: 'b' },
        subsets: [
          {
            addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }],
            ports: [
              { name: 'a', port: 80 },
              { name: 'b', port: 81 },
            ],
          },
          { addresses: [{ ip: '10.0.0.9' }], ports: [{ port: 90 }] },
        ],
      },
      {
        metadata: { name: 'c' },
        subsets: [{ notReadyAddresses: [{ ip: '10.0.0.9' }], ports: [{ port: 90 }] }],
      },
    ],
    rows: [
      ['Name', 'Endpoints', 'Age'],
      ['a', '<none>'],
      ['b', '10.0.0.1:80,10.0.0.2:80,10.0.0.1:81 + 2 more...'],
      ['c', ''],
    ],
  },
];

export const tableCases: readonly ContractCase[] = cases.map(
  ({ name, path, objects, status, rows }) => ({
    name: `lists ${name}`,
    run: async (env) => {
      const [root = '', resource = ''] = path.split(' ');
      const collection = `/${root}/namespaces/${await env.namespace()}/${resource}`;
      for (const body of objects) {
        const made = await env.raw('POST', collection, { body });
        assert.equal(made.code, 201, String(made.body.message));
      }
      if (status !== undefined) {
        const contentType = 'application/merge-patch+json';
        await env.raw('PATCH', `${collection}/a/status`, { body: { status }, contentType });
      }
      // Controllers write statuses a moment later.
      let last: unknown;
      await eventually(
        () => JSON.stringify(last),
        async () => {
          last = await tableOf(env, collection);
          return JSON.stringify(last) === JSON.stringify(rows) ? true : undefined;
        },
      );
    },
  }),
);
