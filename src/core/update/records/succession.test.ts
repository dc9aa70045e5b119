// The order of a group's updates, as a table: one clock decides, and a running update is not
// overtaken within a second.
import { describe, expect, it } from 'vitest';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { failedUpdateOf } from '../ending/failed-update.ts';
import { updateNameOf } from './identity.ts';
import { inTurn, openInTurn, turnAfter, turnOf } from './succession.ts';

const update = (
  name: string,
  created: string,
  status: Partial<NonNullable<NodeGroupUpdate['status']>> = {},
): NodeGroupUpdate => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroupUpdate',
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: `2026-01-01T${created}Z` },
  spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} },
  status: { status: 'InProgress', ...status },
});

/** `of`: the update that it rolls back automatically; undefined: requested by a user. */
const rollback = (
  name: string,
  created: string,
  of?: NodeGroupUpdate,
  status: Partial<NonNullable<NodeGroupUpdate['status']>> = {},
): NodeGroupUpdate => {
  const made = update(name, created, status);
  const annotations = of === undefined ? {} : { 'drover.dev/turn': turnAfter(of) };
  return {
    ...made,
    metadata: { ...made.metadata, annotations },
    spec: { ...made.spec, action: 'Rollback' },
  };
};

const at = (time: string): string => `2026-01-01T${time}Z`;

const first = update('first', '00:00:01', { startedAt: at('00:00:03') });

describe('updates of a group', () => {
  it.each<readonly [string, readonly NodeGroupUpdate[]]>([
    ['as they were created', [update('b', '00:00:01'), update('a', '00:00:02')]],
    [
      'whatever the clocks of two leaders said of their begins',
      [
        update('first', '00:00:10', { startedAt: at('00:00:55') }),
        update('next', '00:00:25', { startedAt: at('00:00:25') }),
      ],
    ],
    [
      'within a second the one that has begun first, whatever its name',
      [update('z', '00:00:01', { startedAt: at('00:00:01') }), update('a', '00:00:01')],
    ],
    [
      'within a second as they began',
      [
        update('z', '00:00:01', { startedAt: at('00:00:01.100') }),
        update('a', '00:00:01', { startedAt: at('00:00:01.200') }),
      ],
    ],
    [
      'and a rollback right after what it takes back, before those that waited',
      [
        first,
        rollback('first-rollback', '00:00:09', first),
        update('a', '00:00:01'),
        update('b', '00:00:05'),
      ],
    ],
    [
      'and a rollback after what it takes back, whatever a clock said of its begin',
      [
        first,
        rollback('first-rollback', '00:00:09', first, { startedAt: at('00:00:02') }),
        update('a', '00:00:01', { startedAt: at('00:00:05') }),
      ],
    ],
    [
      'and a rollback that somebody asks for when it was created',
      [update('b', '00:00:05'), rollback('a-rollback', '00:00:09')],
    ],
    [
      'within a second as they ended, where they never began',
      [
        update('z', '00:00:01', { status: 'Cancelled', endedAt: at('00:00:01.100') }),
        update('a', '00:00:01', { status: 'Cancelled', endedAt: at('00:00:01.200') }),
      ],
    ],
    ['by name where nothing else tells', [update('a', '00:00:01'), update('b', '00:00:01')]],
  ])('have their turn %s', (_, expected) => {
    const names = (updates: readonly NodeGroupUpdate[]) => updates.map((one) => one.metadata.name);
    expect(names(expected.toSorted(inTurn))).toEqual(names(expected));
    expect(names(expected.toReversed().toSorted(inTurn))).toEqual(names(expected));
    const [one, ...others] = expected;
    expect(names([...others, ...(one ? [one] : [])].toSorted(inTurn))).toEqual(names(expected));
  });
});

describe('the turn of an update', () => {
  it('stays from its begin to its end', () => {
    const ended = { startedAt: at('00:00:03'), endedAt: at('00:09:00') };
    expect(turnOf(update('first', '00:00:01', ended))).toBe(turnOf(first));
  });
});

describe('the open ones of a group', () => {
  const group = {
    metadata: { name: 'ng', uid: 'u', resourceVersion: '1', creationTimestamp: at('00:00:00') },
  };
  const waits = update('waits', '00:00:05');
  const made = update('made-once-more', '00:00:09');
  const over = update('over', '00:00:01', { status: 'Successful' });
  const named = (noted?: string) => {
    const status = noted === undefined ? {} : { status: { updating: { name: noted } } as never };
    return openInTurn([made, over, waits], { ...group, ...status }).map(
      ({ metadata }) => metadata.name,
    );
  };

  it('go in turn, the one that the group reports first', () => {
    expect(named()).toEqual(['waits', 'made-once-more']);
    expect(named('made-once-more')).toEqual(['made-once-more', 'waits']);
    expect(named('over')).toEqual(['waits', 'made-once-more']);
  });
});

describe('where the first leader’s clock is ahead', () => {
  const failed = update('z-first', '00:00:10', { status: 'Failed', endedAt: at('00:00:55') });
  const good = update('next', '00:00:25', { status: 'Successful', endedAt: at('00:00:30') });

  it('a later success still ends what a group suffered from', () => {
    expect(failedUpdateOf([good, failed], 'ng')).toBeUndefined();
  });

  it('the same request after it is another one', () => {
    const group = {
      metadata: { name: 'ng', uid: 'u' },
      spec: {
        clusterName: 'c',
        amiType: 'AL2023_x86_64_STANDARD',
        capacityType: 'ON_DEMAND' as const,
        instanceTypes: ['m5.large'],
        version: '1.32',
        nodeRole: 'r',
        subnets: ['s'],
        scaling: { minSize: 0, maxSize: 1 },
      },
    };
    const change = { releaseVersion: '1.32.9-20260101' };
    const named = (updates: readonly NodeGroupUpdate[]) => updateNameOf(group, { change }, updates);
    expect(named([failed, good])).not.toBe(named([failed]));
  });
});
