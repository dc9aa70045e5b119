// Which of a group's updates its health still reports, as a table.
import { describe, expect, it } from 'vitest';
import type { NodeGroupUpdate, NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import { turnAfter } from '../records/succession.ts';
import { failedRequestOf, failedUpdateOf } from './failed-update.ts';

const ended = (
  name: string,
  status: NodeGroupUpdateStatus['status'],
  more: {
    readonly type?: 'ConfigUpdate';
    readonly nodeGroup?: string;
    readonly code?: string;
  } = {},
): NodeGroupUpdate => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroupUpdate',
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: {
    nodeGroup: more.nodeGroup ?? 'ng',
    type: more.type ?? 'VersionUpdate',
    params: [],
    change: {},
  },
  status: {
    status,
    ...(status === 'InProgress' ? {} : { endedAt: `2026-01-01T00:0${name.at(-1)}:00Z` }),
    ...(status === 'Failed'
      ? { errors: [{ code: more.code ?? 'PodEvictionFailure', message: 'm', resourceIds: ['n'] }] }
      : {}),
  },
});

describe('the update that a group suffers from', () => {
  it.each<readonly [string, readonly NodeGroupUpdate[], string | undefined]>([
    ['none', [], undefined],
    ['a failed one', [ended('u1', 'Failed')], 'u1'],
    ['the last of two', [ended('u2', 'Failed'), ended('u1', 'Failed')], 'u2'],
    ['none after a successful one', [ended('u1', 'Failed'), ended('u2', 'Successful')], undefined],
    ['one after a successful one', [ended('u2', 'Failed'), ended('u1', 'Successful')], 'u2'],
    ['still while the next runs', [ended('u1', 'Failed'), ended('u2', 'InProgress')], 'u1'],
    ['still when the next was stopped', [ended('u1', 'Failed'), ended('u2', 'Cancelled')], 'u1'],
    ['none of another group', [ended('u1', 'Failed', { nodeGroup: 'other' })], undefined],
    ['no configuration', [ended('u1', 'Failed', { type: 'ConfigUpdate' })], undefined],
  ])('is %s', (_, updates, name) => {
    expect(failedUpdateOf(updates, 'ng')?.name).toBe(name);
  });

  it('is reported with its name, in its own code', () => {
    const found = failedUpdateOf([ended('u1', 'Failed', { code: 'OperationNotPermitted' })], 'ng');
    expect(found?.issues).toEqual([
      { code: 'OperationNotPermitted', message: 'Update u1 failed: m', resourceIds: ['n'] },
    ]);
  });
});

describe('a request that failed and was reverted', () => {
  const change = { version: '1.32', releaseVersion: 'r2' };
  const of = (
    name: string,
    second: number,
    status: Partial<NodeGroupUpdateStatus>,
    annotations: Readonly<Record<string, string>> = {},
  ): NodeGroupUpdate => {
    const made = ended(name, 'Failed');
    const creationTimestamp = `2026-01-01T00:00:0${second}Z`;
    const startedAt = creationTimestamp;
    return {
      ...made,
      metadata: { ...made.metadata, creationTimestamp, annotations },
      spec: { ...made.spec, change, ...(name.endsWith('-rollback') ? { action: 'Rollback' } : {}) },
      status: { status: 'Failed', startedAt, ...status },
    };
  };
  const target = { version: '1.32', imageId: 'ami', templateVersion: '2' };
  const failed = of('u', 1, { target, goesBack: 'new nodes failed' });
  const back = of(
    'u-rollback',
    9,
    { target, status: 'Successful' },
    { 'drover.dev/turn': turnAfter(failed) },
  );
  const group = { metadata: { name: 'ng' }, spec: change } as Parameters<typeof failedRequestOf>[1];

  it.each<readonly [string, readonly NodeGroupUpdate[], string | undefined]>([
    ['is none any more', [failed, back], 'u'],
    [
      'nor beside one that was stopped while it waited',
      [failed, back, of('x', 5, { status: 'Cancelled' })],
      'u',
    ],
    ['but where another was tried since', [failed, back, of('x', 5, { target })], undefined],
  ])('%s', (_, updates, name) => {
    expect(failedRequestOf(updates, group)?.name).toBe(name);
  });
});
