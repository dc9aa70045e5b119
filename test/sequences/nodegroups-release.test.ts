// The deletion of a NodeGroup with the policy Retain, in virtual time. Its Auto Scaling group and
// instances remain, and everything that Drover put on them is removed.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { ownerTag } from '../../src/api/nodegroup.ts';
import { GivenGroup } from '../support/given-group.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

/** The state of the group that an operator would compare, without its instances' lifecycle. */
const facts = (given: GivenGroup): JsonObject => {
  const { Tags, MinSize, MaxSize, DesiredCapacity, LaunchTemplate, SuspendedProcesses } =
    given.autoScalingGroup() ?? {};
  return {
    Tags: JSON.parse(JSON.stringify(Tags ?? [])),
    MinSize: Number(MinSize),
    MaxSize: Number(MaxSize),
    DesiredCapacity: Number(DesiredCapacity),
    LaunchTemplate: objectOr(LaunchTemplate),
    SuspendedProcesses: JSON.parse(JSON.stringify(SuspendedProcesses ?? [])),
    hooks: given.hooks().map((hook) => String(hook.LifecycleHookName)),
    instances: given.instanceIds(),
  };
};

const remove = (life: GroupLife, name = 'ng'): void => {
  life.user.delete(resourceTypes.nodegroups, { name });
};

const calls = (life: GroupLife): readonly string[] => life.calls.map(({ operation }) => operation);

const isMarked = (given: GivenGroup): boolean =>
  given.instanceIds().some((id) => {
    const node = given.node(id);
    const labels = objectOr(objectOr(node?.metadata).labels);
    const isExcluded = 'node.kubernetes.io/exclude-from-external-load-balancers' in labels;
    return isExcluded || objectOr(node?.spec).unschedulable === true;
  });

describe('a NodeGroup with deletion policy Retain', () => {
  it('of an adopted group leaves it as it was before', async () => {
    const given = await GivenGroup.begin({ hasEvents: true });
    const { life } = given;
    const before = facts(given);
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2) && given.hooks().length === 2, 60);
    remove(life);
    await life.until('it is gone', () => life.group() === undefined, 60);
    expect(facts(given)).toEqual(before);
    expect(given.events('Released')).toEqual([
      'Auto Scaling group mine stays with its 2 instances; Drover no longer drains them',
    ]);
    expect(given.events('Releasing')).toHaveLength(1);
    expect(calls(life)).not.toContain('DeleteAutoScalingGroup');
    expect(calls(life)).not.toContain('TerminateInstanceInAutoScalingGroup');
    await life.end();
  });

  it('may be deleted through EKS’ API, and its group adopted once more', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2), 60);
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 60);
    const uid = given.adopt({}, 'another');
    await life.until('it is adopted', () => life.isActive(2, 'another'), 60);
    expect(given.tags()[ownerTag]).toBe(uid);
    await life.end();
  });

  it('waits for an instance that is being drained in Drover’s hook', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2) && given.hooks().length === 2, 60);
    given.deploy(4, 1);
    await life.until('pods run', () => life.runningPods('web') === 4, 120);
    const [id = ''] = given.instanceIds();
    life.fromOutside('TerminateInstanceInAutoScalingGroup', {
      InstanceId: id,
      ShouldDecrementDesiredCapacity: false,
    });
    const state = () => given.instances().find((one) => one.InstanceId === id)?.LifecycleState;
    await life.until('it waits', () => state() === 'Terminating:Wait', 30);
    remove(life);
    const drained = () => objectOr(given.disruption(id)?.status).outcome !== undefined;
    await life.until('the NodeGroup is gone', () => life.group() === undefined, 300);
    expect(drained()).toBe(true);
    expect(given.hooks()).toEqual([]);
    expect(life.runningPods('web')).toBeGreaterThanOrEqual(3);
    await life.end();
  });

  it('cancels a scale-in that is under way, and undoes its marks', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2), 60);
    // A budget that allows nothing.
    given.deploy(2, 0);
    await life.until('pods run', () => life.runningPods('web') === 2, 120);
    life.patch({ spec: { scaling: { desired: 1 } } });
    await life.until('a node is marked', () => isMarked(given), 60);
    remove(life);
    await life.until('it is gone', () => life.group() === undefined, 120);
    expect(isMarked(given)).toBe(false);
    expect(given.instanceIds()).toHaveLength(2);
    await life.end();
  });

  it('takes back a zone shift, and undoes its marks', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2), 60);
    const zones = given.instances().map((one) => String(one.AvailabilityZone));
    life.patch({ spec: { drain: { zoneShift: { zones: [...new Set(zones)] } } } });
    await life.until('a node is marked', () => isMarked(given), 60);
    remove(life);
    await life.until('it is gone', () => life.group() === undefined, 120);
    expect(isMarked(given)).toBe(false);
    expect(given.instanceIds()).toHaveLength(2);
    await life.end();
  });

  it('of a group that Drover created leaves group, template, profile and the role of its nodes', async () => {
    const life = await GroupLife.begin();
    await life.create();
    await life.until('it is whole', () => life.isActive(2), 300);
    const uid = life.group()?.metadata.uid ?? '';
    life.patch({ spec: { deletionPolicy: 'Retain' } });
    const roles = life.mapRoles();
    const name = String(life.autoScalingGroups()[0]?.AutoScalingGroupName);
    remove(life);
    await life.until('it is gone', () => life.group() === undefined, 120);
    const AutoScalingGroupNames = [name];
    const { AutoScalingGroups } = objectOr(
      life.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', { AutoScalingGroupNames }),
    );
    const [asg] = AutoScalingGroups as readonly JsonObject[];
    expect(asg).toMatchObject({ DesiredCapacity: 2 });
    expect(asg?.Instances).toHaveLength(2);
    expect(JSON.stringify(asg?.Tags)).not.toContain(ownerTag);
    // With it `drover adopt` would take the group for one that EKS manages.
    expect(JSON.stringify(asg?.Tags)).not.toContain('eks:nodegroup-name');
    expect(life.templates().filter((one) => one.includes(uid))).toHaveLength(1);
    expect(JSON.stringify(life.profiles())).toContain(`eks-${uid}`);
    expect(life.mapRoles()).toBe(roles);
    expect(JSON.stringify(life.awsAuth()?.metadata.annotations ?? {})).not.toContain(
      'added-roles":"arn',
    );
    await life.driver.advance(60);
    expect(life.nodes()).toHaveLength(2);
    await life.end();
  });

  it('ends no instance when its definition is deleted, nor when all NodeGroups are', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    const before = facts(given);
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2) && given.hooks().length === 2, 60);
    life.patch({ spec: { deletionPolicy: 'Retain' } }, 'base');
    for (const plural of ['nodegroups', 'nodegroupupdates', 'nodedisruptions']) {
      const name = `${plural}.drover.dev`;
      life.user.delete(resourceTypes.customresourcedefinitions, { name });
    }
    await life.until(
      'both are gone',
      () => life.group() === undefined && life.group('base') === undefined,
      120,
    );
    await life.driver.advance(120);
    expect(facts(given)).toEqual(before);
    expect(calls(life)).not.toContain('TerminateInstanceInAutoScalingGroup');
    await life.end();
  });

  it('converges where the process dies after each of its writes', async () => {
    let kills = 0;
    let isReleasing = false;
    const given: GivenGroup = await GivenGroup.begin({
      afterWrite: ({ verb, resource }) => {
        const isOurs = /^(?:DeleteTags|DeleteLifecycleHook)$/.test(verb);
        if (!isReleasing || !(isOurs || resource === 'nodegroups') || kills >= 6) return;
        kills += 1;
        given.life.killFor(10);
      },
    });
    const { life } = given;
    const before = facts(given);
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2) && given.hooks().length === 2, 60);
    isReleasing = true;
    remove(life);
    await life.until('it is gone', () => life.group() === undefined, 300);
    expect(kills).toBeGreaterThan(2);
    expect(facts(given)).toEqual(before);
    await life.end();
  });
});
