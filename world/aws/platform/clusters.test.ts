import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/api/defined.ts';
import { type Answer, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const role = 'arn:aws:iam::111111111111:role/eks';
const subnetIds = (world: TestWorld): string[] =>
  world.foundation.publicSubnets.map((one) => one.subnetId);
const createCluster = (world: TestWorld, more: object = {}): Answer =>
  world.call('eks', 'CreateCluster', {
    name: 'c',
    roleArn: role,
    resourcesVpcConfig: { subnetIds: subnetIds(world) },
    ...more,
  }).cluster as Answer;
const cluster = (world: TestWorld): Answer =>
  world.call('eks', 'DescribeCluster', { name: 'c' }).cluster as Answer;
const aWorld = (): TestWorld =>
  aTestWorld({
    clusterAccess: () => ({ endpoint: 'https://e', certificateAuthorityData: 'Y2E=' }),
  });

describe('a created cluster', () => {
  it('is CREATING without an endpoint, then ACTIVE with one', () => {
    const world = aWorld();
    expect(createCluster(world)).toMatchObject({ status: 'CREATING', version: '1.32' });
    world.advance(60);
    expect(cluster(world).status).toBe('CREATING');
    expect(cluster(world).endpoint).toBeUndefined();
    world.advance(120);
    expect(cluster(world)).toMatchObject({ status: 'ACTIVE', endpoint: 'https://e' });
  });

  it('logs what its logging switches on, and nothing by default', () => {
    const world = aWorld();
    createCluster(world);
    expect(world.call('logs', 'DescribeLogGroups').logGroups).toEqual([]);
    world.advance(180);
    const logging = {
      clusterLogging: [{ types: ['audit', 'authenticator', 'scheduler'], enabled: true }],
    };
    const { update } = world.call('eks', 'UpdateClusterConfig', { name: 'c', logging });
    expect(update).toMatchObject({ status: 'InProgress', type: 'LoggingUpdate' });
    expect(cluster(world).status).toBe('UPDATING');
    world.advance(30);
    expect(cluster(world).status).toBe('ACTIVE');
    const again = { name: 'c', updateId: update?.id };
    expect(world.call('eks', 'DescribeUpdate', again).update?.status).toBe('Successful');
    const streams = world.call('logs', 'DescribeLogStreams', {
      logGroupName: '/aws/eks/c/cluster',
    }).logStreams;
    expect(streams?.map((one) => String(one.logStreamName).replace(/-[0-9a-f]{32}$/, ''))).toEqual([
      'authenticator',
      'kube-apiserver-audit',
      'kube-scheduler',
    ]);
    expect(world.refusal('eks', 'UpdateClusterConfig', { name: 'c', logging })).toMatch(
      /No changes needed/,
    );
  });

  it('goes, with its add-ons, when nothing is attached', () => {
    const world = aWorld();
    createCluster(world);
    world.advance(180);
    world.call('eks', 'CreateAddon', { clusterName: 'c', addonName: 'vpc-cni' });
    expect(world.call('eks', 'DeleteCluster', { name: 'c' }).cluster?.status).toBe('DELETING');
    world.advance(90);
    expect(world.refusal('eks', 'DescribeCluster', { name: 'c' })).toBe(
      'ResourceNotFoundException: No cluster found for name: c.',
    );
    expect(world.call('eks', 'ListClusters').clusters).toEqual([]);
    createCluster(world);
    expect(world.call('eks', 'ListAddons', { clusterName: 'c' }).addons).toEqual([]);
  });
});

describe('clusters that EKS refuses', () => {
  it.each([
    [{ version: '1.19' }, /unsupported Kubernetes version 1.19/],
    [{ roleArn: 'nobody' }, /Invalid role arn: nobody/],
    [{ computeConfig: { enabled: true } }, /EKS Auto Mode is not part of Drover's world/],
    [{ resourcesVpcConfig: { subnetIds: ['subnet-1'] } }, /subnet ID 'subnet-1' does not exist/],
  ])('%j', (more, expected) => {
    const world = aWorld();
    const input = {
      name: 'c',
      roleArn: role,
      resourcesVpcConfig: { subnetIds: subnetIds(world) },
      ...more,
    };
    expect(world.refusal('eks', 'CreateCluster', input)).toMatch(expected);
    expect(world.call('eks', 'ListClusters').clusters).toEqual([]);
  });

  it('subnets of one zone only', () => {
    const world = aWorld();
    const resourcesVpcConfig = { subnetIds: subnetIds(world).slice(0, 1) };
    expect(
      world.refusal('eks', 'CreateCluster', { name: 'c', roleArn: role, resourcesVpcConfig }),
    ).toMatch(/at least two different AZs/);
  });

  it('a second one, with the remedy', () => {
    const world = aWorld();
    createCluster(world);
    expect(() => createCluster(world, { name: 'd' })).toThrow(
      'Start another world with `drover up --data-dir DIR` for d.',
    );
    expect(() => createCluster(world)).toThrow('Cluster already exists with name: c');
  });

  it('an end while node groups are attached', () => {
    const world = aWorld();
    createCluster(world);
    world.advance(180);
    world.call('ec2', 'CreateLaunchTemplate', {
      LaunchTemplateName: 't',
      LaunchTemplateData: { InstanceType: 'm5.large' },
    });
    world.call('autoscaling', 'CreateAutoScalingGroup', {
      AutoScalingGroupName: 'eks-ng',
      MinSize: 0,
      MaxSize: 1,
      LaunchTemplate: { LaunchTemplateName: 't' },
      VPCZoneIdentifier: subnetIds(world)[0],
      Tags: [
        { Key: 'eks:cluster-name', Value: 'c' },
        { Key: 'eks:nodegroup-name', Value: 'ng' },
      ],
    });
    expect(world.refusal('eks', 'DeleteCluster', { name: 'c' })).toBe(
      'ResourceInUseException: Cluster has nodegroups attached',
    );
  });
});

describe('the version of a cluster', () => {
  const shown = (world: TestWorld) => world.call('eks', 'DescribeCluster', { name: 'c' }).cluster;
  const anActive = (): TestWorld => {
    const world = aWorld();
    createCluster(world);
    world.advance(180);
    return world;
  };

  it('moves to the next minor, in an update that takes a minute', () => {
    const world = anActive();
    const input = { name: 'c', version: '1.33' };
    const { update } = world.call('eks', 'UpdateClusterVersion', input);
    expect(update).toMatchObject({
      type: 'VersionUpdate',
      status: 'InProgress',
      params: [
        { type: 'Version', value: '1.33' },
        { type: 'PlatformVersion', value: 'eks.16' },
      ],
    });
    expect(shown(world)).toMatchObject({ status: 'UPDATING', version: '1.32' });
    expect(world.refusal('eks', 'UpdateClusterVersion', input)).toBe(
      'ResourceInUseException: Cannot VersionUpdate because cluster c currently has status UPDATING',
    );
    world.advance(75);
    expect(shown(world)).toMatchObject({
      status: 'ACTIVE',
      version: '1.33',
      platformVersion: 'eks.16',
    });
    const updateId = String(update?.id);
    expect(world.call('eks', 'ListUpdates', { name: 'c' }).updateIds).toEqual([updateId]);
    expect(world.call('eks', 'DescribeUpdate', { name: 'c', updateId }).update).toMatchObject({
      status: 'Successful',
    });
  });

  it.each([
    ['1.34', /^InvalidParameterException: Unsupported Kubernetes minor version update from 1\.32/],
    ['1.31', /^InvalidParameterException: Unsupported Kubernetes minor version update from 1\.32/],
    ['1.32', /^InvalidParameterException: Cluster is already at version: 1\.32/],
    ['1.99', /^InvalidParameterException: unsupported Kubernetes version 1\.99/],
    ['latest', /^InvalidParameterException: unsupported Kubernetes version latest/],
    [undefined, /^InvalidParameterException: A Kubernetes version must be specified/],
  ])('never moves to %s', (version, refused) => {
    const world = anActive();
    const input = { name: 'c', ...defined({ version }) };
    expect(world.refusal('eks', 'UpdateClusterVersion', input)).toMatch(refused);
    expect(shown(world)).toMatchObject({ status: 'ACTIVE', version: '1.32' });
  });

  it('has images beside it, to which node groups may move', () => {
    const world = anActive();
    const newest = (minor: string): string =>
      String(
        world.call('ssm', 'GetParameter', {
          Name: `/aws/service/eks/optimized-ami/${minor}/amazon-linux-2023/x86_64/standard/recommended/release_version`,
        }).Parameter?.Value,
      );
    expect(newest('1.31')).toMatch(/^1\.31\.13-\d{8}$/);
    expect(newest('1.33')).toMatch(/^1\.33\.5-\d{8}$/);
    expect(() => newest('1.34')).toThrow(/ParameterNotFound|not found/);
    world.call('eks', 'UpdateClusterVersion', { name: 'c', version: '1.33' });
    expect(newest('1.34')).toMatch(/^1\.34\.1-\d{8}$/);
  });
});

describe('networks named by id', () => {
  const wanted = {
    vpcId: 'vpc-0ca96cd5c37d3bae8',
    subnets: [
      { subnetId: 'subnet-0ea5be4984975e8ed', isPublic: false },
      { subnetId: 'subnet-0b4076508ce121c27', isPublic: false, zone: 'ap-northeast-2c' },
    ],
  };

  it('are made once, in zones of this region', () => {
    const world = aWorld();
    const first = world.aws.ensureNetwork(wanted);
    expect(first.subnets.map((one) => one.zone)).toEqual(['eu-west-1a', 'eu-west-1c']);
    expect(new Set(first.subnets.map((one) => one.cidr)).size).toBe(2);
    expect(world.aws.ensureNetwork(wanted)).toEqual(first);
    const subnetIds = wanted.subnets.map((one) => one.subnetId);
    expect(createCluster(world, { resourcesVpcConfig: { subnetIds } })).toMatchObject({
      resourcesVpcConfig: { vpcId: wanted.vpcId, subnetIds },
    });
  });

  it('are refused when a subnet stands elsewhere', () => {
    const world = aWorld();
    const [own] = world.foundation.publicSubnets;
    const subnets = [{ subnetId: own?.subnetId ?? '', isPublic: true }];
    expect(() => world.aws.ensureNetwork({ vpcId: 'vpc-1', subnets })).toThrow(
      `Subnet ${own?.subnetId} stands in VPC ${own?.vpcId}, not in vpc-1`,
    );
  });
});

it('versions are reported with their support at the time of the world', () => {
  const world = aWorld();
  const { clusterVersions } = world.call('eks', 'DescribeClusterVersions', {
    clusterVersions: ['1.31', '1.32'],
  });
  expect(
    clusterVersions?.map((one) => [one.clusterVersion, one.status, one.defaultVersion]),
  ).toEqual([
    ['1.32', 'extended-support', true],
    ['1.31', 'extended-support', false],
  ]);
});
