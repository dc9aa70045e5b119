// Causes that are not mandatory yet, with the complete control plane. Rebalance recommendations and
// scheduled maintenance wait for their turn in the group's ledger and for a replacement.
import { describe, expect, it } from 'vitest';
import { marks, type NodeDisruption } from '../../src/api/disruption.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { explainDisruption } from '../../src/core/explain/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { runApp } from '../support/update-world.ts';

const instanceOf = (node: JsonObject): string =>
  String(objectOr(node.spec).providerID).split('/').at(-1) ?? '';
const nodeNamed = (life: GroupLife, name: string): JsonObject | undefined =>
  life.nodes().find(({ metadata }) => objectOr(metadata).name === name);
const isMarked = (node: JsonObject | undefined): boolean =>
  objectOr(objectOr(node?.metadata).labels)[marks.excludeFromLoadBalancers] !== undefined;
const isReady = ({ status }: JsonObject): boolean =>
  JSON.stringify(objectOr(status).conditions).includes('"type":"Ready","status":"True"') ||
  (objectOr(status).conditions as readonly JsonObject[]).some(
    ({ type, status: value }) => type === 'Ready' && value === 'True',
  );
const inService = (life: GroupLife): number =>
  life.nodes().filter((node) => isReady(node) && !isMarked(node)).length;
const disruption = (life: GroupLife, name: string): (JsonObject & NodeDisruption) | undefined =>
  life.world.kube.read(resourceTypes.nodedisruptions, { name }) as
    | (JsonObject & NodeDisruption)
    | undefined;
const explained = (life: GroupLife, name: string): string => {
  const one = disruption(life, name);
  return one === undefined ? '' : explainDisruption(one).join('\n');
};

const begin = async (size: number, more: JsonObject = {}): Promise<GroupLife> => {
  const life = await GroupLife.begin({ hasEvents: true });
  await life.create({
    capacityType: 'SPOT',
    scalingConfig: { minSize: 0, maxSize: size + 2, desiredSize: size },
    ...more,
  });
  await life.until('the group is ACTIVE', () => life.isActive(size), 1800);
  await runApp(life, size, 1);
  return life;
};
/** The first node of the group and its instance. */
const firstOf = (life: GroupLife): { readonly node: string; readonly instanceId: string } => {
  const [node] = life.nodes();
  if (node === undefined) throw new Error('the group has no node');
  return { node: String(objectOr(node.metadata).name), instanceId: instanceOf(node) };
};
const groupName = (life: GroupLife): string =>
  String(life.autoScalingGroups()[0]?.AutoScalingGroupName);
/** Calls `look` after each second. */
const watch = async (life: GroupLife, seconds: number, look: () => void): Promise<void> => {
  for (let i = 0; i < seconds; i++) {
    await life.driver.advance(1);
    look();
  }
};

describe('a rebalance recommendation', () => {
  it('drains once the replacement is Ready, and the group keeps its size in service', async () => {
    const life = await begin(2);
    const { node, instanceId } = firstOf(life);
    life.world.aws.recommendRebalance(instanceId);
    let least = 9;
    await watch(life, 240, () => {
      least = Math.min(least, inService(life));
    });
    expect(least).toBe(2);
    expect(nodeNamed(life, node)).toBeUndefined();
    expect(life.nodes()).toHaveLength(2);
    expect(disruption(life, instanceId)?.status?.phase).toBe('Ended');
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('touches no node of a group that does not rebalance, and is over after an hour', async () => {
    const life = await begin(2);
    const AutoScalingGroupName = groupName(life);
    life.fromOutside('UpdateAutoScalingGroup', { AutoScalingGroupName, CapacityRebalance: false });
    const { node, instanceId } = firstOf(life);
    life.world.aws.recommendRebalance(instanceId);
    await watch(life, 60, () => expect(isMarked(nodeNamed(life, node))).toBe(false));
    expect(explained(life, instanceId)).toContain('CapacityRebalance is off');
    await life.driver.advance(3600);
    expect(disruption(life, instanceId)?.status).toMatchObject({ outcome: 'Cancelled' });
    expect(isMarked(nodeNamed(life, node))).toBe(false);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('leaves the node in service while no replacement can be launched', async () => {
    const life = await begin(2);
    const { node, instanceId } = firstOf(life);
    life.world.faults.inject('no-capacity', {});
    life.world.aws.recommendRebalance(instanceId);
    await watch(life, 120, () => expect(isMarked(nodeNamed(life, node))).toBe(false));
    expect(explained(life, instanceId)).toContain('the replacement is not Ready yet');
    await life.end();
  });

  it('returns the drained node to service where nothing follows within 60 minutes', async () => {
    const life = await begin(3);
    const AutoScalingGroupName = groupName(life);
    // Suspending Terminate keeps a spare node, so Auto Scaling does not launch a replacement.
    life.fromOutside('SuspendProcesses', { AutoScalingGroupName, ScalingProcesses: ['Terminate'] });
    life.fromOutside('SetDesiredCapacity', { AutoScalingGroupName, DesiredCapacity: 2 });
    await life.driver.advance(60);
    const { node, instanceId } = firstOf(life);
    life.world.aws.recommendRebalance(instanceId);
    const status = () => disruption(life, instanceId)?.status;
    await life.until('it is drained', () => status()?.outcome === 'Drained', 600);
    await life.driver.advance(10);
    expect(isMarked(nodeNamed(life, node))).toBe(true);
    expect(life.group()?.status?.ready).toBe(2);
    await life.driver.advance(3600);
    expect(isMarked(nodeNamed(life, node))).toBe(false);
    expect(objectOr(nodeNamed(life, node)?.spec).unschedulable).toBeUndefined();
    expect(life.group()?.status?.ready).toBe(3);
    expect(status()?.message).toMatch(/^returned to service: nothing followed the rebalance/);
    life.fromOutside('ResumeProcesses', { AutoScalingGroupName, ScalingProcesses: ['Terminate'] });
    life.fromOutside('SetDesiredCapacity', { AutoScalingGroupName, DesiredCapacity: 2 });
    await life.until('the spare node is terminated', () => life.nodes().length === 2, 900);
    await life.driver.advance(120);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

describe('maintenance to come', () => {
  it('takes a few nodes at a time, and is done before its window', async () => {
    const life = await begin(4, { capacityType: 'ON_DEMAND' });
    const before = life.nodes().map((node) => objectOr(node.metadata).name);
    for (const node of life.nodes()) {
      life.world.aws.scheduleEvent(instanceOf(node), 'instance-retirement');
    }
    let most = 0;
    let least = 9;
    await watch(life, 1500, () => {
      most = Math.max(most, life.nodes().filter(isMarked).length);
      least = Math.min(least, inService(life));
    });
    expect([most, least]).toEqual([1, 3]);
    const after = life.nodes().map((node) => objectOr(node.metadata).name);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
