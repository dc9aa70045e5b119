import { describe, expect, it } from 'vitest';
import { nodeManagerAgent } from '../../world/index.ts';
import type { AuditEvent } from './demo-world.ts';
import { ownRequests } from './own-requests.ts';

const node = { name: 'n1', instance: 'i-1' };

const anEvent = (more: Partial<AuditEvent> = {}): AuditEvent => ({
  verb: 'patch',
  userAgent: nodeManagerAgent,
  user: { username: 'eks:node-manager' },
  objectRef: { resource: 'nodes', name: 'n1' },
  responseStatus: { code: 200 },
  requestObject: { spec: { unschedulable: true } },
  requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
  stageTimestamp: '2026-01-01T00:00:00.000000Z',
  ...more,
});
const anEviction = (pod: string, uid: string): AuditEvent =>
  anEvent({
    verb: 'create',
    objectRef: { resource: 'pods', subresource: 'eviction', name: pod, namespace: 'demo' },
    responseStatus: { code: 201 },
    requestObject: { kind: 'Eviction', metadata: { name: pod }, deleteOptions: { uid } },
  });
const aStatus = (status: Readonly<Record<string, unknown>>): AuditEvent =>
  anEvent({
    objectRef: { resource: 'nodedisruptions', subresource: 'status', name: 'i-1' },
    requestObject: { status },
  });

const told = (...events: readonly AuditEvent[]) => ownRequests(events, node).effects;

describe('the requests of our own about a node', () => {
  it('are equal where times, names, uids and numbers of pods differ', () => {
    const one = [anEvent(), anEviction('a', 'u1'), aStatus({ phase: 'Ended', endedAt: 't1' })];
    const other = [
      anEvent({ stageTimestamp: '2027-01-01T00:00:00.000000Z' }),
      anEviction('b', 'u2'),
      aStatus({ podsRemaining: 1 }),
      anEviction('c', 'u3'),
      aStatus({ phase: 'Ended', endedAt: 't2', leaderEpoch: 3 }),
    ];
    expect(told(...other)).toEqual(told(...one));
    expect(told(...one)).toHaveLength(3);
  });

  it.each([
    ['the order', [anEviction('a', 'u'), anEvent()]],
    ['the user', [anEvent({ user: { username: 'kubernetes-admin' } }), anEviction('a', 'u')]],
    ['the code', [anEvent({ responseStatus: { code: 409 } }), anEviction('a', 'u')]],
    [
      'a value',
      [anEvent({ requestObject: { spec: { unschedulable: false } } }), anEviction('a', 'u')],
    ],
    ['a field', [anEvent({ requestObject: { spec: { taints: [] } } }), anEviction('a', 'u')]],
    ['one more', [anEvent(), anEvent({ verb: 'update' }), anEviction('a', 'u')]],
    ['one less', [anEvent()]],
  ])('differ by %s', (_what, events) => {
    expect(told(...events)).not.toEqual(told(anEvent(), anEviction('a', 'u')));
  });

  it('are neither reads, nor those of others, nor those about other nodes', () => {
    const elsewhere = { resource: 'nodes', name: 'n2' };
    const others = [
      anEvent({ verb: 'get' }),
      anEvent({ userAgent: 'kubectl' }),
      anEvent({ objectRef: elsewhere }),
    ];
    expect(told(...others)).toEqual([]);
  });
});
