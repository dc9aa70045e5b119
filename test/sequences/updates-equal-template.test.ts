// A further version of a launch template with its own image, and with the same content as the
// version before: no node is replaced. With `replaceEqual` every node is, as on EKS, which compares
// the numbers. A group with the image of the target behaves the same.
import { expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { planOfLife } from '../support/plan-of-life.ts';
import { latest, namesOf, untilAtRest, untilOver } from '../support/update-world.ts';

const userData = btoa(
  [
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="B"',
    '',
    '--B',
    'Content-Type: text/x-shellscript',
    '',
    '#!/bin/bash',
    '/etc/eks/bootstrap.sh c',
    '--B--',
    '',
  ].join('\n'),
);

const ec2 = (life: GroupLife, operation: string, input: JsonObject): JsonObject =>
  objectOr(life.world.aws.call('ec2', operation, input));

/** Creates two versions with the same content; returns the template's ID. */
const equalVersions = (life: GroupLife): string => {
  const { Images } = ec2(life, 'DescribeImages', {
    Filters: [{ Name: 'name', Values: ['amazon-eks-node-1.32-v*'] }],
  });
  const ImageId = String(objectOr((Images as readonly JsonObject[])[0]).ImageId);
  const LaunchTemplateData = { ImageId, InstanceType: 'm5.large', UserData: userData };
  const made = ec2(life, 'CreateLaunchTemplate', { LaunchTemplateName: 'own', LaunchTemplateData });
  const LaunchTemplateId = String(objectOr(made.LaunchTemplate).LaunchTemplateId);
  ec2(life, 'CreateLaunchTemplateVersion', { LaunchTemplateId, LaunchTemplateData });
  return LaunchTemplateId;
};

it.each([
  [false, 0],
  [true, 2],
])('an update to it with replaceEqual %s replaces %d nodes', async (replaceEqual, replaced) => {
  const life = await GroupLife.begin();
  const id = equalVersions(life);
  await life.create({
    launchTemplate: { id, version: '1' },
    instanceTypes: [],
    scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 2 },
  });
  await life.until('the group is ACTIVE', () => life.isActive(2), 1800);
  const before = namesOf(life);
  const plan = await planOfLife(life, { templateVersion: '2', replaceEqual });
  expect(plan).toMatchObject({ nodes: replaced, verdict: replaceEqual ? 'ready' : 'upToDate' });
  life.make({ group: 'drover.dev', resource: 'nodegroupupdates' }, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name: 'equal' },
    spec: {
      nodeGroup: 'ng',
      type: 'VersionUpdate',
      params: [],
      change: { launchTemplate: { id, version: '2' } },
      ...(replaceEqual ? { replaceEqual } : {}),
    },
  });
  await untilOver(life);
  expect(latest(life)?.status?.status).toBe('Successful');
  await untilAtRest(life, 2);
  expect(namesOf(life).filter((name) => !before.includes(name))).toHaveLength(replaced);
  expect(life.group()?.status?.launchTemplate?.version).toBe('2');
  expect(life.check().violations).toEqual([]);
  await life.end();
});

it.each([
  [false, 0],
  [true, 2],
])('an update to the release in use with replaceEqual %s replaces %d', async (equal, replaced) => {
  const life = await GroupLife.begin();
  await life.create({ scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 2 } });
  await life.until('the group is ACTIVE', () => life.isActive(2), 1800);
  const before = namesOf(life);
  const releaseVersion = String(life.group()?.spec.releaseVersion);
  const plan = await planOfLife(life, { releaseVersion, replaceEqual: equal });
  expect(plan).toMatchObject({ nodes: replaced, verdict: equal ? 'ready' : 'upToDate' });
  life.make({ group: 'drover.dev', resource: 'nodegroupupdates' }, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name: 'equal' },
    spec: {
      nodeGroup: 'ng',
      type: 'VersionUpdate',
      params: [],
      change: { releaseVersion },
      ...(equal ? { replaceEqual: equal } : {}),
    },
  });
  await untilOver(life);
  expect(latest(life)?.status).toMatchObject({
    status: 'Successful',
    progress: { done: replaced },
  });
  await untilAtRest(life, 2);
  expect(namesOf(life).filter((name) => !before.includes(name))).toHaveLength(replaced);
  expect(life.check().violations).toEqual([]);
  await life.end();
});
