// Launch templates whose image does not exist, which Auto Scaling refuses. The group and the update
// report the missing image, and no node is launched or lost.
import { expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { latest, namesOf, untilOver } from '../support/update-world.ts';

const missing = 'ami-0123456789abcdef0';
const named = { clusterName: 'c', nodegroupName: 'ng' };
const refused =
  'You must use a valid fully-formed launch template. ' +
  `The image id '[${missing}]' does not exist`;
const userData = btoa('#!/bin/bash\n/etc/eks/bootstrap.sh c\n');

const ec2 = (life: GroupLife, operation: string, input: JsonObject): JsonObject =>
  objectOr(life.world.aws.call('ec2', operation, input));

const templateOf = (life: GroupLife, ImageId: string): string => {
  const LaunchTemplateData = { ImageId, InstanceType: 'm5.large', UserData: userData };
  const made = ec2(life, 'CreateLaunchTemplate', { LaunchTemplateName: 'own', LaunchTemplateData });
  return String(objectOr(made.LaunchTemplate).LaunchTemplateId);
};

it('a group that is created with it has failed, and can be deleted', async () => {
  const life = await GroupLife.begin();
  await life.create({ launchTemplate: { id: templateOf(life, missing) }, instanceTypes: [] });
  await life.until('it has failed', () => life.group()?.status?.state === 'CREATE_FAILED', 300);
  expect(life.group()?.status?.health).toMatchObject([
    { code: 'AmiIdNotFound', message: `CreateAutoScalingGroup: ${refused}` },
  ]);
  expect(life.autoScalingGroups()).toEqual([]);
  await life.eks('DeleteNodegroup', named);
  await life.until('it is gone', () => life.group() === undefined, 300);
  await life.end();
});

it('an update to it fails, and the nodes stay', async () => {
  const life = await GroupLife.begin();
  const { Images } = ec2(life, 'DescribeImages', {
    Filters: [{ Name: 'name', Values: ['amazon-eks-node-1.32-v*'] }],
  });
  const ImageId = String(objectOr((Images as readonly JsonObject[])[0]).ImageId);
  const id = templateOf(life, ImageId);
  await life.create({ launchTemplate: { id }, instanceTypes: [] });
  await life.until('the group is ACTIVE', () => life.isActive(2), 1800);
  const before = namesOf(life);
  ec2(life, 'CreateLaunchTemplateVersion', {
    LaunchTemplateId: id,
    LaunchTemplateData: { ImageId: missing, InstanceType: 'm5.large', UserData: userData },
  });
  await life.eks('UpdateNodegroupVersion', { ...named, launchTemplate: { id, version: '2' } });
  await untilOver(life);
  expect(latest(life)?.status).toMatchObject({
    status: 'Failed',
    errors: [{ code: 'AmiIdNotFound', message: `UpdateAutoScalingGroup: ${refused}` }],
  });
  expect(namesOf(life)).toEqual(before);
  await life.end();
});
