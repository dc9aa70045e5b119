// Which group `drover explain NAME` means where no node has the name.
import { describe, expect, it } from 'vitest';
import { CloudError } from '../../ports/index.ts';
import type { CliContext, Connection } from '../context.ts';
import { groupMeant } from './nodegroup.ts';

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
