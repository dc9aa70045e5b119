// Version updates of an adopted group, in virtual time. Its nodes start from a template that its
// operator created, and only another version of that template can be requested.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { updateStatusOf } from '../../src/api/nodegroup-update.ts';
import { GivenGroup } from '../support/given-group.ts';
import { areOver, updatesOf } from '../support/update-world.ts';

const templateOf = (given: GivenGroup): { readonly id: string; readonly version: string } => {
  const { LaunchTemplateId, Version } = objectOr(given.autoScalingGroup()?.LaunchTemplate);
  return { id: String(LaunchTemplateId), version: String(Version) };
};

const typesOf = (given: GivenGroup): readonly unknown[] =>
  given.instances().map((one) => one.InstanceType);

/** The operator adds a version: a copy of version 1 with other data. */
const addVersion = (given: GivenGroup, data: JsonObject): JsonObject => {
  const answer = given.life.world.aws.call('ec2', 'CreateLaunchTemplateVersion', {
    LaunchTemplateId: templateOf(given).id,
    SourceVersion: '1',
    LaunchTemplateData: data,
  });
  return objectOr(objectOr(objectOr(answer).LaunchTemplateVersion).LaunchTemplateData);
};

const adopted = async (spec: JsonObject = {}): Promise<GivenGroup> => {
  const given = await GivenGroup.begin();
  given.adopt(spec);
  await given.life.until('it is adopted', () => given.life.isActive(2), 60);
  return given;
};

/** Each update's status and errors, in order, once the group is at rest. */
const outcomes = async ({ life }: GivenGroup, count: number) => {
  const isOver = (): boolean => life.updates().length === count && areOver(life);
  await life.until('the updates are over', isOver, 4 * 3600);
  await life.until('the group rests', () => life.isActive(2), 1800);
  return updatesOf(life).map((one) => [updateStatusOf(one), one.status?.errors]);
};
const successful = ['Successful', undefined];

describe('an adopted group', () => {
  it.each(['DEFAULT', 'MINIMAL', 'SURGE', 'BLUE_GREEN'])(
    'is updated to a version of its own template and back (%s)',
    async (updateStrategy) => {
      const given = await adopted({ updateConfig: { updateStrategy } });
      const { life } = given;
      given.deploy(4, 1);
      const { id } = templateOf(given);
      const before = given.instanceIds();
      // eksctl, kOps and Terraform write templates with this field; EKS refuses it for managed
      // groups.
      expect(addVersion(given, { InstanceType: 'm5.xlarge' })).toHaveProperty('IamInstanceProfile');
      life.patch({ spec: { launchTemplate: { id, version: '2' } } });
      expect(await outcomes(given, 1)).toEqual([successful]);
      expect(given.instanceIds().filter((one) => before.includes(one))).toEqual([]);
      expect(typesOf(given)).toEqual(['m5.xlarge', 'm5.xlarge']);
      expect(templateOf(given)).toEqual({ id, version: '2' });
      life.patch({ spec: { launchTemplate: { id, version: '1' } } });
      expect(await outcomes(given, 2)).toEqual([successful, successful]);
      expect(typesOf(given)).toEqual(['m5.large', 'm5.large']);
      // A copy of version 1: a higher version number distinguishes new nodes.
      expect(templateOf(given)).toEqual({ id, version: '3' });
      await life.driver.advance(600);
      expect(life.updates()).toHaveLength(2);
      await life.end();
    },
  );

  it('is updated as aws eks update-nodegroup-version asks for it', async () => {
    const given = await adopted();
    const { id } = templateOf(given);
    addVersion(given, { InstanceType: 'm5.xlarge' });
    await given.life.eks('UpdateNodegroupVersion', {
      clusterName: 'c',
      nodegroupName: 'ng',
      launchTemplate: { id, version: '2' },
    });
    expect(await outcomes(given, 1)).toEqual([successful]);
    expect(typesOf(given)).toEqual(['m5.xlarge', 'm5.xlarge']);
    await given.life.end();
  });

  it('is as before when the new nodes cannot start', async () => {
    const given = await adopted({ updateConfig: { onFailure: 'Rollback' } });
    const { id } = templateOf(given);
    const before = given.instanceIds();
    addVersion(given, { ImageId: 'ami-0123456789abcdef0' });
    given.life.patch({ spec: { launchTemplate: { id, version: '2' } } });
    const [[status, errors] = []] = await outcomes(given, 1);
    expect(status).toBe('Failed');
    expect(JSON.stringify(errors)).toContain('ami-0123456789abcdef0');
    expect(given.instanceIds()).toEqual(before);
    await given.life.end();
  });

  it('is refused a version or a template that it cannot have, with nothing touched', async () => {
    const given = await adopted();
    const { life } = given;
    const { id, version } = templateOf(given);
    life.patch({ spec: { launchTemplate: { id, version: '7' } } });
    const [[status, errors] = []] = await outcomes(given, 1);
    expect(status).toBe('Failed');
    expect(JSON.stringify(errors)).toContain('has no version 7');
    expect(templateOf(given)).toEqual({ id, version });
    await life.end();
  });
});
