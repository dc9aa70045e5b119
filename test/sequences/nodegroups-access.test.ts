// Requests that CreateNodegroup refuses immediately, and the life of the security group for remote
// access, in virtual time.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const ec2 = (life: GroupLife, operation: string, input: JsonObject): JsonObject =>
  objectOr(life.world.aws.call('ec2', operation, input));
const groups = (life: GroupLife): readonly JsonObject[] =>
  ec2(life, 'DescribeSecurityGroups', {}).SecurityGroups as readonly JsonObject[];
const remote = (life: GroupLife): JsonObject | undefined =>
  groups(life).find(({ GroupName }) => String(GroupName).startsWith('eks-remoteAccess-'));
const instanceGroups = (life: GroupLife): string =>
  JSON.stringify(
    life
      .autoScalingGroups()
      .flatMap((group) =>
        (group.Instances as { InstanceId: string }[]).map(
          ({ InstanceId }) =>
            ec2(life, 'DescribeInstances', { InstanceIds: [InstanceId] }).Reservations,
        ),
      ),
  );

const begun = async (): Promise<{ life: GroupLife; key: string; source: string }> => {
  const life = await GroupLife.begin();
  ec2(life, 'CreateKeyPair', { KeyName: 'mine' });
  const vpc = String(groups(life)[0]?.VpcId);
  const input = { GroupName: 'bastion', Description: 'd', VpcId: vpc };
  return { life, key: 'mine', source: String(ec2(life, 'CreateSecurityGroup', input).GroupId) };
};

describe('CreateNodegroup', () => {
  it.each([
    ['a disk of no size', { diskSize: 0 }, 'diskSize 0 is not valid: it takes 1 to 16384 GiB'],
    [
      'a disk that no volume is as large as',
      { diskSize: 5_000_000 },
      'diskSize 5000000 is not valid: it takes 1 to 16384 GiB',
    ],
    [
      'a tag of AWS’ own',
      { tags: { 'aws:team': 'a' } },
      'Invalid tag key aws:team: tag keys with the prefix aws: are reserved for use by AWS',
    ],
    ['a role that is none', { nodeRole: 'nodes' }, 'Node role ARN nodes is not valid.'],
    ['a key pair that is not there', { remoteAccess: { ec2SshKey: 'x' } }, 'KeyPair x not found'],
    [
      'sources that are not there',
      { remoteAccess: { ec2SshKey: 'mine', sourceSecurityGroups: ['sg-1'] } },
      "The security group 'sg-1' does not exist",
    ],
    [
      'sources without a key',
      { remoteAccess: { sourceSecurityGroups: ['sg-1'] } },
      'remoteAccess.sourceSecurityGroups takes remoteAccess.ec2SshKey beside it',
    ],
    [
      'an image of one’s own without a template',
      { amiType: 'CUSTOM' },
      'AMI type CUSTOM takes a launch template that has an image id',
    ],
  ])('refuses %s, and makes nothing', async (_, more, message) => {
    const { life } = await begun();
    const refused = await life.refused('CreateNodegroup', life.request(more));
    expect(refused).toBe(`InvalidParameterException: ${message}`);
    expect(life.group()).toBeUndefined();
    await life.end();
  });

  it('refuses a cluster that is not ACTIVE, until it is', async () => {
    const { life } = await begun();
    const request = life.request({});
    const name = String(request.clusterName);
    const logging = { clusterLogging: [{ types: ['api'], enabled: false }] };
    life.world.aws.call('eks', 'UpdateClusterConfig', { name, logging });
    expect(await life.refused('CreateNodegroup', request)).toBe(
      `InvalidRequestException: Cluster '${name}' is not in ACTIVE status`,
    );
    expect(life.group()).toBeUndefined();
    await life.driver.advance(60);
    await life.eks('CreateNodegroup', request);
    expect(life.group()).toBeDefined();
    await life.end();
  });

  it.each([
    ['diskSize', { diskSize: 20 }, {}, 'Disk size must be specified within the launch template.'],
    [
      'remoteAccess',
      { remoteAccess: { ec2SshKey: 'mine' } },
      {},
      'Remote access configuration cannot be specified with a launch template.',
    ],
    [
      'instance types that it has itself',
      {},
      { InstanceType: 'm5.large' },
      'Instance types must be specified either in the launch template or in the API request.',
    ],
  ])('refuses %s beside a launch template', async (_, more, LaunchTemplateData, message) => {
    const { life } = await begun();
    const made = ec2(life, 'CreateLaunchTemplate', { LaunchTemplateName: 't', LaunchTemplateData });
    const id = String(objectOr(made.LaunchTemplate).LaunchTemplateId);
    const refused = await life.refused(
      'CreateNodegroup',
      life.request({ ...more, launchTemplate: { id } }),
    );
    expect(refused).toContain(message);
    await life.end();
  });

  it('leaves no tag of AWS’ own to TagResource', async () => {
    const { life } = await begun();
    await life.create();
    const { nodegroupArn } = await life.shown();
    const tags = { resourceArn: String(nodegroupArn), tags: { 'aws:a': 'b' } };
    expect(await life.refused('TagResource', tags)).toContain('reserved for use by AWS');
    await life.end();
  });
});

describe('remote access of a node group', () => {
  it('is a security group that lets its sources in, on every node, and goes with the group', async () => {
    const { life, key, source } = await begun();
    await life.create({ remoteAccess: { ec2SshKey: key, sourceSecurityGroups: [source] } });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    const uid = life.group()?.metadata.uid;
    const own = remote(life);
    expect(own).toMatchObject({
      GroupName: `eks-remoteAccess-${uid}`,
      IpPermissions: [
        { IpProtocol: 'tcp', FromPort: 22, ToPort: 22, UserIdGroupPairs: [{ GroupId: source }] },
      ],
    });
    expect(await life.shown()).toMatchObject({
      resources: { remoteAccessSecurityGroup: own?.GroupId },
    });
    expect(instanceGroups(life)).toContain(String(own?.GroupId));
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 600);
    expect(remote(life)).toBeUndefined();
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('is open to everybody where no source is named, and made once by whoever comes after a crash', async () => {
    let kills = 0;
    const life: GroupLife = await GroupLife.begin({
      afterWrite: ({ verb }) => {
        if (!/SecurityGroup/.test(verb) || kills >= 2) return;
        kills += 1;
        life.killFor(5);
      },
    });
    ec2(life, 'CreateKeyPair', { KeyName: 'mine' });
    await life.create({ remoteAccess: { ec2SshKey: 'mine' } });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    expect(kills).toBe(2);
    const own = groups(life).filter(({ GroupName }) => String(GroupName).startsWith('eks-remote'));
    expect(own).toHaveLength(1);
    expect(own[0]?.IpPermissions).toMatchObject([{ IpRanges: [{ CidrIp: '0.0.0.0/0' }] }]);
    await life.end();
  });

  it('that another actor uses is told when the group is deleted, and goes when it is free', async () => {
    const { life, key } = await begun();
    await life.create({ remoteAccess: { ec2SshKey: key } });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    const id = String(remote(life)?.GroupId);
    ec2(life, 'CreateLaunchTemplate', {
      LaunchTemplateName: 'bastions',
      LaunchTemplateData: {
        ImageId: life.group('base')?.status?.imageId ?? '',
        InstanceType: 'm5.large',
        SecurityGroupIds: [id],
      },
    });
    life.fromOutside('CreateAutoScalingGroup', {
      AutoScalingGroupName: 'bastions',
      MinSize: 0,
      MaxSize: 1,
      DesiredCapacity: 1,
      VPCZoneIdentifier: [...(life.group('base')?.spec.subnets ?? [])].join(','),
      LaunchTemplate: { LaunchTemplateName: 'bastions' },
    });
    await life.delete();
    await life.until('it is told', () => life.state() === 'DELETE_FAILED', 600);
    expect(life.group()?.status?.health).toMatchObject([
      { code: 'Ec2SecurityGroupDeletionFailure', resourceIds: [id] },
    ]);
    expect(life.autoScalingGroups()).toEqual([]);
    const down = { AutoScalingGroupName: 'bastions', DesiredCapacity: 0 };
    life.fromOutside('SetDesiredCapacity', down);
    await life.until('it is gone', () => life.group() === undefined, 300);
    expect(remote(life)).toBeUndefined();
    await life.end();
  });
});
