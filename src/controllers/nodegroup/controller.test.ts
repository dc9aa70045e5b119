// NodeGroups and their Auto Scaling groups stay equal, in virtual time.

import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import { defined } from '../../api/defined.ts';
import { resourceTypes } from '../../api/kube.ts';
import { type NodeGroup, nodeGroupFinalizer } from '../../api/nodegroup.ts';
import { maxCauses } from '../../core/termination/cause-writes.ts';
import { fencedCloud, fencedKube } from '../../runtime/index.ts';
import { createNodeGroupController } from './index.ts';

const type = resourceTypes.nodegroups;
const i1 = anInstance(1);

const setUp = async (desired?: number, isLeader = () => true) => {
  const it = setUpControllers();
  const { kube, cloud } = it;
  const scaling = { minSize: 0, maxSize: 10, ...defined({ desired }) };
  kube.put(type, { name: 'ng', spec: aGroupSpec({ scaling }) });
  const finalizers = { metadata: { finalizers: [nodeGroupFinalizer] } };
  await kube.patch(type, { name: 'ng' }, { type: 'merge', body: finalizers });
  const before = kube.count('patch');
  cloud.putGroup('asg-1', { instances: [{ instanceId: i1 }] });
  it.putNode('n1', { instanceId: i1 });
  await it.startInformers();
  const running = createNodeGroupController({
    ...it,
    kube: fencedKube(kube, isLeader),
    cloud: fencedCloud(cloud, isLeader),
    compat: 'eks',
  }).run(it.stop.signal);
  await it.clock.settle();
  const group = () => kube.peek(type, 'ng') as NodeGroup | undefined;
  const writes = () => kube.count('patch') - before;
  return { ...it, running, group, writes };
};

describe('the node group controller', () => {
  it('writes the status once, and nothing more while nothing changes', async () => {
    const { clock, group, writes, cloud } = await setUp(1);
    expect(group()?.status).toMatchObject({
      observedGeneration: 1,
      state: 'ACTIVE',
      desired: 1,
      ready: 1,
    });
    await clock.advance(600_000);
    expect(writes()).toBe(1);
    expect(cloud.count('describeGroups')).toBeLessThanOrEqual(45);
  });

  it('writes nothing while another leads', async () => {
    const { clock, writes, cloud } = await setUp(1, () => false);
    cloud.putGroup('asg-1', { desiredCapacity: 0, instances: [] });
    await clock.advance(60_000);
    expect(writes()).toBe(0);
  });

  it('lets desired follow the group when a user takes a node away, and never back', async () => {
    const { clock, group, writes, cloud, journal } = await setUp(1);
    cloud.putGroup('asg-1', { desiredCapacity: 0, instances: [] });
    await clock.advance(16_000);
    expect(group()?.spec.scaling.desired).toBe(0);
    expect(group()?.status).toMatchObject({ desired: 0, observedGeneration: 2, perZone: {} });
    expect(group()?.metadata.generation).toBe(2);
    await clock.advance(600_000);
    expect(group()?.spec.scaling.desired).toBe(0);
    expect(writes()).toBe(3);
    expect(journal.types()).toContain('nodegroup:desired:followed');
  });

  it('leaves the field out when it was left out', async () => {
    const { clock, group, cloud } = await setUp();
    cloud.putGroup('asg-1', { desiredCapacity: 0, instances: [] });
    await clock.advance(16_000);
    expect(group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 10 });
    expect(group()?.status?.desired).toBe(0);
  });

  it('carries out a request, and reports that instances are still missing', async () => {
    const { clock, group, kube, cloud } = await setUp(1);
    const body = { spec: { scaling: { desired: 3 } } };
    await kube.patch(type, { name: 'ng' }, { type: 'merge', body });
    await clock.advance(60_000);
    expect(cloud.count('updateGroup')).toBe(1);
    expect(group()?.spec.scaling.desired).toBe(3);
    expect(group()?.status).toMatchObject({ desired: 3, requested: { desired: 3 } });
    const progressing = group()?.status?.conditions?.find((each) => each.type === 'Progressing');
    expect(progressing).toMatchObject({ reason: 'InstancesChanging', observedGeneration: 2 });
  });

  it('says which label no node can have, and continues with the sizes', async () => {
    const { clock, group, kube, cloud } = await setUp(1);
    const body = { spec: { labels: { 'a b': 'c' }, scaling: { desired: 3 } } };
    await kube.patch(type, { name: 'ng' }, { type: 'merge', body });
    await clock.advance(60_000);
    expect(cloud.count('updateGroup')).toBe(1);
    const { status } = group() ?? {};
    expect(status).toMatchObject({ state: 'DEGRADED', desired: 3, observedGeneration: 2 });
    expect(status?.health?.[0]).toMatchObject({
      code: 'KubernetesLabelInvalid',
      message: expect.stringMatching(/^Invalid value: a b : field must consist of/),
    });
    const mended = { spec: { labels: { 'a b': null, team: 'c' } } };
    await kube.patch(type, { name: 'ng' }, { type: 'merge', body: mended });
    await clock.advance(60_000);
    const node = kube.peek(resourceTypes.nodes, 'n1');
    expect(node?.metadata.labels).toMatchObject({ team: 'c' });
    expect(group()?.status).toMatchObject({ nodeLabels: ['team'], health: [] });
  });

  it.each([
    ['Forbidden', 'AccessDenied'],
    ['ServerError', 'Unknown'],
  ] as const)(
    'marks the other nodes when one is refused (%s), says which, and tries it again',
    async (refusal, code) => {
      const { clock, group, kube, cloud, putNode } = await setUp(2);
      const i2 = anInstance(2);
      cloud.putGroup('asg-1', { instances: [{ instanceId: i1 }, { instanceId: i2 }] });
      putNode('n2', { instanceId: i2 });
      await clock.advance(16_000);
      kube.fail('patch', refusal, { name: 'n1', times: Number.POSITIVE_INFINITY });
      const body = { spec: { labels: { team: 'c' }, scaling: { desired: 3 } } };
      await kube.patch(type, { name: 'ng' }, { type: 'merge', body });
      await clock.advance(20_000);
      const labels = (name: string) => kube.peek(resourceTypes.nodes, name)?.metadata.labels;
      expect([labels('n1'), labels('n2')]).toEqual([undefined, { team: 'c' }]);
      expect(group()?.status?.desired).toBe(3);
      expect(group()?.status?.nodeMarks?.owed).toEqual([i1]);
      expect(group()?.status?.health?.[0]).toMatchObject({ code, resourceIds: ['n1'] });
      // A label that an agent removed from the other node meanwhile is not restored.
      const off = { type: 'merge', body: { metadata: { labels: { team: null } } } } as const;
      await kube.patch(resourceTypes.nodes, { name: 'n2' }, off);
      kube.heal();
      await clock.advance(20_000);
      expect([labels('n1'), labels('n2')]).toEqual([{ team: 'c' }, {}]);
      expect(group()?.status?.nodeMarks?.owed).toBeUndefined();
      expect(group()?.status?.health).toEqual([]);
    },
  );

  it('follows a node’s readiness within seconds, and ignores its heartbeats', async () => {
    const { clock, group, putNode, cloud } = await setUp(1);
    await clock.advance(7_000);
    const before = cloud.count('describeGroups');
    putNode('n1', { instanceId: i1 });
    await clock.advance(2_000);
    expect(cloud.count('describeGroups')).toBe(before);
    putNode('n1', { instanceId: i1, ready: false });
    await clock.advance(2_000);
    expect(group()?.status?.ready).toBe(0);
  });

  it('is DEGRADED while the group is missing, and recovers', async () => {
    const { clock, group, cloud } = await setUp(1);
    cloud.dropGroup('asg-1');
    await clock.advance(80_000);
    expect(group()?.status?.state).toBe('DEGRADED');
    cloud.putGroup('asg-1', { instances: [{ instanceId: i1 }] });
    await clock.advance(16_000);
    expect(group()?.status).toMatchObject({ state: 'ACTIVE', health: [], ready: 1 });
    expect(group()?.spec.scaling.desired).toBe(1);
  });

  it.each([
    ['a request', 1],
    ['a status', undefined],
  ])('does not overwrite what it has not seen: %s', async (_, desired) => {
    const { clock, group, kube, cloud } = await setUp(desired);
    kube.silent = true;
    const body = { spec: { scaling: { desired: 3 } } };
    await kube.patch(type, { name: 'ng' }, { type: 'merge', body });
    cloud.putGroup('asg-1', { desiredCapacity: 2, instances: [{ instanceId: i1 }] });
    await clock.advance(60_000);
    expect([group()?.spec.scaling.desired, group()?.status?.desired]).toEqual([3, 1]);
    kube.silent = false;
    kube.closeWatches();
    await clock.advance(60_000);
    // The request that the controller had not observed is carried out. The change from outside is
    // not mistaken for a request.
    expect(group()?.status?.desired).toBe(3);
  });

  it('writes nothing again before it has seen its own write', async () => {
    const { clock, kube, cloud, writes } = await setUp();
    kube.silent = true;
    cloud.putGroup('asg-1', { desiredCapacity: 2, instances: [{ instanceId: i1 }] });
    await clock.advance(16_000);
    expect(writes()).toBe(2);
    cloud.putGroup('asg-1', { desiredCapacity: 3, instances: [{ instanceId: i1 }] });
    await clock.advance(25_000);
    expect(writes()).toBe(2);
  });

  it('survives failing calls and conflicts', async () => {
    const { clock, group, cloud, kube } = await setUp(1);
    cloud.fail('describeGroups', 'Throttled', 3);
    kube.fail('patch', 'Conflict', { times: 2 });
    cloud.putGroup('asg-1', { desiredCapacity: 0, instances: [] });
    await clock.advance(60_000);
    expect(group()?.spec.scaling.desired).toBe(0);
    expect(group()?.status?.desired).toBe(0);
  });

  it('comes to the same end when it dies between its two writes', async () => {
    const { clock, group, kube, cloud, writes } = await setUp(1);
    // Only the effect of the first write.
    cloud.putGroup('asg-1', { desiredCapacity: 0, instances: [] });
    const body = { spec: { scaling: { desired: 0 } } };
    await kube.patch(type, { name: 'ng' }, { type: 'merge', body });
    await clock.advance(60_000);
    expect(group()?.spec.scaling.desired).toBe(0);
    expect(group()?.status).toMatchObject({ desired: 0, observedGeneration: 2 });
    expect(writes()).toBeLessThanOrEqual(4);
  });

  it('forgets a deleted group and ends when told', async () => {
    const { clock, kube, cloud, stop, running } = await setUp(1);
    kube.remove(type, 'ng');
    await clock.advance(20_000);
    const before = cloud.count('describeGroups');
    await clock.advance(60_000);
    expect(cloud.count('describeGroups')).toBe(before);
    stop.abort(new Error('stop'));
    await clock.settle();
    await running;
    expect(clock.sleeping).toBe(0);
  });

  it('asks another node where the record of the first has no room for a cause', async () => {
    const { clock, cloud, kube, putNode } = await setUp(2);
    const i2 = anInstance(2);
    cloud.putGroup('asg-1', { instances: [{ instanceId: i1 }, { instanceId: i2 }] });
    putNode('n2', { instanceId: i2 });
    const causes = Array.from({ length: maxCauses }, (_, n) => ({
      kind: 'Manual',
      id: `manual/${n}`,
      receivedAt: '2026-01-01T00:00:00Z',
      onDeadline: 'fail',
      followUp: 'Keep',
    }));
    const disruptions = resourceTypes.nodedisruptions;
    kube.put(disruptions, { name: i1, spec: { instanceId: i1, nodeName: 'n1', causes } });
    await clock.advance(16_000);
    const body = { spec: { scaling: { desired: 1 } } };
    await kube.patch(type, { name: 'ng' }, { type: 'merge', body });
    await clock.advance(16_000);
    expect(kube.peek(disruptions, i2)).toMatchObject({ spec: { causes: [{ kind: 'ScaleIn' }] } });
  });
});
