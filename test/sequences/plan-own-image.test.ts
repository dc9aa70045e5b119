// Plans of a group whose launch template has its own image and user data. The nodes that a plan
// reports as old are those that the update replaces.
import { expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { planOfLife } from '../support/plan-of-life.ts';

const named = { clusterName: 'c', nodegroupName: 'ng' };

const ec2 = (life: GroupLife, operation: string, input: JsonObject): JsonObject =>
  objectOr(life.world.aws.call('ec2', operation, input));

const instancesOf = (life: GroupLife): readonly string[] => {
  const [group] = life.autoScalingGroups();
  return [group?.Instances ?? []].flat().map((one) => String(objectOr(one).InstanceId));
};

const firstOf = (value: JsonObject[string]): JsonObject => objectOr([value ?? []].flat()[0]);

/**
 * A launch template with the image and user data of a group that Drover created, which join the
 * cluster, but without that group's labels.
 */
const workingTemplate = async (
  life: GroupLife,
): Promise<{ readonly ImageId: string; readonly UserData: string }> => {
  await life.create({ nodegroupName: 'other' });
  await life.until('the other group is ACTIVE', () => life.isActive(2, 'other'));
  const [group] = life.autoScalingGroups('other');
  const [instance] = [group?.Instances ?? []].flat();
  const { LaunchTemplateId, Version } = objectOr(objectOr(instance).LaunchTemplate);
  const { LaunchTemplateVersions } = ec2(life, 'DescribeLaunchTemplateVersions', {
    LaunchTemplateId: String(LaunchTemplateId),
    Versions: [String(Version)],
  });
  const { ImageId, UserData } = objectOr(firstOf(LaunchTemplateVersions).LaunchTemplateData);
  const text = atob(String(UserData)).replace(/^.*--node-labels=.*\n/m, '');
  return { ImageId: String(ImageId), UserData: btoa(text) };
};

it.each([
  ['other user data', (text: string) => `${text}\n# another line\n`, 2],
  ['the same content', (text: string) => text, 0],
])('a template version with %s', async (_, change, replaced) => {
  const life = await GroupLife.begin();
  const { ImageId, UserData } = await workingTemplate(life);

  const made = ec2(life, 'CreateLaunchTemplate', {
    LaunchTemplateName: 'mine',
    LaunchTemplateData: { ImageId, UserData },
  });
  const id = String(objectOr(made.LaunchTemplate).LaunchTemplateId);
  await life.create({ launchTemplate: { id } });
  await life.until('the group is ACTIVE', () => life.isActive(2));
  ec2(life, 'CreateLaunchTemplateVersion', {
    LaunchTemplateId: id,
    LaunchTemplateData: { ImageId, UserData: btoa(change(atob(UserData))) },
  });
  expect(await planOfLife(life, { templateVersion: '1' })).toMatchObject({
    verdict: 'upToDate',
    nodes: 0,
  });
  const plan = await planOfLife(life, { templateVersion: '2' });
  expect(plan).toMatchObject({ nodes: replaced, verdict: replaced === 0 ? 'upToDate' : 'ready' });

  const before = new Set(instancesOf(life));
  await life.eks('UpdateNodegroupVersion', { ...named, launchTemplate: { id, version: '2' } });
  await life.until(
    'the update has ended',
    () => life.updates()[0]?.status?.status !== 'InProgress',
    3600,
  );
  expect(life.updates()[0]?.status?.status).toBe('Successful');
  const fresh = instancesOf(life).filter((one) => !before.has(one));
  expect(fresh).toHaveLength(replaced);
  expect(await planOfLife(life, { templateVersion: '2' })).toMatchObject({
    verdict: 'upToDate',
    nodes: 0,
  });
  await life.end();
});
