// Nodes in a small real world: readiness, taints, silent kubelets, termination of the instance.
import { describe, expect, it } from 'vitest';
import { asNode, conditionOf, resources } from '../actors/index.ts';
import { aDeployment, aMachine, SmallWorld } from './small-world.ts';

const readyOf = (world: SmallWorld, name: string) =>
  conditionOf(world.node(name).status?.conditions, 'Ready');

const cordon = (world: SmallWorld, unschedulable: boolean | null): void => {
  world.must(
    world.admin.patch(
      resources.nodes,
      { name: 'n1' },
      { type: 'strategic', body: { spec: { unschedulable } } },
    ),
  );
};

const taintsOf = (world: SmallWorld, name: string): string[] =>
  (world.node(name).spec?.taints ?? []).map((taint) => `${taint.key}:${taint.effect}`);

describe('the node lifecycle', () => {
  it('follows a cordon with its taint within milliseconds, and an uncordon too', () => {
    const world = new SmallWorld();
    world.ready(1);
    cordon(world, true);
    expect(taintsOf(world, 'n1')).toEqual([]);
    world.advance(0.01);
    expect(taintsOf(world, 'n1')).toEqual(['node.kubernetes.io/unschedulable:NoSchedule']);
    cordon(world, null);
    world.advance(0.01);
    expect(taintsOf(world, 'n1')).toEqual([]);
  });

  it('keeps the taints of others', () => {
    const world = new SmallWorld();
    world.start(aMachine(1, { nodeTaints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }] }));
    world.advance(10);
    expect(taintsOf(world, 'n1')).toEqual(['team:NoSchedule']);
    cordon(world, true);
    world.advance(0.01);
    expect(taintsOf(world, 'n1')).toContain('team:NoSchedule');
  });

  it('finds a node not ready 49 to 53 s after its kubelet stopped, and ready again after', () => {
    const world = new SmallWorld();
    world.ready(2);
    world.advance(33.7);
    world.faults.inject('kubelet-stop', { node: 'n1' });
    const seconds = world.until(70, () => readyOf(world, 'n1')?.status === 'Unknown');
    expect(seconds).toBeGreaterThan(49);
    expect(seconds).toBeLessThan(53);
    expect(readyOf(world, 'n1')).toMatchObject({
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
    });
    expect(readyOf(world, 'n2')?.status).toBe('True');
    world.advance(0.1);
    expect(taintsOf(world, 'n1')).toEqual([
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ]);
    world.faults.clear('kubelet-stop');
    world.until(5, () => readyOf(world, 'n1')?.status === 'True');
    world.advance(0.1);
    expect(taintsOf(world, 'n1')).toEqual([]);
  });

  it('judges a node that no kubelet of the world runs by its lease and status', () => {
    const world = new SmallWorld();
    world.must(
      world.admin.create(resources.nodes, undefined, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'foreign' },
      }),
    );
    world.advance(55);
    expect(readyOf(world, 'foreign')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
    });
  });

  it('replaces the pods of a silent node after 300 s', () => {
    const world = new SmallWorld();
    world.ready(2);
    world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 4)));
    world.until(30, () => world.readyPods().length === 4);
    const on = world.readyPods().filter((pod) => pod.spec.nodeName === 'n1').length;
    expect(on).toBe(2);
    world.faults.inject('kubelet-stop', { node: 'n1' });
    world.until(60, () => world.readyPods().length === 2);
    const seconds = world.until(400, () => world.readyPods().length === 4);
    expect(seconds).toBeGreaterThan(299);
    expect(seconds).toBeLessThan(306);
    const stuck = world.pods().filter((pod) => pod.metadata.deletionTimestamp !== undefined);
    expect(stuck).toHaveLength(on);
    expect(conditionOf(stuck[0]?.status?.conditions, 'DisruptionTarget')?.reason).toBe(
      'DeletionByTaintManager',
    );
  });
});

describe('the cloud node lifecycle', () => {
  it('deletes the node soon after its instance is terminated', () => {
    const world = new SmallWorld();
    world.ready(2);
    const { instanceId } = aMachine(1);
    world.kubelets.powerOff(instanceId);
    world.cloud.states.set(instanceId, 'shutting-down');
    world.advance(6);
    expect(world.kube.read(resources.nodes, { name: 'n1' })).toBeDefined();
    world.cloud.states.set(instanceId, 'terminated');
    const gone = (): boolean => world.kube.read(resources.nodes, { name: 'n1' }) === undefined;
    expect(world.until(10, gone)).toBeLessThanOrEqual(5);
    expect(
      [...world.kube.readAll(resources.nodes)].map((node) => asNode(node).metadata.name),
    ).toEqual(['n2']);
  });

  it('taints a node whose instance is stopped, until its kubelet is Ready again', () => {
    const world = new SmallWorld();
    world.ready(1);
    const { instanceId } = aMachine(1);
    world.kubelets.powerOff(instanceId);
    world.cloud.states.set(instanceId, 'stopped');
    world.advance(6);
    expect(taintsOf(world, 'n1')).toContain('node.cloudprovider.kubernetes.io/shutdown:NoSchedule');
    world.cloud.states.set(instanceId, 'running');
    world.kubelets.powerOn(aMachine(1));
    world.advance(60);
    expect(taintsOf(world, 'n1')).toEqual([]);
  });
});
