// A group that is missing from an answer of the cloud, and the revision of an adopted one, in
// virtual time.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../../../test/builders/controllers.ts';
import { resourceTypes } from '../../../api/kube.ts';
import { type NodeGroup, nodeGroupFinalizer } from '../../../api/nodegroup.ts';
import { updateFinalizer } from '../../../api/nodegroup-update.ts';
import { createNodeGroupController } from '../index.ts';

const { nodegroups, nodegroupupdates } = resourceTypes;
const instances = [{ instanceId: anInstance(1) }];
const launchTemplate = { id: 'lt-1', name: 'mine', version: '3' };

const setUp = async () => {
  const it = setUpControllers();
  const { kube, cloud, clock } = it;
  const scaling = { minSize: 0, maxSize: 10, desired: 1 };
  kube.put(nodegroups, { name: 'ng', spec: aGroupSpec({ scaling, launchTemplate }) });
  const hold = (type: typeof nodegroups, name: string, finalizer: string) =>
    kube.patch(type, { name }, { type: 'merge', body: { metadata: { finalizers: [finalizer] } } });
  await hold(nodegroups, 'ng', nodeGroupFinalizer);
  const spec = { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} };
  kube.put(nodegroupupdates, {
    name: 'u',
    spec,
    status: { status: 'InProgress', phase: 'Rolling' },
  });
  await hold(nodegroupupdates, 'u', updateFinalizer);
  cloud.putGroup('asg-1', { instances });
  it.putNode('n1', { instanceId: anInstance(1) });
  await it.startInformers();
  createNodeGroupController({ ...it, compat: 'eks' }).run(it.stop.signal);
  await clock.settle();
  await clock.advance(30_000);
  const held = () => kube.peek(nodegroupupdates, 'u')?.metadata.finalizers;
  return { ...it, held };
};

describe('an Auto Scaling group that is missing from an answer', () => {
  it('is not gone with the first: an update that is being deleted is still reverted', async () => {
    const { kube, cloud, clock, held } = await setUp();
    cloud.dropGroup('asg-1');
    const body = { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z' } };
    await kube.patch(nodegroupupdates, { name: 'u' }, { type: 'merge', body });
    await clock.advance(20_000);
    cloud.putGroup('asg-1', { instances });
    await clock.advance(120_000);
    expect(held()).toEqual([updateFinalizer]);
    cloud.dropGroup('asg-1');
    await clock.advance(50_000);
    expect(held()).toEqual([updateFinalizer]);
    await clock.advance(60_000);
    expect(held()).toEqual([]);
  });
});

const aLoneGroup = async (desired: number, found: 'found' | 'not found' = 'found') => {
  const it = setUpControllers();
  const { kube, cloud, clock } = it;
  const scaling = { minSize: 0, maxSize: 10, desired };
  const spec = aGroupSpec({ scaling, deletionPolicy: 'Delete' });
  kube.put(nodegroups, { name: 'ng', spec });
  const put = (): void => cloud.putGroup('asg-1', { instances: instances.slice(0, desired) });
  if (found === 'found') put();
  it.putNode('n1', { instanceId: anInstance(1) });
  await it.startInformers();
  createNodeGroupController({ ...it, compat: 'eks' }).run(it.stop.signal);
  await clock.settle();
  await clock.advance(30_000);
  const group = () => kube.peek(nodegroups, 'ng') as NodeGroup | undefined;
  const held = () => group()?.metadata.finalizers?.includes(nodeGroupFinalizer) === true;
  const deletedNow = () => {
    const deletionTimestamp = new Date(clock.now()).toISOString();
    const body = { metadata: { deletionTimestamp } };
    return kube.patch(nodegroups, { name: 'ng' }, { type: 'merge', body });
  };
  return { ...it, put, group, held, deletedNow };
};

describe('what is told of an Auto Scaling group that is missing', () => {
  it('stays for a minute as it was last seen', async () => {
    const { cloud, clock, group, put } = await aLoneGroup(1);
    const before = group()?.status;
    expect(before).toMatchObject({ state: 'ACTIVE', instances: 1, ready: 1, health: [] });
    cloud.dropGroup('asg-1');
    await clock.advance(50_000);
    expect(group()?.status).toEqual(before);
    put();
    await clock.advance(30_000);
    // The time without the group starts again with the next answer.
    cloud.dropGroup('asg-1');
    await clock.advance(50_000);
    expect(group()?.status).toEqual(before);
    await clock.advance(40_000);
    const health = [{ code: 'AutoScalingGroupNotFound' }];
    expect(group()?.status).toMatchObject({ state: 'DEGRADED', instances: 0, health });
  });

  it('is reported at once where no answer ever had it', async () => {
    const { group } = await aLoneGroup(1, 'not found');
    expect(group()?.status?.health).toMatchObject([{ code: 'AutoScalingGroupNotFound' }]);
  });
});

describe('a group that is deleted while its Auto Scaling group is missing from an answer', () => {
  it('stays, and is drained when the next one has it', async () => {
    const { kube, cloud, clock, group, held, put, deletedNow, disruptions } = await aLoneGroup(1);
    cloud.dropGroup('asg-1');
    await deletedNow();
    await clock.advance(20_000);
    expect(held()).toBe(true);
    put();
    await clock.advance(20_000);
    expect(held()).toBe(true);
    expect(group()?.status).toMatchObject({ state: 'DELETING', instances: 1 });
    expect(disruptions.list()).toHaveLength(1);
    expect(kube.peek(resourceTypes.nodes, 'n1')).toBeDefined();
  });

  it('is gone after a minute of such answers', async () => {
    const { cloud, clock, held, deletedNow } = await aLoneGroup(1);
    cloud.dropGroup('asg-1');
    await deletedNow();
    await clock.advance(55_000);
    expect(held()).toBe(true);
    await clock.advance(25_000);
    expect(held()).toBe(false);
  });

  it('takes an empty one along that only the last look before its end misses', async () => {
    const { cloud, clock, held, deletedNow } = await aLoneGroup(0);
    const describeGroups = cloud.describeGroups.bind(cloud);
    let asked = 0;
    // The pass still observes the group; the cleanup reads again and does not find it.
    cloud.describeGroups = async (names) => {
      const found = await describeGroups(names);
      return ++asked === 2 ? [] : found;
    };
    await deletedNow();
    await clock.advance(100);
    expect({ asked, held: held() }).toEqual({ asked: 2, held: true });
    await clock.advance(20_000);
    expect(held()).toBe(false);
    expect(await describeGroups(['asg-1'])).toEqual([]);
  });
});

describe('a group that is deleted', () => {
  it('goes at once when its Auto Scaling group is empty', async () => {
    const { clock, held, deletedNow } = await aLoneGroup(0);
    await deletedNow();
    await clock.advance(5_000);
    expect(held()).toBe(false);
  });

  it('goes at once when none was ever made', async () => {
    const { clock, held, deletedNow } = await aLoneGroup(1, 'not found');
    await deletedNow();
    await clock.advance(5_000);
    expect(held()).toBe(false);
  });
});

it('an adopted group tells the launch template that its spec named', async () => {
  const { kube } = await setUp();
  const group = kube.peek(nodegroups, 'ng') as NodeGroup | undefined;
  expect(group?.status?.launchTemplate).toEqual(launchTemplate);
});
