// What a sequence does next, as tables: order, cycles, other actors, ends, and resuming after an
// end.

import { describe, expect, it } from 'vitest';
import { epochMs } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import type {
  NodeGroupUpdateSequence,
  NodeGroupUpdateSequenceSpec,
  NodeGroupUpdateSequenceStatus,
  SequenceGroupStatus,
} from '../../../api/update-sequence.ts';
import { decideSequence, type SequenceNode, type SequenceObservation } from './sequence.ts';

const meta = (name: string) => ({
  name,
  uid: '0123456789',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

const aSequence = (
  groups: NodeGroupUpdateSequenceSpec['groups'],
  more: {
    readonly spec?: Partial<NodeGroupUpdateSequenceSpec>;
    readonly status?: Partial<NodeGroupUpdateSequenceStatus>;
    readonly generation?: number;
    readonly name?: string;
  } = {},
): NodeGroupUpdateSequence => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroupUpdateSequence',
  metadata: { ...meta(more.name ?? 's'), generation: more.generation ?? 1 },
  spec: { groups, ...more.spec },
  ...(more.status === undefined
    ? {}
    : {
        status: {
          status: 'InProgress',
          phase: 'Rolling',
          groups: [],
          progress: { done: 0, total: 0 },
          ...more.status,
        },
      }),
});

const anUpdate = (
  name: string,
  nodeGroup: string,
  status: 'InProgress' | 'Successful' | 'Failed' | 'Cancelled',
  more: { readonly paused?: boolean; readonly annotations?: Record<string, string> } = {},
): NodeGroupUpdate => {
  const { annotations, ...spec } = more;
  return {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { ...meta(name), ...defined({ annotations }) },
    spec: { nodeGroup, type: 'VersionUpdate', params: [], change: {}, ...spec },
    status: { status, message: `${name} says why` },
  };
};

const entry = (
  name: string,
  status: SequenceGroupStatus['status'],
  update?: string,
): SequenceGroupStatus => ({
  name,
  status,
  attempt: 1,
  ...defined({ update }),
});

const decide = (
  sequence: NodeGroupUpdateSequence,
  more: Partial<SequenceObservation> & { readonly nodes?: readonly SequenceNode[] } = {},
) =>
  decideSequence({
    sequence,
    others: [],
    groups: new Set(['a', 'b', 'c']),
    updates: [],
    nodes: [],
    now: epochMs(0),
    ...more,
  });

const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
const waiting = [entry('a', 'Waiting'), entry('b', 'Waiting')];

describe('what cannot be begun', () => {
  it.each([
    ['a circle', [{ name: 'a', after: ['b'] }, b], 'a, b cannot begin'],
    ['a group after itself', [{ name: 'a', after: ['a'] }], 'a cannot begin'],
    ['what follows a circle', [{ name: 'a', after: ['b'] }, b, c], 'a, b, c cannot begin'],
    ['a stranger', [a, { name: 'b', after: ['x'] }], 'groups[b].after names x'],
    ['a group that is not there', [a, { name: 'x' }], 'there is no node group x'],
  ])('%s is told, and nothing is touched', (_, groups, message) => {
    const nodes = [{ name: 'n1', group: 'a' }];
    const { status, steps } = decide(aSequence(groups), { nodes });
    expect(status).toMatchObject({ status: 'Failed', phase: 'Ended', endedGeneration: 1 });
    expect(status.message).toContain(message);
    expect(steps).toEqual([]);
  });

  it('is a name that no taint can have', () => {
    const { status } = decide(aSequence([a], { name: 's'.repeat(64) }));
    expect(status.message).toContain('at most 63 characters');
  });
});

describe('the begin', () => {
  const nodes = [
    { name: 'n1', group: 'a' },
    { name: 'n2', group: 'b' },
    { name: 'n3', group: 'other' },
  ];
  it('marks every node of every group, and nothing else moves before all are', () => {
    const { status, steps } = decide(aSequence([a, b]), { nodes });
    expect(status).toMatchObject({ phase: 'Rolling', groups: waiting });
    expect(steps).toEqual([
      { kind: 'Mark', nodeName: 'n1' },
      { kind: 'Mark', nodeName: 'n2' },
    ]);
  });
  it.each<[string, NodeGroupUpdateSequenceSpec['groups'], readonly string[]]>([
    ['each after the one before it', [a, b, c], ['a']],
    ['in an order of its own', [{ name: 'a', after: ['c'] }, b, { name: 'c', after: [] }], ['c']],
    ['several at once', [a, { name: 'b', after: [] }, c], ['a', 'b']],
  ])('takes %s', (_, groups, first) => {
    const marked = [...'abc'].map((group) => ({ name: `n${group}`, group, mark: 's' }));
    const { steps } = decide(aSequence(groups), { nodes: marked });
    expect(steps.map((step) => (step.kind === 'Begin' ? step.group.name : ''))).toEqual(first);
  });
  it('notes the name of the update in the write before it is created', () => {
    const { status, steps } = decide(aSequence([a, b]));
    expect(status.groups[0]).toMatchObject({ status: 'Waiting', update: 'a-01234567-1' });
    expect(steps).toEqual([{ kind: 'Begin', group: a, update: 'a-01234567-1' }]);
  });
  it('waits while it is paused, or while another that shares a group has begun', () => {
    const paused = decide(aSequence([a], { spec: { paused: true } }));
    expect(paused).toMatchObject({ status: { phase: 'Pending' }, steps: [] });
    const rival = aSequence([a], { name: 'r', status: { phase: 'Rolling' } });
    const held = decide(aSequence([b, a]), { others: [rival] });
    expect(held.status.message).toContain('waits for sequence r');
    const stranger = aSequence([c], { name: 'r', status: { phase: 'Rolling' } });
    expect(decide(aSequence([b, a]), { others: [stranger] }).status.phase).toBe('Rolling');
  });
});

describe('while it runs', () => {
  const run = (
    groups: readonly SequenceGroupStatus[],
    more: Partial<SequenceObservation> = {},
    spec: Partial<NodeGroupUpdateSequenceSpec> = {},
  ) => decide(aSequence([a, b], { status: { groups }, spec }), more);
  const aRuns = [entry('a', 'InProgress', 'u'), entry('b', 'Waiting')];

  it('waits for an update of another actor', () => {
    const updates = [anUpdate('theirs', 'a', 'InProgress')];
    const { status, steps } = run(waiting, { updates });
    expect(status.message).toBe(
      'a waits for update theirs, which is in progress; 0 of 2 groups done',
    );
    expect(steps).toEqual([]);
  });
  it('creates what it had noted and not created, though another update came in between', () => {
    const updates = [anUpdate('theirs', 'a', 'InProgress')];
    const { steps } = run([entry('a', 'Waiting', 'u'), entry('b', 'Waiting')], { updates });
    expect(steps).toEqual([{ kind: 'Begin', group: a, update: 'u' }]);
  });
  it('takes the mark off nodes of groups that are done, and begins the next', () => {
    const nodes = [
      { name: 'n1', group: 'a', mark: 's' },
      { name: 'n2', group: 'b', mark: 's' },
    ];
    const { status, steps } = run(aRuns, { updates: [anUpdate('u', 'a', 'Successful')], nodes });
    expect(status.progress).toEqual({ done: 1, total: 2 });
    expect(steps).toEqual([
      { kind: 'Unmark', nodeName: 'n1' },
      { kind: 'Begin', group: b, update: 'b-01234567-1' },
    ]);
  });
  it('marks nodes that join a group whose turn has not come, not new ones of one that runs', () => {
    const nodes = [
      { name: 'n1', group: 'a' },
      { name: 'n2', group: 'b' },
    ];
    const { steps } = run(aRuns, { updates: [anUpdate('u', 'a', 'InProgress')], nodes });
    expect(steps).toEqual([{ kind: 'Mark', nodeName: 'n2' }]);
  });
  it.each([
    ['fails', [anUpdate('u', 'a', 'Failed')], 'Failed', 'a: Failed (update u): u says why'],
    ['is stopped', [anUpdate('u', 'a', 'Cancelled')], 'Cancelled', 'a: Cancelled (update u)'],
    ['was deleted', [], 'Failed', 'update u was deleted'],
  ])('takes all marks off and ends when an update %s', (_, updates, ending, message) => {
    const nodes = [{ name: 'n2', group: 'b', mark: 's' }];
    const first = run(aRuns, { updates, nodes });
    expect(first.status).toMatchObject({ status: 'InProgress', phase: 'Restoring', ending });
    expect(first.status.message).toContain(message);
    expect(first.status.message).toContain('not begun: b');
    expect(first.steps).toEqual([{ kind: 'Unmark', nodeName: 'n2' }]);
    const then = decide(aSequence([a, b], { status: first.status }), { updates });
    expect(then.status).toMatchObject({ status: ending, phase: 'Ended' });
    expect(then.steps).toEqual([]);
  });
  it('repeats no more of what an update says than a status has room for', () => {
    const failed = anUpdate('u', 'a', 'Failed');
    const errors = [{ code: 'c', message: 'm'.repeat(4000), resourceIds: [] }];
    const updates = [{ ...failed, status: { status: 'Failed', errors } as const }];
    const { status } = run(aRuns, { updates });
    expect(status.groups[0]?.message).toHaveLength(240);
    expect(JSON.stringify(status).length).toBeLessThan(2000);
  });
  it('lets what runs beside a failed one come to its end first, and keeps its marks until then', () => {
    const both = [entry('a', 'InProgress', 'u'), entry('b', 'InProgress', 'v')];
    const updates = [anUpdate('u', 'a', 'Failed'), anUpdate('v', 'b', 'InProgress')];
    const nodes = [{ name: 'n2', group: 'b', mark: 's' }];
    const { status, steps } = run(both, { updates, nodes });
    expect(status).toMatchObject({ status: 'InProgress', phase: 'Rolling' });
    expect(steps).toEqual([]);
  });
  it('ends when a group whose turn has not come was deleted', () => {
    const { status } = run(waiting, { groups: new Set(['a']) });
    expect(status).toMatchObject({ status: 'Failed' });
    expect(status.message).toContain('node group b was deleted');
  });
  it('ends as Failed when the update that runs is deleted, which stops that first', () => {
    const one = anUpdate('u', 'a', 'Cancelled');
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const updates = [{ ...one, metadata: { ...one.metadata, deletionTimestamp } }];
    const { status } = run(aRuns, { updates });
    expect(status).toMatchObject({ status: 'Failed' });
    expect(status.message).toContain('update u was deleted');
  });
  it('passes a pause on, and takes back only its own', () => {
    const ours = { paused: true, annotations: { 'drover.dev/paused-by-sequence': 's' } };
    const on = [{ kind: 'Pause', update: 'u' }];
    const paused = { paused: true };
    expect(run(aRuns, { updates: [anUpdate('u', 'a', 'InProgress')] }, paused).steps).toEqual(on);
    const back = run(aRuns, { updates: [anUpdate('u', 'a', 'InProgress', ours)] });
    expect(back.steps).toEqual([{ kind: 'Resume', update: 'u' }]);
    const theirs = run(aRuns, { updates: [anUpdate('u', 'a', 'InProgress', paused)] });
    expect(theirs.steps).toEqual([]);
  });
  it('asks what runs to stop when it is aborted, and begins nothing that it had noted', () => {
    const updates = [anUpdate('u', 'a', 'InProgress')];
    const abort = { abort: 'Stop' } as const;
    expect(run(aRuns, { updates }, abort).steps).toEqual([{ kind: 'Abort', update: 'u' }]);
    const noted = run([entry('a', 'Waiting', 'u'), entry('b', 'Waiting')], {}, abort);
    expect(noted).toMatchObject({ status: { status: 'Cancelled' }, steps: [] });
  });
});

describe('after its end', () => {
  const failed = {
    status: 'Failed',
    phase: 'Ended',
    endedGeneration: 1,
    groups: [entry('a', 'Successful', 'u'), entry('b', 'Failed', 'v')],
  } as const;

  it('does nothing, but for marks that are left', () => {
    const nodes = [{ name: 'n1', mark: 's' }];
    const { status, steps } = decide(aSequence([a, b], { status: failed }), { nodes });
    expect(status.status).toBe('Failed');
    expect(steps).toEqual([{ kind: 'Unmark', nodeName: 'n1' }]);
  });
  it('continues with the same object when its spec was changed, with a further attempt', () => {
    const again = aSequence([a, b], { status: failed, generation: 2, spec: { resume: 'x' } });
    const { status, steps } = decide(again, { updates: [anUpdate('v', 'b', 'Failed')] });
    expect(status).toMatchObject({ status: 'InProgress', progress: { done: 1, total: 2 } });
    expect(status.endedAt).toBeUndefined();
    expect(steps).toEqual([{ kind: 'Begin', group: b, update: 'b-01234567-2' }]);
  });
  it('does not continue because it is paused; it does when that is reverted', () => {
    const paused = aSequence([a, b], { status: failed, generation: 2, spec: { paused: true } });
    expect(decide(paused).status).toEqual(paused.status);
    const back = aSequence([a, b], { status: failed, generation: 3, spec: { paused: false } });
    expect(decide(back).status.status).toBe('InProgress');
  });
  it.each([
    ['Successful', {}],
    ['Cancelled', { abort: 'Stop' }],
  ] as const)('stays %s whatever is changed', (status, spec) => {
    const over = aSequence([a], { status: { ...failed, status }, generation: 2, spec });
    expect(decide(over).status).toMatchObject({ status, phase: 'Ended' });
  });
  it('is let go when it is deleted and no mark is left', () => {
    const sequence = aSequence([a], { status: { groups: waiting } });
    const metadata = { ...sequence.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    const gone = { ...sequence, metadata };
    const nodes = [{ name: 'n1', mark: 's' }];
    expect(decide(gone, { nodes }).steps).toEqual([{ kind: 'Unmark', nodeName: 'n1' }]);
    expect(decide(gone).steps).toEqual([{ kind: 'Release' }]);
  });
});
