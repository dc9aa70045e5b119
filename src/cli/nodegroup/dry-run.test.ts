// What a dry run of a delete plans for a group that Drover does not hold, or that it keeps, and
// without some rights to read.
import { describe, expect, it } from 'vitest';
import { aGroup, now } from '../../../test/builders/cli-update.ts';
import { FakeCloud } from '../../../test/builders/controllers-cloud.ts';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import { type NodeGroup, ownerTag } from '../../api/nodegroup.ts';
import { CloudError } from '../../ports/index.ts';
import { plansOfDelete } from './dry-run.ts';

const autoScalingGroupName = 'asg-1';
const managed = { nodeMarks: { applied: 'a' } };
const own = { [ownerTag]: 'uid-ng' };

interface Facts {
  readonly spec?: Partial<NodeGroup['spec']>;
  readonly status?: object;
  /** Absent: the Auto Scaling group does not exist. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly cloud?: (cloud: FakeCloud) => FakeCloud;
}

const setUp = ({ spec, status, tags, cloud: change = (same) => same }: Facts) => {
  const clock = new VirtualClock();
  const cloud = new FakeCloud(clock);
  const kube = new FakeKube(clock);
  const named = aGroup({ autoScalingGroupName, deletionPolicy: 'Delete', ...spec });
  const group = { ...named, status } as unknown as NodeGroup;
  if (tags !== undefined) cloud.putGroup(autoScalingGroupName, { tags, instances });
  return plansOfDelete({ kube, cloud: change(cloud), now }, group);
};
const instances = [{ instanceId: 'i-00000000000000001' }];

const kindsOf = async (facts: Facts): Promise<readonly (readonly string[])[]> => {
  const { now: first, later } = await setUp(facts);
  return [first, later].map((plan) => plan?.steps.map(({ kind }) => kind) ?? []);
};

describe('the dry run of a delete', () => {
  const Retain = { deletionPolicy: 'Retain' } as const;
  it.each<[string, Facts, readonly string[], readonly string[]]>([
    ['lets a group with another owner be', { tags: { [ownerTag]: 'u2' } }, ['EndGroup'], []],
    [
      'does not release a group with another owner',
      { tags: { [ownerTag]: 'u2' }, spec: Retain },
      ['EndGroup'],
      [],
    ],
    ['lets a group be that is not adopted yet', { tags: {} }, ['EndGroup'], []],
    ['does not release such a new group', { tags: {}, spec: Retain }, ['EndGroup'], []],
    ['removes what is left of a retained group', { spec: Retain }, ['EndGroup'], []],
    [
      'releases a group that is held',
      { tags: own, spec: Retain, status: managed },
      ['WriteGroupStatus', 'UntagGroup', 'DisownRole', 'EndRelease'],
      [],
    ],
    [
      'drains a group that is held',
      { tags: own, status: managed },
      ['WriteGroupStatus', 'SuspendProcesses', 'SetSizes'],
      ['DeleteGroup', 'EndGroup'],
    ],
    [
      'tags a managed group again first, and then deletes it',
      { tags: {}, status: managed },
      ['TagGroup', 'WriteGroupStatus', 'SuspendProcesses', 'SetSizes'],
      ['DeleteGroup', 'EndGroup'],
    ],
  ])('%s', async (_, facts, first, later) => {
    const [steps, then] = await kindsOf(facts);
    expect([steps?.filter((kind) => kind !== 'RecordCause'), then]).toEqual([first, later]);
  });

  it('gives way to the older NodeGroup that names the group', async () => {
    const clock = new VirtualClock();
    const [kube, cloud] = [new FakeKube(clock), new FakeCloud(clock)];
    cloud.putGroup(autoScalingGroupName, { tags: {}, instances });
    kube.put(resourceTypes.nodegroups, {
      name: 'first',
      spec: aGroup({ autoScalingGroupName }).spec,
    });
    const made = aGroup({ autoScalingGroupName, deletionPolicy: 'Delete' });
    const metadata = { ...made.metadata, creationTimestamp: '2999-01-01T00:00:00Z' };
    const group = { ...made, metadata, status: managed } as unknown as NodeGroup;
    const plans = await plansOfDelete({ kube, cloud, now }, group);
    expect(plans.now.steps.map(({ kind }) => kind)).toEqual(['EndGroup']);
  });

  it('names the parts that it may not read, and plans the rest', async () => {
    const denied = () => Promise.reject(new CloudError('AccessDenied', 'no'));
    const plans = await setUp({
      spec: { remoteAccess: { ec2SshKey: 'mine' } },
      cloud: (cloud) =>
        Object.assign(cloud, {
          findLaunchTemplate: denied,
          findInstanceProfile: denied,
          findSecurityGroups: denied,
        }),
    });
    expect(plans.now.steps.map(({ kind }) => kind)).toEqual(['EndGroup']);
    expect(plans.unchecked).toEqual(['launch template', 'instance profile', 'security group']);
  });
});
