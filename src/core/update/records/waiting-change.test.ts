// What a node group reports about a changed spec while updates are in progress, as a table.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../api/defined.ts';
import type { NodeGroup, NodeGroupSpec } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { waitingChangeText } from './waiting-change.ts';

type Asked = Pick<NodeGroupSpec, 'version' | 'releaseVersion' | 'launchTemplate'>;

const known: Asked = { version: '1.32', releaseVersion: '1.32.9-20260905' };
const newer: Asked = { version: '1.32', releaseVersion: '1.32.9-20260919' };

const group = (spec: Asked, deletionTimestamp?: string): NodeGroup =>
  ({
    metadata: { name: 'ng', ...defined({ deletionTimestamp }) },
    spec,
  }) as NodeGroup;

const update = (name: string, more: Partial<NodeGroupUpdate['spec']> = {}): NodeGroupUpdate => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroupUpdate',
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: known, ...more },
  status: { status: 'InProgress' },
});

describe('a spec that asks for another revision while an update runs', () => {
  const template = { id: 'lt-1', version: '2' };
  it.each<readonly [string, Asked, Asked]>([
    ['release 1.32.9-20260919', known, newer],
    ['Kubernetes version 1.33', known, { version: '1.33' }],
    ['the newest release of 1.32', known, { version: '1.32' }],
    [
      'version 2 of launch template lt-1',
      { version: '1.32', launchTemplate: { ...template, version: '1' } },
      { version: '1.32', launchTemplate: template },
    ],
  ])('is reported as a change to %s', (what, before, spec) => {
    const said = waitingChangeText([update('u1')], group(spec), before);
    expect(said).toBe(`A change to ${what} waits for update u1 to end.`);
  });

  it('waits for all that are under way or wait', () => {
    const updates = [update('u2'), update('u1', { type: 'ConfigUpdate', change: {} })];
    expect(waitingChangeText(updates, group(newer), known)).toBe(
      'A change to release 1.32.9-20260919 waits for update u1 and 1 more to end.',
    );
  });

  it('is not told where nothing waits, or an update reports it itself', () => {
    const ended = { ...update('u1'), status: { status: 'Successful' } as const };
    const its = update('u1', { change: newer });
    const others = update('u1', { nodeGroup: 'other' });
    const told = (updates: readonly NodeGroupUpdate[], one = group(newer)) =>
      waitingChangeText(updates, one, known);
    expect(told([update('u1')], group(known))).toBeUndefined();
    expect([told([]), told([ended]), told([its]), told([others])]).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
    expect(told([update('u1')], group(newer, '2026-01-01T00:00:00Z'))).toBeUndefined();
    expect(waitingChangeText([update('u1')], group(newer), undefined)).toBeUndefined();
  });
});
