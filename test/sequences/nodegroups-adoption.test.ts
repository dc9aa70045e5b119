// Adoption of existing Auto Scaling groups, in virtual time: the group is tagged before anything
// else, and by one NodeGroup only.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { ownerTag } from '../../src/api/nodegroup.ts';
import { GroupLife, type GroupLifeOptions } from '../support/nodegroup-world.ts';

const asg = 'mine';

/** A life with an unmanaged Auto Scaling group of two instances, without tags of a node group. */
const withGroup = async (options: GroupLifeOptions = {}): Promise<GroupLife> => {
  const life = await GroupLife.begin(options);
  const base = life.autoScalingGroups('base')[0];
  life.fromOutside('CreateAutoScalingGroup', {
    AutoScalingGroupName: asg,
    MinSize: 0,
    MaxSize: 3,
    DesiredCapacity: 2,
    VPCZoneIdentifier: String(base?.VPCZoneIdentifier),
    LaunchTemplate: {
      LaunchTemplateId: String(objectOr(base?.LaunchTemplate).LaunchTemplateId),
      Version: '1',
    },
  });
  await life.driver.advance(60);
  return life;
};

const adopt = (life: GroupLife, name = 'ng'): string => {
  const { launchTemplate: _, labels: __, ...spec } = objectOr(life.group('base')?.spec);
  const made = life.createGroup({
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroup',
    metadata: { name },
    spec: {
      ...spec,
      autoScalingGroupName: asg,
      scaling: { minSize: 0, maxSize: 3 },
      deletionPolicy: 'Delete',
    },
  });
  return String(objectOr(made.metadata).uid);
};

const group = (life: GroupLife): JsonObject | undefined => {
  const input = { AutoScalingGroupNames: [asg] };
  const answer = life.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', input);
  return (objectOr(answer).AutoScalingGroups as JsonObject[])[0];
};
const tags = (life: GroupLife): Record<string, string> => {
  const all = (group(life)?.Tags ?? []) as { Key: string; Value: string }[];
  return Object.fromEntries(all.map(({ Key, Value }) => [Key, Value]));
};
const mark = (life: GroupLife, value: string): void =>
  life.fromOutside('CreateOrUpdateTags', {
    Tags: [
      { ResourceId: asg, ResourceType: 'auto-scaling-group', Key: ownerTag, Value: value },
      {
        ResourceId: asg,
        ResourceType: 'auto-scaling-group',
        Key: 'eks:cluster-name',
        Value: 'c',
        PropagateAtLaunch: true,
      },
    ],
  });
const effects = (life: GroupLife): readonly string[] =>
  life.calls
    .filter(({ input }) => JSON.stringify(input).includes(`"${asg}"`))
    .map(({ operation }) => operation)
    .filter((operation) => !operation.startsWith('Describe'));
const degraded = (life: GroupLife, name = 'ng') =>
  life.group(name)?.status?.conditions?.find(({ type }) => type === 'Degraded');

describe('an Auto Scaling group that is adopted', () => {
  it('is marked before anything else, and with policy Delete goes with its node group', async () => {
    const life = await withGroup();
    const uid = adopt(life);
    await life.driver.advance(3);
    expect(effects(life)).toEqual(['CreateOrUpdateTags']);
    expect(life.group()?.status).toBeUndefined();
    await life.until('it is adopted', () => life.group()?.status?.desired === 2, 30);
    expect(tags(life)).toMatchObject({ [ownerTag]: uid, 'eks:nodegroup-name': 'ng' });
    expect(new Set(effects(life).slice(1))).toEqual(new Set(['PutLifecycleHook']));
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 600);
    expect(group(life)).toBeUndefined();
    await life.end();
  });

  it('has one NodeGroup: a second is told which, and takes nothing with it', async () => {
    const life = await withGroup();
    const uid = adopt(life);
    await life.driver.advance(2);
    adopt(life, 'other');
    await life.until('it is refused', () => degraded(life, 'other')?.status === 'True', 60);
    await life.until('the first has it', () => life.group()?.status?.desired === 2, 60);
    expect(degraded(life, 'other')).toMatchObject({
      reason: 'AutoScalingGroupInvalidConfiguration',
    });
    expect(degraded(life, 'other')?.message).toMatch(/node group ng of cluster c|NodeGroup ng/);
    life.patch({ spec: { scaling: { desired: 3 } } }, 'other');
    await life.driver.advance(60);
    expect(group(life)?.DesiredCapacity).toBe(2);
    await life.eks('DeleteNodegroup', { clusterName: 'c', nodegroupName: 'other' });
    await life.until('it is gone', () => life.group('other') === undefined, 60);
    expect(group(life)).toMatchObject({ DesiredCapacity: 2 });
    expect(tags(life)[ownerTag]).toBe(uid);
    await life.end();
  });

  it('is the older one’s where two come at once', async () => {
    const life = await withGroup();
    adopt(life, 'first');
    await life.driver.advance(1);
    adopt(life, 'second');
    const told = () =>
      degraded(life, 'first') !== undefined && degraded(life, 'second') !== undefined;
    await life.until('both are told', told, 60);
    expect(tags(life)['eks:nodegroup-name']).toBe('first');
    expect(degraded(life, 'first')?.status).toBe('False');
    expect(degraded(life, 'second')?.status).toBe('True');
    await life.end();
  });

  it('is left alone when another cluster’s NodeGroup has marked it, until the mark is taken away', async () => {
    const life = await withGroup();
    mark(life, 'uid-of-another');
    const uid = adopt(life);
    await life.until('it is refused', () => degraded(life)?.status === 'True', 60);
    expect(degraded(life)?.message).toContain('uid-of-another');
    expect(effects(life)).toEqual([]);
    const key = { ResourceId: asg, ResourceType: 'auto-scaling-group', Key: ownerTag };
    life.fromOutside('DeleteTags', { Tags: [key] });
    await life.until('it is adopted', () => degraded(life)?.status === 'False', 60);
    expect(tags(life)[ownerTag]).toBe(uid);
    expect(life.group()?.spec.scaling).toMatchObject({ minSize: 0, maxSize: 3 });
    await life.end();
  });

  it('is given up when another’s mark replaces its own while it waits', async () => {
    const life = await withGroup();
    adopt(life);
    await life.until('it is marked', () => tags(life)[ownerTag] !== undefined, 10);
    mark(life, 'uid-of-another');
    await life.until('it is refused', () => degraded(life)?.status === 'True', 60);
    expect(effects(life)).toEqual(['CreateOrUpdateTags']);
    await life.end();
  });

  it('is adopted by a process that died right after the mark', async () => {
    let kills = 0;
    const life: GroupLife = await withGroup({
      afterWrite: ({ verb }) => {
        if (verb !== 'CreateOrUpdateTags' || tags(life)[ownerTag] === undefined) return;
        kills += 1;
        life.killFor(20);
      },
    });
    const uid = adopt(life);
    await life.until('it is adopted', () => life.group()?.status?.desired === 2, 120);
    expect([kills, tags(life)[ownerTag]]).toEqual([1, uid]);
    await life.end();
  });

  it('is not touched for a NodeGroup that goes before it is marked', async () => {
    const life = await withGroup();
    life.killFor(30);
    adopt(life);
    await life.driver.advance(5);
    life.patch({ metadata: { finalizers: ['drover.dev/nodegroup'] } });
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 120);
    expect(group(life)).toMatchObject({ DesiredCapacity: 2 });
    expect(effects(life)).toEqual([]);
    await life.end();
  });
});
