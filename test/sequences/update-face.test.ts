// aws eks update-nodegroup-version in virtual time: the updates that it records, its refusals word
// for word, and the output of describe-nodegroup, describe-update and list-updates.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const named = { clusterName: 'c', nodegroupName: 'ng' };

const begun = async (more: JsonObject = {}): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create(more);
  await life.until('the group is ACTIVE', () => life.isActive(2));
  return life;
};

const template = (life: GroupLife, name: string, data: JsonObject): string => {
  const made = life.world.aws.call('ec2', 'CreateLaunchTemplate', {
    LaunchTemplateName: name,
    LaunchTemplateData: data,
  });
  return String(objectOr(objectOr(made).LaunchTemplate).LaunchTemplateId);
};

const addVersion = (life: GroupLife, id: string, data: JsonObject): void => {
  life.world.aws.call('ec2', 'CreateLaunchTemplateVersion', {
    LaunchTemplateId: id,
    LaunchTemplateData: data,
  });
};

const update = async (life: GroupLife, more: JsonObject = {}): Promise<JsonObject> =>
  objectOr((await life.eks('UpdateNodegroupVersion', { ...named, ...more })).update);

const familyName = 'amazon-eks-node-al2023-x86_64-standard-1.32-v';

/** The releases of Kubernetes 1.32, newest first. */
const releases = (
  life: GroupLife,
): readonly { readonly release: string; readonly id: string }[] => {
  const filter = { Name: 'name', Values: [`${familyName}*`] };
  const answer = objectOr(life.world.aws.call('ec2', 'DescribeImages', { Filters: [filter] }));
  return (answer.Images as readonly JsonObject[])
    .map(({ Name, ImageId }) => ({
      release: `1.32.9-${String(Name).slice(familyName.length)}`,
      id: String(ImageId),
    }))
    .toSorted((x, y) => y.release.localeCompare(x.release));
};

describe('a version update through EKS', () => {
  it('is a NodeGroupUpdate with what EKS tells, and one for a request that is sent twice', async () => {
    const life = await GroupLife.begin();
    const [{ release: newest } = { release: '' }, older] = releases(life);
    await life.create({ releaseVersion: older?.release ?? '' });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    const asked = { clientRequestToken: 't1', force: true };
    const first = await update(life, asked);
    expect(first).toMatchObject({
      status: 'InProgress',
      type: 'VersionUpdate',
      params: [
        { type: 'Version', value: '1.32' },
        { type: 'ReleaseVersion', value: newest },
      ],
      errors: [],
    });
    expect((await update(life, asked)).id).toBe(first.id);
    expect(
      await life.refused('UpdateNodegroupVersion', { ...named, ...asked, force: false }),
    ).toMatch(/^InvalidParameterException: clientRequestToken was used before/);
    const [object, ...more] = life.updates();
    expect(more).toEqual([]);
    expect(object?.spec).toMatchObject({
      nodeGroup: 'ng',
      type: 'VersionUpdate',
      action: 'Update',
      strategy: 'DEFAULT',
      force: true,
      change: { version: '1.32', releaseVersion: newest },
    });
    const shown = { name: 'c', nodegroupName: 'ng' };
    expect(await life.eks('ListUpdates', shown)).toEqual({ updateIds: [first.id] });
    const described = await life.eks('DescribeUpdate', { ...shown, updateId: first.id ?? '' });
    expect(described.update).toMatchObject({ id: first.id, type: 'VersionUpdate' });
    await life.end();
  });

  it("takes the group's strategy, and leaves force out where it was not asked for", async () => {
    const life = await begun({ updateConfig: { maxUnavailable: 1, updateStrategy: 'MINIMAL' } });
    expect((await life.shown()).updateConfig).toEqual({
      maxUnavailable: 1,
      updateStrategy: 'MINIMAL',
    });
    await update(life);
    expect(life.updates()[0]?.spec).toMatchObject({ strategy: 'MINIMAL' });
    expect(life.updates()[0]?.spec).not.toHaveProperty('force');
    await life.end();
  });

  it('takes an older release of the same version, whole or not at all', async () => {
    const life = await begun();
    const older = releases(life).at(-1)?.release ?? '';
    expect(life.group()?.spec.releaseVersion).not.toBe(older);
    expect(
      await life.refused('UpdateNodegroupVersion', { ...named, releaseVersion: '1.32.9-20200101' }),
    ).toBe(
      'InvalidParameterException: Requested release version 1.32.9-20200101 is not valid for kubernetes version 1.32.',
    );
    const { params } = await update(life, { releaseVersion: older });
    expect(params).toContainEqual({ type: 'ReleaseVersion', value: older });
    await life.end();
  });

  it.each(['1.33', '1.31', '1.32.9', 'newest', ''])('refuses version "%s"', async (version) => {
    const life = await begun();
    expect(await life.refused('UpdateNodegroupVersion', { ...named, version })).toBe(
      'InvalidParameterException: Nodegroup Kubernetes version should be equal to Cluster kubernetes version 1.32 or NodeGroup kubernetes version 1.32',
    );
    expect(life.updates()).toEqual([]);
    await life.end();
  });

  it('refuses a group that does not exist, one that is made, and a second update', async () => {
    const life = await GroupLife.begin();
    expect(await life.refused('UpdateNodegroupVersion', named)).toBe(
      'ResourceNotFoundException: No node group found for name: ng.',
    );
    await life.create();
    await life.until('the group is CREATING', () => life.state() === 'CREATING', 10);
    const inUse =
      'ResourceInUseException: Nodegroup cannot be updated as it is currently not in Active State';
    expect(await life.refused('UpdateNodegroupVersion', named)).toBe(inUse);
    await life.until('the group is ACTIVE', () => life.isActive(2));
    // The controller is down, so it does not process the first update.
    life.killFor(3600);
    await update(life);
    expect(await life.refused('UpdateNodegroupVersion', named)).toBe(inUse);
    expect(
      await life.refused('UpdateNodegroupConfig', { ...named, scalingConfig: { maxSize: 5 } }),
    ).toBe(inUse);
    expect(await life.shown()).toMatchObject({ status: 'UPDATING' });
    await life.end();
  });
});

describe('the launch template of an update', () => {
  const refusal = async (life: GroupLife, launchTemplate: JsonObject): Promise<string> =>
    life.refused('UpdateNodegroupVersion', { ...named, launchTemplate });

  it('is refused where the group has none', async () => {
    const life = await begun();
    const id = template(life, 'mine', {});
    expect(await refusal(life, { id })).toMatch(
      /^InvalidParameterException: You cannot specify a launch template: the node group was not/,
    );
    await life.end();
  });

  it('is the one that the group has, named once, in a version that fits', async () => {
    const life = await GroupLife.begin();
    const id = template(life, 'mine', {});
    const other = template(life, 'other', {});
    await life.create({ launchTemplate: { id } });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    const one = 'Either provide launch template ID or launch template name in the request.';
    expect(await refusal(life, { id, name: 'mine' })).toBe(`InvalidParameterException: ${one}`);
    expect(await refusal(life, { version: '1' })).toBe(`InvalidParameterException: ${one}`);
    const same = /^InvalidParameterException: Launch template \S+ is not the one that the node/;
    expect(await refusal(life, { id: other })).toMatch(same);
    expect(await refusal(life, { name: 'other' })).toMatch(same);
    expect(await refusal(life, { id, version: '7' })).toBe(
      `InvalidRequestException: Launch template ${id} version 7 could not be found.`,
    );
    addVersion(life, id, { ImageId: 'ami-0123456789abcdef0' });
    expect(await refusal(life, { id, version: '2' })).toMatch(
      /^InvalidParameterException: You cannot specify an image id within the launch template, since/,
    );
    addVersion(life, id, { InstanceType: 'm5.large' });
    expect(await refusal(life, { id, version: '3' })).toMatch(
      /^InvalidParameterException: Instance types must be specified either/,
    );
    addVersion(life, id, { IamInstanceProfile: { Name: 'x' } });
    expect(await refusal(life, { id, version: '$Latest' })).toMatch(
      /^InvalidRequestException: Launch template \S+ should not specify an instance profile/,
    );
    expect(life.updates()).toEqual([]);
    addVersion(life, id, { MetadataOptions: { HttpTokens: 'required' } });
    const { params } = await update(life, { launchTemplate: { name: 'mine', version: '$Latest' } });
    expect(params).toEqual([
      { type: 'Version', value: '1.32' },
      { type: 'ReleaseVersion', value: life.group()?.spec.releaseVersion },
      { type: 'LaunchTemplateName', value: 'mine' },
      { type: 'LaunchTemplateVersion', value: '5' },
    ]);
    expect(life.updates()[0]?.spec.change.launchTemplate).toEqual({
      id,
      name: 'mine',
      version: '5',
    });
    await life.end();
  });

  it('carries the image of a custom group, and user data for it; then no version is given', async () => {
    const life = await GroupLife.begin();
    const ImageId = releases(life)[0]?.id ?? '';
    const UserData = btoa('#!/bin/sh\n/etc/eks/bootstrap.sh c');
    const id = template(life, 'mine', { ImageId, UserData });
    await life.create({ launchTemplate: { id } });
    await life.until('it is looked at', () => life.group()?.status?.imageId !== undefined);
    life.patch({ spec: { scaling: { minSize: 0, desired: 0 } } });
    await life.until('the group is ACTIVE', () => life.state() === 'ACTIVE', 3600);
    expect(await life.shown()).toMatchObject({ amiType: 'CUSTOM', releaseVersion: ImageId });
    const words = async (more: JsonObject): Promise<string> =>
      life.refused('UpdateNodegroupVersion', { ...named, ...more });
    expect(await words({})).toBe(
      "InvalidParameterException: Launch template details can't be null for Custom ami type node group",
    );
    expect(await words({ launchTemplate: { id }, version: '1.32' })).toBe(
      'InvalidParameterException: You cannot specify the field kubernetesVersion when using custom AMIs.',
    );
    expect(await words({ launchTemplate: { id }, releaseVersion: '1.32.9-20260905' })).toBe(
      'InvalidParameterException: You cannot specify the field releaseVersion when using custom AMIs.',
    );
    addVersion(life, id, { ImageId });
    expect(await words({ launchTemplate: { id, version: '2' } })).toMatch(
      /^InvalidRequestException: Launch template \S+ version 2 has an image id and no user data/,
    );
    addVersion(life, id, { UserData });
    expect(await words({ launchTemplate: { id, version: '3' } })).toMatch(
      /^InvalidParameterException: Launch template \S+ version 3 should specify an image id/,
    );
    addVersion(life, id, { ImageId, UserData });
    const { params } = await update(life, { launchTemplate: { id, version: '4' } });
    expect(params).toEqual([
      { type: 'LaunchTemplateName', value: 'mine' },
      { type: 'LaunchTemplateVersion', value: '4' },
    ]);
    await life.end();
  });
});

describe('the settings of updates', () => {
  it("are EKS' through EKS: its two strategies, and Drover's own are not told", async () => {
    const life = await begun();
    const config = { maxUnavailable: 1, updateStrategy: 'SURGE' };
    expect(await life.refused('UpdateNodegroupConfig', { ...named, updateConfig: config })).toBe(
      'InvalidParameterException: updateStrategy must be one of [DEFAULT, MINIMAL], not SURGE',
    );
    life.patch({ spec: { updateConfig: config } });
    expect((await life.shown()).updateConfig).toEqual({ maxUnavailable: 1 });
    await update(life);
    expect(life.updates()[0]?.spec.strategy).toBe('SURGE');
    await life.end();
  });
});
