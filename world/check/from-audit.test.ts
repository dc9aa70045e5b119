// An audit log as a trace: what is read, what is skipped, and which oracles can judge it.

import { describe, expect, it } from 'vitest';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { i1, us } from '../../test/builders/world-check.ts';
import { checkTrace, traceFromAudit } from './index.ts';

const facts = {
  ownAgents: [us],
  managedGroups: ['eks-ng1'],
  compat: 'eks',
  settled: false,
  endedAt: Date.parse('2022-09-25T14:00:00Z') * 1000,
} as const;

const at = (second: number): string =>
  `2022-09-25T13:00:${String(second).padStart(2, '0')}.000000Z`;

interface Line {
  readonly verb: string;
  readonly ref: JsonObject;
  readonly by?: string;
  readonly code?: number;
  readonly uri?: string;
  readonly request?: JsonObject;
  readonly response?: JsonObject;
}

const line = (second: number, event: Line): string =>
  JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'RequestResponse',
    stage: 'ResponseComplete',
    requestURI: event.uri ?? '/x',
    verb: event.verb,
    user: { username: 'eks:node-manager' },
    userAgent: event.by ?? us,
    objectRef: event.ref,
    responseStatus: { code: event.code ?? 200 },
    requestObject: event.request,
    responseObject: event.response,
    requestReceivedTimestamp: at(second),
    stageTimestamp: at(second),
  });

const pod = (name: string, more: JsonObject = {}): JsonObject => ({
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'demo',
    uid: `uid-${name}`,
    resourceVersion: '2',
    ownerReferences: [{ kind: 'ReplicaSet', name: 'web-5d', controller: true }],
    ...more,
  },
  spec: { terminationGracePeriodSeconds: 30 },
  status: {},
});

const node = (version: string, labels: JsonObject, unschedulable?: boolean): JsonObject => ({
  kind: 'Node',
  metadata: { name: 'n1', uid: 'uid-n1', resourceVersion: version, labels },
  spec: {
    providerID: `aws:///eu-west-1a/${i1}`,
    ...defined({ unschedulable }),
  },
});

const label = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' };
const podRef = { resource: 'pods', namespace: 'demo', name: 'p1' };
const nodeRef = { resource: 'nodes', name: 'n1' };
const bound = [
  line(0, { verb: 'patch', ref: nodeRef, by: 'kubelet', response: node('1', {}) }),
  line(1, { verb: 'create', ref: podRef, code: 201, response: pod('p1') }),
  line(2, {
    verb: 'create',
    ref: { ...podRef, subresource: 'binding' },
    code: 201,
    request: { target: { name: 'n1' } },
    response: { kind: 'Status' },
  }),
];
const evictedAt = (second: number): string =>
  line(second, {
    verb: 'create',
    ref: { ...podRef, subresource: 'eviction' },
    code: 201,
    request: { kind: 'Eviction' },
    response: { kind: 'Status' },
  });
const eviction = evictedAt(5);
const marks = [
  line(3, { verb: 'patch', ref: nodeRef, response: node('3', label) }),
  line(4, { verb: 'patch', ref: nodeRef, response: node('4', label, true) }),
];

describe('traceFromAudit', () => {
  it('keeps what a list selects, and not where it continues', () => {
    const uri = '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit=500&labelSelector=app%3Dweb';
    const list = line(1, { verb: 'list', ref: { resource: 'pods' }, uri });
    const { entries } = traceFromAudit([list], facts).trace;
    const selector = 'fieldSelector=spec.nodeName%3Dn1&labelSelector=app%3Dweb';
    expect(entries).toMatchObject([{ kind: 'request', verb: 'list', selector }]);
  });

  it('reads requests, and objects from the answers, bindings and last deletions', () => {
    const gone = line(9, {
      verb: 'delete',
      ref: podRef,
      response: pod('p1', { deletionTimestamp: at(9), deletionGracePeriodSeconds: 0 }),
    });
    const { trace, skipped } = traceFromAudit([...bound, gone], facts);
    expect(skipped).toBe(0);
    const seen = trace.entries.map((entry) =>
      entry.kind === 'object' ? `${entry.type} ${entry.resource}` : entry.kind,
    );
    expect(seen).toEqual([
      'ADDED nodes',
      'request',
      'ADDED pods',
      'request',
      'MODIFIED pods',
      'request',
      'DELETED pods',
      'request',
    ]);
  });

  it('skips lines that are cut, unfinished or about no resource', () => {
    const lines = ['', '{"kind":"Eve', '[]', JSON.stringify({ kind: 'Event', objectRef: {} })];
    expect(traceFromAudit(lines, facts)).toEqual({ trace: { facts, entries: [] }, skipped: 3 });
  });

  it('takes no object from dry runs, refusals and other subresources', () => {
    const uri = '/api/v1/namespaces/demo/pods?dryRun=All';
    const lines = [
      line(0, { verb: 'create', ref: podRef, uri, response: pod('p1') }),
      line(1, { verb: 'create', ref: podRef, code: 409, response: pod('p1') }),
      line(2, { verb: 'patch', ref: { ...podRef, subresource: 'scale' }, response: pod('p1') }),
    ];
    const { entries } = traceFromAudit(lines, facts).trace;
    expect(entries.map((entry) => entry.kind)).toEqual(['request', 'request', 'request']);
    expect(entries[0]).toMatchObject({ dryRun: true });
  });

  it('reads readiness from status writes, and what an eviction does to its pod', () => {
    const ready = (second: number, status: string) =>
      line(second, {
        verb: 'patch',
        ref: { ...podRef, subresource: 'status' },
        by: 'kubelet',
        request: { status: { phase: 'Running', conditions: [{ type: 'Ready', status }] } },
      });
    const scheduled = { type: 'PodScheduled', status: 'True' };
    const updated = line(3, {
      verb: 'update',
      ref: { ...podRef, subresource: 'status' },
      by: 'kube-scheduler',
      request: { spec: { nodeName: 'stale' }, status: { conditions: [scheduled] } },
    });
    const lines = [...bound, updated, ready(4, 'False'), ready(5, 'True'), eviction, eviction];
    const { entries } = traceFromAudit(lines, facts).trace;
    const pods = entries.flatMap((entry) =>
      entry.kind === 'object' && entry.resource === 'pods' ? [entry.object] : [],
    );
    expect(pods).toHaveLength(6);
    expect(pods.at(-2)).toMatchObject({
      spec: { nodeName: 'n1' },
      status: { phase: 'Running', conditions: [scheduled, { type: 'Ready', status: 'True' }] },
    });
    expect(pods.at(-1)).toMatchObject({
      metadata: { deletionTimestamp: '2022-09-25T13:00:05.000Z' },
    });
    expect(pods.at(-1)).not.toHaveProperty('metadata.resourceVersion');
  });

  it('lets the oracles judge the order of marks and evictions, and say what they could not', () => {
    const good = checkTrace(traceFromAudit([...bound, ...marks, eviction], facts).trace);
    const bad = checkTrace(traceFromAudit([...bound, evictedAt(2), ...marks], facts).trace);
    // A server that completes the eviction first writes its line first.
    const late = checkTrace(traceFromAudit([...bound, eviction, ...marks], facts).trace);
    const about = (report: typeof good) =>
      report.violations.filter(({ oracle }) => oracle === 'marks-before-eviction');
    expect(about(good)).toEqual([]);
    expect(good.checked['marks-before-eviction']).toBe(1);
    expect(about(bad)).toHaveLength(1);
    expect(about(late)).toEqual([]);
    expect(good.checked['hooks-never-run-out']).toBe(0);
    expect(good.notRun).toContain('hooks-never-run-out: lifecycle, call');
  });

  it('lets them see who was evicted: a DaemonSet’s pod is reported', () => {
    const owner = { ownerReferences: [{ kind: 'DaemonSet', name: 'aws-node', controller: true }] };
    const created = line(1, { verb: 'create', ref: podRef, code: 201, response: pod('p1', owner) });
    const { violations } = checkTrace(traceFromAudit([created, eviction], facts).trace);
    expect(violations.map(({ oracle }) => oracle)).toContain('only-drainable-pods');
  });
});

describe('an object that waited for its finalizer', () => {
  const ref = { resource: 'nodegroups', name: 'ng1' };
  const group = (more: JsonObject): JsonObject => ({
    kind: 'NodeGroup',
    metadata: { name: 'ng1', uid: 'u1', ...more },
    spec: {},
  });
  const leaving = { deletionTimestamp: at(2), deletionGracePeriodSeconds: 0 };
  const lines = [
    line(1, { verb: 'create', ref, code: 201, response: group({ finalizers: ['x'] }) }),
    line(2, { verb: 'delete', ref, response: group({ ...leaving, finalizers: ['x'] }) }),
    line(3, { verb: 'patch', ref, response: group(leaving) }),
  ];
  const types = (upTo: number): readonly string[] =>
    traceFromAudit(lines.slice(0, upTo), facts).trace.entries.flatMap((entry) =>
      entry.kind === 'object' ? [entry.type] : [],
    );

  it('is there until the last of them has gone', () => {
    expect(types(2)).toEqual(['ADDED', 'MODIFIED']);
    expect(types(3)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });

  it('takes a whole collection away where a namespace is emptied', () => {
    const deployment = (namespace: string): JsonObject => ({
      kind: 'Deployment',
      metadata: { name: 'web', namespace, uid: `uid-${namespace}` },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } } },
    });
    const ref = (namespace: string): JsonObject => ({ resource: 'deployments', namespace });
    const made = ['gone', 'stays'].map((namespace, i) =>
      line(i, {
        verb: 'create',
        ref: { ...ref(namespace), name: 'web' },
        code: 201,
        response: deployment(namespace),
      }),
    );
    const emptied = (uri: string) =>
      line(5, { verb: 'deletecollection', ref: ref('gone'), uri, response: { kind: 'Status' } });
    const said = (uri: string) =>
      checkTrace(
        traceFromAudit([...made, emptied(uri)], { ...facts, settled: true }).trace,
      ).violations.flatMap(({ oracle, subject }) =>
        oracle === 'everything-ends' ? [subject] : [],
      );
    expect(said('/apis/apps/v1/namespaces/gone/deployments')).toEqual(['stays/web']);
    expect(said('/apis/apps/v1/namespaces/gone/deployments?labelSelector=a')).toHaveLength(2);
  });
});
