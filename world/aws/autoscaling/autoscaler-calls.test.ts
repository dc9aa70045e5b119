// The calls that cluster-autoscaler makes at its start, and those that it repeats each minute.
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  aGroup,
  aTestWorld,
  type TestWorld,
} from '../../../test/builders/world-aws.ts';

const enabled = 'k8s.io/cluster-autoscaler/enabled';
const owned = 'k8s.io/cluster-autoscaler/ironman-2022';

const tag = (world: TestWorld, group: string, Key: string, Value: string): void => {
  const of = { ResourceId: group, ResourceType: 'auto-scaling-group', PropagateAtLaunch: true };
  world.call('autoscaling', 'CreateOrUpdateTags', { Tags: [{ ...of, Key, Value }] });
};
const groups = (world: TestWorld, input: Readonly<Record<string, unknown>>): readonly unknown[] =>
  (world.call('autoscaling', 'DescribeAutoScalingGroups', input).AutoScalingGroups ?? []).map(
    (one) => one.AutoScalingGroupName,
  );

const begin = (): TestWorld => {
  const world = aTestWorld();
  for (const name of ['a', 'b', 'c']) aGroup(world, { name, desired: 1 });
  for (const name of ['a', 'b']) tag(world, name, enabled, 'true');
  tag(world, 'a', owned, 'owned');
  tag(world, 'b', owned, 'shared');
  world.advance(60);
  return world;
};

describe('cluster-autoscaler', () => {
  it('learns vCPU, memory, accelerators and architecture of every instance type', () => {
    const types = begin().call('ec2', 'DescribeInstanceTypes', {}).InstanceTypes ?? [];
    const named = (name: string) => types.find((one) => String(one.InstanceType) === name);
    expect(named('m5.large')).toMatchObject({
      VCpuInfo: { DefaultVCpus: 2 },
      MemoryInfo: { SizeInMiB: 8192 },
      ProcessorInfo: { SupportedArchitectures: ['x86_64'] },
    });
    expect(named('g4dn.xlarge')?.GpuInfo?.Gpus?.[0]).toMatchObject({ Count: 1 });
  });

  it('finds groups by name, and by tags that all have to match', () => {
    const world = begin();
    expect(groups(world, { AutoScalingGroupNames: ['a', 'c'], MaxRecords: 100 })).toEqual([
      ...['a', 'c'],
    ]);
    const byKey = { Name: 'tag-key', Values: [enabled] };
    expect(groups(world, { Filters: [byKey] })).toEqual(['a', 'b']);
    const byValue = { Name: `tag:${owned}`, Values: ['owned'] };
    expect(groups(world, { Filters: [byKey, byValue] })).toEqual(['a']);
    const either = { Name: `tag:${owned}`, Values: ['owned', 'shared'] };
    expect(groups(world, { Filters: [byKey, either] })).toEqual(['a', 'b']);
    expect(groups(world, { Filters: [{ Name: 'tag-key', Values: ['none'] }] })).toEqual([]);
  });

  it('pages through groups', () => {
    const world = begin();
    const page = (NextToken?: unknown): Answer =>
      world.call('autoscaling', 'DescribeAutoScalingGroups', { MaxRecords: 2, NextToken });
    const first = page();
    expect(first.AutoScalingGroups).toHaveLength(2);
    const second = page(first.NextToken);
    expect(second.AutoScalingGroups).toHaveLength(1);
    expect(second.NextToken).toBeUndefined();
  });

  it('sees why a launch failed where a group has fewer instances than desired', () => {
    const world = begin();
    world.faults.inject('no-capacity', { group: 'a' });
    world.call('autoscaling', 'SetDesiredCapacity', {
      AutoScalingGroupName: 'a',
      DesiredCapacity: 2,
    });
    world.advance(30);
    const [latest] =
      world.call('autoscaling', 'DescribeScalingActivities', { AutoScalingGroupName: 'a' })
        .Activities ?? [];
    expect(latest).toMatchObject({ StatusCode: 'Failed' });
    expect(String(latest?.StatusMessage)).toMatch(/sufficient .*capacity/);
  });

  it('reads the template of a group by name and version, and finds no launch configuration', () => {
    const world = begin();
    const versions = (Versions: readonly string[]): Answer =>
      world.call('ec2', 'DescribeLaunchTemplateVersions', {
        LaunchTemplateName: 'a-template',
        Versions,
      });
    for (const version of ['1', '$Latest', '$Default']) {
      expect(versions([version]).LaunchTemplateVersions).toMatchObject([
        { VersionNumber: 1, LaunchTemplateData: { InstanceType: 'm5.large' } },
      ]);
    }
    const LaunchConfigurationNames = ['none'];
    const input = { LaunchConfigurationNames, MaxRecords: 50 };
    const found = world.call('autoscaling', 'DescribeLaunchConfigurations', input);
    expect(found.LaunchConfigurations).toEqual([]);
  });

  it('terminates an instance and decrements the size', () => {
    const world = begin();
    const [InstanceId = ''] = Object.keys(world.states('a'));
    const answer = world.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId,
      ShouldDecrementDesiredCapacity: true,
    });
    expect(answer.Activity).toMatchObject({ AutoScalingGroupName: 'a', StatusCode: 'InProgress' });
    world.advance(60);
    const input = { AutoScalingGroupNames: ['a'] };
    const [group] =
      world.call('autoscaling', 'DescribeAutoScalingGroups', input).AutoScalingGroups ?? [];
    expect(group).toMatchObject({ DesiredCapacity: 0, Instances: [] });
  });
});
