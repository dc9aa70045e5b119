// A NodeGroup that specifies only the Auto Scaling group that it adopts, in virtual time. Drover
// reads all other values from AWS, reports them everywhere, and never writes them back.
import { describe, expect, it } from 'vitest';
import { completeNodeGroup } from '../../src/api/adopted.ts';
import { epochMs } from '../../src/api/brand.ts';
import { objectOr } from '../../src/api/json.ts';
import type { NodeGroup } from '../../src/api/nodegroup.ts';
import { describeGroup } from '../../src/cli/nodegroup/describe.ts';
import { GivenGroup } from '../support/given-group.ts';

const group = ({ life }: GivenGroup): NodeGroup => {
  const found = life.group();
  if (found === undefined) throw new Error('no NodeGroup ng');
  return completeNodeGroup(found);
};

const sizes = (given: GivenGroup): readonly number[] => {
  const { MinSize, DesiredCapacity, MaxSize } = given.autoScalingGroup() ?? {};
  return [MinSize, DesiredCapacity, MaxSize].map(Number);
};

const resize = (given: GivenGroup, more: Record<string, number>): void =>
  given.life.fromOutside('UpdateAutoScalingGroup', { AutoScalingGroupName: 'mine', ...more });

describe('a NodeGroup of four lines', () => {
  it('shows what AWS knows of its group', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2), 60);
    expect(life.group()?.spec).toEqual({ autoScalingGroupName: 'mine', instanceTypes: [] });
    const base = life.group('base')?.spec;
    expect(group(given).spec).toMatchObject({
      clusterName: 'c',
      amiType: 'CUSTOM',
      capacityType: 'ON_DEMAND',
      instanceTypes: ['m5.large'],
      nodeRole: base?.nodeRole,
      subnets: base?.subnets,
      scaling: { minSize: 0, maxSize: 3 },
      launchTemplate: { name: 'theirs', version: '1' },
      version: '1.32',
    });
    expect(life.group()?.status).toMatchObject({ version: '1.32', capacityType: 'ON_DEMAND' });
    const shown = await life.shown();
    expect(shown).toMatchObject({
      amiType: 'CUSTOM',
      nodeRole: base?.nodeRole,
      launchTemplate: { name: 'theirs', version: '1' },
      scalingConfig: { minSize: 0, maxSize: 3, desiredSize: 2 },
    });
    const text = describeGroup(
      { group: group(given), update: undefined, events: [] },
      epochMs(Date.parse('2026-01-01T00:10:00Z')),
    ).join('\n');
    expect(text).toContain('theirs version 1');
    expect(text).toContain('Retain');
    await life.end();
  });

  it('takes its cluster from the tags of its group', async () => {
    const tags = [{ Key: 'kubernetes.io/cluster/kops.example', Value: 'owned' }];
    const given = await GivenGroup.begin({}, { Tags: tags });
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.group()?.status?.adopted !== undefined, 60);
    expect(group(given).spec.clusterName).toBe('kops.example');
    expect(given.tags()['eks:cluster-name']).toBe('kops.example');
    await life.end();
  });

  it('follows sizes that change at AWS, and sets those that it states', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2), 60);
    resize(given, { MaxSize: 5, DesiredCapacity: 3 });
    await life.until('it follows', () => life.isActive(3), 120);
    await life.driver.advance(60);
    expect(sizes(given)).toEqual([0, 3, 5]);
    expect(group(given).spec.scaling).toEqual({ minSize: 0, maxSize: 5 });
    life.patch({ spec: { scaling: { desired: 4 } } });
    await life.until('it is carried out', () => life.isActive(4), 120);
    expect(sizes(given)).toEqual([0, 4, 5]);
    await life.end();
  });

  it('does not take another template version at AWS for a request', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2), 60);
    const template = objectOr(given.autoScalingGroup()?.LaunchTemplate);
    const id = String(template.LaunchTemplateId);
    life.world.aws.call('ec2', 'CreateLaunchTemplateVersion', {
      LaunchTemplateId: id,
      SourceVersion: '1',
      LaunchTemplateData: { InstanceType: 'm5.xlarge' },
    });
    life.fromOutside('UpdateAutoScalingGroup', {
      AutoScalingGroupName: 'mine',
      LaunchTemplate: { LaunchTemplateId: id, Version: '2' },
    });
    const types = () => life.group()?.status?.adopted?.instanceTypes;
    await life.until('it is seen', () => types()?.[0] === 'm5.xlarge', 120);
    await life.driver.advance(120);
    expect(life.updates()).toEqual([]);
    expect(objectOr(given.autoScalingGroup()?.LaunchTemplate).Version).toBe('2');
    await life.end();
  });

  it('is refused without the name of a group, by each field that creation needs', async () => {
    const given = await GivenGroup.begin();
    const create = () =>
      given.life.createGroup({
        apiVersion: 'drover.dev/v1alpha1',
        kind: 'NodeGroup',
        metadata: { name: 'ng' },
        spec: { clusterName: 'c', scaling: { maxSize: 1 } },
      });
    expect(create).toThrow(/amiType is required/);
    expect(create).toThrow(/scaling\.minSize is required/);
    expect(create).not.toThrow(/clusterName is required/);
    await given.life.end();
  });
});
