// The input of `drover repair`: the same facts that the repair controller has, also about instances
// without a Node. Refuses a group that is being created or deleted.
import { describe, expect, it } from 'vitest';
import {
  aMember,
  aRepairGroup,
  atMinute,
  idOf,
  timeAt,
} from '../../../test/builders/core-repair.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { KubeApi } from '../../ports/index.ts';
import { observeForRepair, type RepairSources } from './observe.ts';

const nodeOf = (n: number, providerID?: string): Node => {
  const { node } = aMember(n, 60);
  if (node === undefined) throw new Error('a member of the builder has a node');
  const labels = { 'eks.amazonaws.com/nodegroup': 'ng' };
  const spec = providerID === undefined ? node.spec : { ...node.spec, providerID };
  return { ...node, metadata: { ...node.metadata, labels }, spec };
};

/** Members 1 and 2 of the group, of which 2 has no Node, and two nodes without an instance. */
const observe = async (group: NodeGroup) => {
  const nodes = [nodeOf(1), nodeOf(8, 'kind://a'), nodeOf(9, 'kind://b')];
  const asked: (readonly string[])[] = [];
  const kube = {
    get: async () => ({ kind: 'found', object: group }),
    list: async ({ resource }: { readonly resource: string }) => ({
      items: resource === 'nodes' ? nodes : [],
      resourceVersion: '1',
    }),
  } as unknown as KubeApi;
  const instances = [1, 2].map((n) => ({
    instanceId: idOf(n),
    availabilityZone: 'eu-west-1a',
    lifecycleState: 'InService',
  }));
  const cloud = {
    describeGroups: async () => [{ desiredCapacity: 2, instances }],
    describeImpairedInstances: async () => [],
    describeInstances: async (ids: readonly string[]) => {
      asked.push(ids);
      return ids.map((instanceId) => ({ instanceId, launchTime: timeAt(0) }));
    },
  } as unknown as RepairSources['cloud'];
  const { observation } = await observeForRepair({ kube, cloud, now: atMinute(60) }, nodeOf(1));
  return { observation, asked };
};

describe('the observation of drover repair', () => {
  it('has the launch time of a member without a Node, which makes it unhealthy', async () => {
    const { observation, asked } = await observe(aRepairGroup());
    expect(asked).toEqual([[idOf(2)]]);
    expect(observation.members[1]?.health).toMatchObject({
      state: 'Unhealthy',
      findings: [{ reason: 'NeverJoined', since: atMinute(0) }],
    });
  });

  it('has every node of the cluster, also those without an instance', async () => {
    const { observation } = await observe(aRepairGroup());
    expect(observation.cluster).toHaveLength(3);
  });

  it.each([
    ['deleted', (group: NodeGroup) => ({ ...group.metadata, deletionTimestamp: timeAt(50) }), true],
    ['created', (group: NodeGroup) => group.metadata, false],
  ] as const)('is refused while the group is being %s', async (what, metadataOf, isMade) => {
    const group = aRepairGroup();
    const { createdAt, ...rest } = group.status ?? {};
    const status = isMade ? { ...rest, createdAt } : rest;
    const changed = { ...group, metadata: metadataOf(group), status } as NodeGroup;
    await expect(observe(changed)).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(`is being ${what}`),
    });
  });
});
