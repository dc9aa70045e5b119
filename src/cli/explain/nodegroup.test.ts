// Which group `drover explain NAME` refers to where no node has the name.
import { describe, expect, it } from 'vitest';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import { CloudError } from '../../ports/index.ts';
import type { CliContext, Connection } from '../context.ts';
import { warningsOf } from './join-evidence.ts';
import { failureLines, groupMeant } from './nodegroup.ts';

const stack = {
  name: 'eksctl-c-nodegroup-own',
  tags: { 'alpha.eksctl.io/nodegroup-name': 'own', 'alpha.eksctl.io/cluster-name': 'c' },
  autoScalingGroupName: 'asg-own',
};
const managed = { metadata: { name: 'ng' }, spec: { clusterName: 'c', instanceTypes: [] } };
const context = (listStacks = async (): Promise<readonly object[]> => [stack]): CliContext =>
  ({
    kube: async () => ({ list: async () => ({ items: [managed] }) }),
    cloud: async () => ({ listStacks }),
  }) as unknown as CliContext;
const meant = (name: string, given = context()) => groupMeant(given, {} as Connection, name);

describe('a name that is no node’s', () => {
  it.each(['ng', 'own', 'ng/own', 'nodegroup/ng'])('%s means the group', async (name) => {
    expect(await meant(name)).toEqual({ name: name.split('/').at(-1) });
  });

  it('means none where no group has it', async () => {
    expect(await meant('ow')).toBeUndefined();
  });

  it('means none of a stack where the stacks are not shown', async () => {
    const refused = () => Promise.reject(new CloudError('AccessDenied', 'no'));
    expect(await meant('own', context(refused))).toBeUndefined();
  });
});

describe('an update of the group that is over', () => {
  const errors = [
    {
      code: 'NodeCreationFailure',
      message: 'A launch in a fails: VcpuLimitExceeded',
      resourceIds: ['a'],
    },
  ];
  const update = (status: string, more: object = {}) =>
    ({
      metadata: { name: `u-${status}` },
      spec: { nodeGroup: 'ng', type: 'VersionUpdate' },
      status: { status, endedAt: '2026-01-01T00:20:00Z', ...more },
    }) as unknown as NodeGroupUpdate;

  it('is explained where it failed: its error, and the remedy that fits', () => {
    expect(failureLines([update('InProgress'), update('Failed', { errors })])).toEqual([
      'update u-Failed failed at 2026-01-01T00:20:00Z:',
      '   NodeCreationFailure: A launch in a fails: VcpuLimitExceeded',
      expect.stringMatching(/remedy: {3}ask for a higher quota/),
    ]);
  });

  it('is not where the newest one succeeded, or none is over', () => {
    expect(failureLines([update('Successful'), update('Failed', { errors })])).toEqual([]);
    expect(failureLines([update('InProgress')])).toEqual([]);
  });
});

describe('a delete that waits', () => {
  it('is explained with what holds it and the remedy, and a group that stays has none', () => {
    const message = 'The delete waits: node n. Held by a/b (budget a/c).';
    const status = { health: [{ code: 'PodEvictionFailure', message, resourceIds: ['n'] }] };
    const group = (metadata: object) =>
      ({ metadata: { name: 'ng', ...metadata }, status }) as unknown as NodeGroup;
    expect(warningsOf(group({}))).toEqual([]);
    expect(warningsOf(group({ deletionTimestamp: '2026-01-01T00:00:00Z' }))).toEqual([
      expect.stringMatching(/^PodEvictionFailure: The delete waits: node n.*; remedy: let the/),
    ]);
  });
});
