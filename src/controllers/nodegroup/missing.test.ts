// A group that is missing from an answer of the cloud, and what an adopted one is made of, in virtual time.
import { describe, expect, it } from 'vitest';
import { resourceTypes } from '../../api/kube.ts';
import { type NodeGroup, nodeGroupFinalizer } from '../../api/nodegroup.ts';
import { updateFinalizer } from '../../api/nodegroup-update.ts';
import { aGroupSpec, anInstance, setUpControllers } from '../testing.ts';
import { createNodeGroupController } from './index.ts';

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
  createNodeGroupController({ ...it, isLeader: () => true, compat: 'eks' }).run(it.stop.signal);
  await clock.settle();
  await clock.advance(30_000);
  const held = () => kube.peek(nodegroupupdates, 'u')?.metadata.finalizers;
  return { ...it, held };
};

describe('an Auto Scaling group that is missing from an answer', () => {
  it('is not gone with the first: an update that is being deleted is still taken back', async () => {
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

it('an adopted group tells the launch template that its spec named', async () => {
  const { kube } = await setUp();
  const group = kube.peek(nodegroups, 'ng') as NodeGroup | undefined;
  expect(group?.status?.launchTemplate).toEqual(launchTemplate);
});
