import { describe, expect, it } from 'vitest';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { type NodeStory, StoryReader, tellStory } from './index.ts';

const startAt = Date.UTC(2022, 8, 25, 13, 58);
const kubelet = { user: { username: 'system:node:n1' }, userAgent: 'kubelet/v1.32' };
const manager = { user: { username: 'eks:node-manager' }, userAgent: 'vpcLambda/v0.0.0' };
const exclusion = 'node.kubernetes.io/exclude-from-external-load-balancers';

type Call = readonly [second: number, event: JsonObject];

const node = (
  second: number,
  verb: string,
  requestObject: JsonObject,
  more: JsonObject = {},
): Call => [
  second,
  {
    ...manager,
    verb,
    objectRef: { resource: 'nodes', name: 'n1' },
    requestObject,
    responseStatus: { code: 200 },
    ...more,
  },
];
const pod = (
  second: number,
  verb: string,
  name: string,
  subresource: string | undefined,
  more: JsonObject = {},
): Call => [
  second,
  {
    ...manager,
    verb,
    objectRef: {
      resource: 'pods',
      namespace: 'demo',
      name,
      ...defined({ subresource }),
    },
    responseStatus: { code: 201 },
    ...more,
  },
];
const joined = node(
  0,
  'create',
  { metadata: { labels: { 'eks.amazonaws.com/nodegroup': 'demo-ng' } } },
  kubelet,
);
const placed = (second: number, name: string) =>
  pod(second, 'create', name, 'binding', { requestObject: { target: { name: 'n1' } } });
const excluded = (second: number) =>
  node(second, 'patch', { metadata: { labels: { [exclusion]: 'true' } } });
const cordoned = (second: number, unschedulable: boolean | null = true) =>
  node(second, 'patch', { spec: { unschedulable } });
const evicted = (second: number, name: string) => pod(second, 'create', name, 'eviction');
const refused = (second: number, name: string) =>
  pod(second, 'create', name, 'eviction', {
    responseStatus: {
      code: 429,
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
    },
    responseObject: {
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: 'The disruption budget web needs 2 healthy pods and has 2 currently',
          },
        ],
      },
    },
  });
const gone = (second: number, name: string) =>
  pod(second, 'delete', name, undefined, { ...kubelet, responseStatus: { code: 200 } });
const deleted = (second: number) => node(second, 'delete', {});

const read = (...calls: readonly Call[]): StoryReader => {
  const reader = new StoryReader();
  for (const [second, event] of calls) {
    reader.add({ stage: 'ResponseComplete', ...event }, startAt + second * 1000);
  }
  return reader;
};
const told = (...calls: readonly Call[]): NodeStory => {
  const [record] = read(...calls).nodes();
  if (record === undefined) throw new Error('nothing was told');
  return tellStory(record);
};
const kinds = (story: NodeStory) => story.steps.map(({ kind }) => kind);
const rules = (story: NodeStory) => story.findings.map(({ kind, rule }) => `${kind} ${rule}`);

const whole = [
  joined,
  placed(1, 'p1'),
  excluded(10),
  cordoned(10.5),
  refused(11, 'p1'),
  evicted(12, 'p1'),
  gone(14, 'p1'),
  deleted(20),
];

describe('the story of a node', () => {
  it('has its steps in order, who did each, and how long lay between', () => {
    const story = told(...whole);
    expect(kinds(story)).toEqual([
      'joined',
      'placed',
      'excluded',
      'cordoned',
      'refused',
      'evicted',
      'podDeleted',
      'deleted',
    ]);
    expect(story).toMatchObject({ node: 'n1', group: 'demo-ng', findings: [] });
    expect(story.steps[4]).toMatchObject({
      pod: 'demo/p1',
      user: 'eks:node-manager',
      agent: 'vpcLambda/v0.0.0',
      detail: 'The disruption budget web needs 2 healthy pods and has 2 currently',
    });
    expect(Object.fromEntries(story.passages.map(({ name, seconds }) => [name, seconds]))).toEqual({
      'excluded to cordoned': 0.5,
      'cordoned to first eviction': 0.5,
      'first to last eviction': 1,
      'held by budgets': 1,
      'last eviction to last pod gone': 2,
      'last pod gone to deleted': 6,
      'first mark to deleted': 10,
    });
  });

  it('tells Ready, labels and taints when they change, and a cordon that is reverted', () => {
    const status = (second: number, ready: string) =>
      node(
        second,
        'patch',
        { status: { conditions: [{ type: 'Ready', status: ready, reason: 'KubeletReady' }] } },
        {
          ...kubelet,
          objectRef: { resource: 'nodes', name: 'n1', subresource: 'status' },
        },
      );
    const story = told(
      joined,
      status(1, 'True'),
      status(2, 'True'),
      status(3, 'Unknown'),
      status(4, 'True'),
      node(5, 'patch', {
        metadata: { labels: { team: 'red', old: null, 'kubernetes.io/os': 'linux' } },
      }),
      node(6, 'patch', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
      node(7, 'patch', { spec: { taints: [] } }),
      cordoned(8),
      cordoned(9),
      cordoned(10, null),
      node(11, 'update', { spec: { unschedulable: true } }),
      node(12, 'update', { spec: {} }),
    );
    expect(
      story.steps.map(({ kind, detail }) => (detail === undefined ? kind : `${kind} ${detail}`)),
    ).toEqual([
      'joined',
      'ready',
      'notReady KubeletReady',
      'ready',
      'labelled team=red old-',
      'tainted a:NoSchedule',
      'tainted none left',
      'cordoned',
      'uncordoned',
      'cordoned',
      'uncordoned',
    ]);
    expect(story.findings).toEqual([]);
  });

  it('names what is in the wrong order', () => {
    const early = told(
      joined,
      placed(1, 'p1'),
      evicted(5, 'p1'),
      cordoned(6),
      excluded(7),
      gone(9, 'p1'),
      deleted(8),
    );
    expect(rules(early)).toEqual([
      'order evicted-before-cordon',
      'order evicted-before-exclusion',
      'order deleted-before-pods',
    ]);
    expect(early.findings[0]?.message).toBe(
      'demo/p1 was evicted 1.0 s before the node was cordoned (eks:node-manager, vpcLambda/v0.0.0)',
    );
    expect(rules(told(...whole, placed(15, 'late')))).toEqual(['order placed-while-cordoned']);
  });

  it('names what is missing', () => {
    expect(
      rules(
        told(
          placed(1, 'p1'),
          evicted(5, 'p1'),
          node(6, 'patch', { metadata: { labels: { a: 'b' } } }),
        ),
      ),
    ).toEqual([
      'gap log-begins-later',
      'gap never-cordoned',
      'gap never-excluded',
      'gap pods-not-seen-gone',
      'gap not-seen-deleted',
    ]);
    expect(rules(told(joined, excluded(1), cordoned(2), deleted(2000)))).toEqual(['gap silence']);
  });

  it('knows of a pod without binding by its kubelet, and counts those of which nothing tells', () => {
    const reader = read(joined, evicted(2, 'p2'), gone(3, 'p2'), evicted(4, 'p3'));
    expect(reader.nodes()[0]?.steps.map(({ kind }) => kind)).toEqual([
      'joined',
      'evicted',
      'podDeleted',
    ]);
    expect(reader.homeless()).toEqual(['demo/p3']);
  });

  it('is not told by reads, refused writes, dry runs and stages before the answer', () => {
    const reader = read(
      joined,
      node(1, 'get', {}),
      node(2, 'patch', { spec: { unschedulable: true } }, { responseStatus: { code: 403 } }),
      node(
        3,
        'patch',
        { spec: { unschedulable: true } },
        { requestURI: '/api/v1/nodes/n1?dryRun=All' },
      ),
      node(4, 'patch', { spec: { unschedulable: true } }, { stage: 'RequestReceived' }),
    );
    expect(reader.nodes()[0]?.steps.map(({ kind }) => kind)).toEqual(['joined']);
    expect(reader.span).toEqual({ from: startAt, to: startAt + 4000 });
  });
});
