// Which instances become nodes: those whose role and user data the cluster accepts. The others run,
// print the reason on their console, and are reported as NodeCreationFailure; in virtual time.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { exampleAuthority } from '../../src/formats/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const one = { scalingConfig: { minSize: 0, maxSize: 2, desiredSize: 1 } };

const instances = (life: GroupLife): readonly string[] =>
  life
    .autoScalingGroups()
    .flatMap((group) =>
      (group.Instances as { InstanceId: string }[]).map(({ InstanceId }) => InstanceId),
    );
const consoleOf = (life: GroupLife): string =>
  instances(life)
    .map((InstanceId) => life.world.aws.call('ec2', 'GetConsoleOutput', { InstanceId }))
    .map((answer) => atob(String(objectOr(answer).Output)))
    .join('');
const issue = (life: GroupLife) => life.group()?.status?.health?.[0];
const readiness = (life: GroupLife): readonly unknown[] =>
  life.nodes().map((node) => {
    const { conditions } = objectOr(node.status) as { conditions?: readonly JsonObject[] };
    return conditions?.find(({ type }) => type === 'Ready')?.status;
  });

/** A group whose launch template brings its own image and this user data. */
const withUserData = async (userData: string): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  const data = { ImageId: life.group('base')?.status?.imageId ?? '', UserData: btoa(userData) };
  const made = life.world.aws.call('ec2', 'CreateLaunchTemplate', {
    LaunchTemplateName: 'mine',
    LaunchTemplateData: data,
  });
  const id = objectOr(objectOr(made).LaunchTemplate).LaunchTemplateId;
  await life.create({ ...one, launchTemplate: { id: String(id) } });
  await life.until('its instance runs', () => instances(life).length === 1, 60);
  await life.driver.advance(60);
  return life;
};
const expectFailure = async (life: GroupLife, words: RegExp): Promise<void> => {
  expect(life.nodes()).toEqual([]);
  await life.until('EKS gives up', () => life.state() === 'CREATE_FAILED', 1000);
  expect(issue(life)).toMatchObject({ code: 'NodeCreationFailure', resourceIds: instances(life) });
  expect(issue(life)?.message).toMatch(words);
  expect(life.nodes()).toEqual([]);
};

describe('a machine whose role the cluster does not authorize', () => {
  it('runs and never joins, is reported with its cause, and joins when the role is authorized', async () => {
    const life = await GroupLife.begin();
    await life.create({ ...one, nodeRole: life.createRole('mine') });
    await life.until('the role is let in', () => life.mapRoles().includes('role/mine'), 60);
    const whole = life.mapRoles();
    life.putMapRoles('[]');
    await life.until('its instance runs', () => instances(life).length === 1, 60);
    await life.driver.advance(60);
    expect(consoleOf(life)).toMatch(/Unable to register node with API server.* err="Unauthorized"/);
    await expectFailure(
      life,
      /Unauthorized.*the node role .*role\/team\/mine is not in kube-system\/aws-auth/,
    );
    life.putMapRoles(whole);
    await life.until('it is ACTIVE', () => life.isActive(1), 120);
    expect(issue(life)).toBeUndefined();
    await life.end();
  });

  it('is refused by name when the role is mapped to an identity that is not a node', async () => {
    const life = await GroupLife.begin();
    await life.create({ ...one, nodeRole: life.createRole('mine') });
    await life.until('the role is let in', () => life.mapRoles().includes('role/mine'), 60);
    life.putMapRoles(life.mapRoles().replaceAll(/system:node:\{\{EC2PrivateDNSName\}\}/g, 'bob'));
    await life.until('its instance runs', () => instances(life).length === 1, 60);
    await life.driver.advance(60);
    expect(consoleOf(life)).toContain('User \\"bob\\" cannot create resource \\"nodes\\"');
    await expectFailure(life, /an identity that is not a node/);
    await life.end();
  });

  it('stays a node for the grace time when it had joined, then is NotReady, and comes back', async () => {
    const life = await GroupLife.begin();
    await life.create({ ...one, nodeRole: life.createRole('mine') });
    await life.until('it is ACTIVE', () => life.isActive(1));
    const whole = life.mapRoles();
    const [before] = life.nodes();
    life.putMapRoles('[]');
    await life.driver.advance(30);
    expect(readiness(life)).toEqual(['True']);
    await life.until('it is NotReady', () => readiness(life)[0] === 'Unknown', 60);
    expect(consoleOf(life)).toMatch(/Error updating node status, will retry.*Unauthorized/);
    expect(instances(life)).toHaveLength(1);
    life.putMapRoles(whole);
    await life.until('it is Ready', () => readiness(life)[0] === 'True', 30);
    expect(objectOr(life.nodes()[0]?.metadata).uid).toBe(objectOr(before?.metadata).uid);
    await life.end();
  });
});

const ca = exampleAuthority;

describe('a machine whose user data means another cluster, or is wrong', () => {
  it.each([
    [
      'a name that EKS does not know',
      '/etc/eks/bootstrap.sh other',
      /No cluster found for name: other/,
    ],
    [
      'a name that is not that of its endpoint',
      `/etc/eks/bootstrap.sh other --apiserver-endpoint https://kubernetes.world --b64-cluster-ca ${ca}`,
      /Unauthorized/,
    ],
    [
      'a taint without an effect, as in article 003',
      "/etc/eks/bootstrap.sh c --kubelet-extra-args '--register-with-taints=taint1=true'",
      /user data: TN001: the taint taint1=true has no effect/,
    ],
    [
      'a label that a kubelet may not set',
      "/etc/eks/bootstrap.sh c --kubelet-extra-args '--node-labels=node-role.kubernetes.io/a=b'",
      /user data: LB001/,
    ],
  ])('never joins: %s', async (_, userData, words) => {
    const life = await withUserData(`#!/bin/bash\n${userData}\n`);
    expect(consoleOf(life)).toMatch(words);
    await expectFailure(life, words);
    await life.end();
  });

  it('joins with the right name, as the group’s own role is authorized', async () => {
    const life = await withUserData('#!/bin/bash\n/etc/eks/bootstrap.sh c\n');
    await life.until('it is ACTIVE', () => life.isActive(1), 120);
    await life.end();
  });
});
