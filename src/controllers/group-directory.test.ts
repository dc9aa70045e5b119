// What the directory caches, and when it asks again.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../test/builders/controllers.ts';
import type { ScalingGroup } from '../api/cloud.ts';
import { resourceTypes } from '../api/kube.ts';
import { ownerTag } from '../api/nodegroup.ts';
import { GroupDirectory } from './group-directory.ts';

const setUp = async () => {
  const it = setUpControllers();
  it.kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec() });
  await it.startInformers();
  const uid = it.kube.peek(resourceTypes.nodegroups, 'ng')?.metadata.uid ?? '';
  return { ...it, uid, directory: new GroupDirectory(it), signal: it.stop.signal };
};

describe('the group directory', () => {
  it('does not take an answer that left before the question', async () => {
    const { cloud, clock, directory, uid, signal } = await setUp();
    const answers: ((groups: readonly ScalingGroup[]) => void)[] = [];
    cloud.describeGroups = () => new Promise((resolve) => answers.push(resolve));
    const first = directory.groupOfInstance(anInstance(1), clock.now(), signal);
    await clock.advance(100);
    const second = directory.groupOfInstance(anInstance(1), clock.now(), signal);
    answers[0]?.([]);
    expect(await first).toBeUndefined();
    await clock.settle();
    answers[1]?.([
      {
        name: 'asg-1',
        minSize: 0,
        maxSize: 1,
        desiredCapacity: 1,
        createdAt: '',
        tags: { [ownerTag]: uid },
        instances: [
          {
            instanceId: anInstance(1),
            autoScalingGroupName: 'asg-1',
            availabilityZone: 'a',
            lifecycleState: 'InService',
            instanceType: 't',
            protectedFromScaleIn: false,
          },
        ],
      },
    ]);
    expect(await second).toBe('asg-1');
  });

  it.each([
    ['marked for another NodeGroup', { [ownerTag]: 'another' }],
    ['of another name', { 'eks:nodegroup-name': 'another', 'eks:cluster-name': 'c' }],
    ['not adopted yet', {}],
  ])('knows no instances of a group that is %s', async (_, tags) => {
    const { cloud, clock, directory, uid, signal } = await setUp();
    cloud.putGroup('asg-1', { tags, instances: [{ instanceId: anInstance(1) }] });
    expect(await directory.groupOfInstance(anInstance(1), clock.now(), signal)).toBeUndefined();
    expect(directory.holderOf('asg-1')).toBeUndefined();
    cloud.putGroup('asg-1', {
      tags: { [ownerTag]: uid },
      instances: [{ instanceId: anInstance(1) }],
    });
    await clock.advance(1);
    expect(await directory.groupOfInstance(anInstance(1), clock.now(), signal)).toBe('asg-1');
    expect(directory.holderOf('asg-1')?.metadata.name).toBe('ng');
  });

  it('asks nothing when we manage nothing', async () => {
    const { cloud, kube, clock, directory, signal } = await setUp();
    kube.remove(resourceTypes.nodegroups, 'ng');
    await clock.settle();
    expect(await directory.groupOfInstance(anInstance(1), clock.now(), signal)).toBeUndefined();
    expect(cloud.count('describeGroups')).toBe(0);
  });

  it('asks again for a hook that is missing, for the others after minutes', async () => {
    const { cloud, clock, directory, signal } = await setUp();
    cloud.putHook({ name: 'a', autoScalingGroupName: 'asg-1' });
    const names = async (name: string) =>
      (await directory.hooks('asg-1', signal, name)).map((hook) => hook.name);
    expect(await names('b')).toEqual(['a']);
    cloud.putHook({ name: 'b', autoScalingGroupName: 'asg-1' });
    expect(await names('b')).toEqual(['a']);
    await clock.advance(1_000);
    expect(await names('b')).toEqual(['a', 'b']);
    await clock.advance(200_000);
    await names('a');
    expect(cloud.count('describeHooks')).toBe(2);
    await clock.advance(200_000);
    await names('a');
    expect(cloud.count('describeHooks')).toBe(3);
  });

  it('forgets a failure', async () => {
    const { cloud, clock, directory, signal } = await setUp();
    cloud.fail('describeGroups', 'Throttled');
    cloud.fail('describeHooks', 'Throttled');
    await expect(directory.groups(clock.now(), signal)).rejects.toThrow('Throttled');
    await expect(directory.hooks('asg-1', signal)).rejects.toThrow('Throttled');
    expect((await directory.groups(clock.now(), signal)).size).toBe(0);
    expect(await directory.hooks('asg-1', signal)).toEqual([]);
  });
});
