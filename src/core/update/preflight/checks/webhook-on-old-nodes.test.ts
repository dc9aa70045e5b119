// Tests of the check webhook-on-old-nodes: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aNode,
  anObject,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { EndpointSlice, WebhookConfiguration } from '../../../../api/workloads.ts';
import type { Snapshot } from '../snapshot.ts';
import { webhookOnOldNodes } from './webhook-on-old-nodes.ts';

type Webhook = NonNullable<WebhookConfiguration['webhooks']>[number];
const hook = (more: Partial<Webhook> = {}) => [
  anObject<WebhookConfiguration>('ValidatingWebhookConfiguration', 'c', {
    webhooks: [
      {
        name: 'check.example.com',
        failurePolicy: 'Fail',
        clientConfig: { service: { namespace: 'demo', name: 'guard' } },
        rules: [{ apiGroups: [''], operations: ['CREATE'], resources: ['pods'] }],
        ...more,
      },
    ],
  }),
];
const servers = (...nodes: readonly string[]) => [
  anObject<EndpointSlice>('EndpointSlice', 'guard-1', {
    labels: { 'kubernetes.io/service-name': 'guard' },
    endpoints: nodes.map((nodeName) => ({ nodeName, conditions: { ready: true } })),
  }),
];
const nodes = [aNode('n1'), aNode('n2'), aNode('n3', { old: false })];
const blocker = ['blocker ValidatingWebhookConfiguration check.example.com'];
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['servers on one old node', { webhooks: hook(), endpointSlices: servers('n1', 'n1') }, blocker],
  ['no server at all', { webhooks: hook(), endpointSlices: servers() }, blocker],
  ['a server on a node that stays', { webhooks: hook(), endpointSlices: servers('n1', 'n3') }, []],
  [
    'two old nodes, one drained at a time',
    { webhooks: hook(), endpointSlices: servers('n1', 'n2') },
    [],
  ],
  [
    'two old nodes that may be drained at once',
    { webhooks: hook(), endpointSlices: servers('n1', 'n2'), group: aGroup({ maxUnavailable: 2 }) },
    ['warning ValidatingWebhookConfiguration check.example.com'],
  ],
  [
    'one that fails open',
    { webhooks: hook({ failurePolicy: 'Ignore' }), endpointSlices: servers() },
    [],
  ],
  [
    'one for something else',
    {
      webhooks: hook({ rules: [{ apiGroups: ['apps'], resources: ['deployments'] }] }),
      endpointSlices: servers(),
    },
    [],
  ],
  ['one outside of the cluster', { webhooks: hook({ clientConfig: { url: 'https://x' } }) }, []],
  [
    'one that does not look at this namespace',
    {
      webhooks: hook({
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } },
      }),
      endpointSlices: servers(),
    },
    [],
  ],
  [
    'one that does not look at these pods',
    {
      webhooks: hook({ objectSelector: { matchLabels: { app: 'db' } } }),
      endpointSlices: servers(),
    },
    [],
  ],
];

describe('webhook-on-old-nodes', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(webhookOnOldNodes, { nodes, pods: [aPod('p1')], ...more }))).toEqual(
      expected,
    );
  });
});
