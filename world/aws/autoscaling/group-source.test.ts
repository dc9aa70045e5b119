// What a group launches and where: zones in place of subnets, weighted types, template versions.
import { describe, expect, it } from 'vitest';
import { aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const defaultSubnets = (world: TestWorld): void => {
  const { network } = world.parts;
  const vpc = network.addVpc('172.31.0.0/16', {}, { isDefault: true });
  for (const [index, letter] of ['a', 'b'].entries()) {
    const zone = `eu-west-1${letter}`;
    const cidr = `172.31.${index * 16}.0/20`;
    const zoneId = network.zoneIdOf(zone);
    network.addSubnet({ vpcId: vpc.vpcId, cidr, zone, zoneId, isPublic: true, tags: {} });
  }
};

const aWorld = (): TestWorld => {
  const world = aTestWorld();
  const image = world.parts.images.releases('AL2_x86_64', '1.32')[0];
  world.call('ec2', 'CreateLaunchTemplate', {
    LaunchTemplateName: 't',
    LaunchTemplateData: { ImageId: image?.imageId, InstanceType: 'm5.large' },
  });
  return world;
};

const aRequest = (more: object) => ({
  AutoScalingGroupName: 'g',
  MinSize: 0,
  MaxSize: 10,
  DesiredCapacity: 2,
  LaunchTemplate: { LaunchTemplateName: 't' },
  ...more,
});

const create = (world: TestWorld, more: object) =>
  world.call('autoscaling', 'CreateAutoScalingGroup', aRequest(more));
const shown = (world: TestWorld) =>
  world.call('autoscaling', 'DescribeAutoScalingGroups').AutoScalingGroups?.[0];

describe('AvailabilityZones', () => {
  it('start instances in the default subnets of those zones', () => {
    const world = aWorld();
    defaultSubnets(world);
    create(world, { AvailabilityZones: ['eu-west-1b'] });
    world.advance(5);
    const group = shown(world);
    expect(group).toMatchObject({ AvailabilityZones: ['eu-west-1b'], VPCZoneIdentifier: '' });
    const zones = group?.Instances?.map((one) => one.AvailabilityZone);
    expect(zones).toEqual(['eu-west-1b', 'eu-west-1b']);
    const VPCZoneIdentifier = world.foundation.publicSubnets[0]?.subnetId;
    const change = { AutoScalingGroupName: 'g', VPCZoneIdentifier };
    world.call('autoscaling', 'UpdateAutoScalingGroup', change);
    expect(shown(world)).toMatchObject({ VPCZoneIdentifier, AvailabilityZones: ['eu-west-1a'] });
  });

  it('agree with subnets that are named beside them', () => {
    const world = aWorld();
    const VPCZoneIdentifier = world.foundation.publicSubnets[0]?.subnetId;
    create(world, { VPCZoneIdentifier, AvailabilityZones: ['eu-west-1a'] });
    expect(shown(world)).toMatchObject({ VPCZoneIdentifier });
  });

  it.each<[string, object, RegExp]>([
    ['that do not exist', { AvailabilityZones: ['eu-west-1z'] }, /Invalid Availability Zone: eu-w/],
    ['without a default VPC', { AvailabilityZones: ['eu-west-1a'] }, /No default VPC/],
    ['and no subnets', {}, /At least one Availability Zone or VPC Subnet is required/],
  ])('%s are refused', (_, more, refused) => {
    const world = aWorld();
    const told = world.refusal('autoscaling', 'CreateAutoScalingGroup', aRequest(more));
    expect(told).toMatch(refused);
  });

  it('of other subnets are refused', () => {
    const world = aWorld();
    const VPCZoneIdentifier = world.foundation.publicSubnets[0]?.subnetId;
    const input = aRequest({ VPCZoneIdentifier, AvailabilityZones: ['eu-west-1b'] });
    expect(world.refusal('autoscaling', 'CreateAutoScalingGroup', input)).toMatch(/do not match/);
  });
});

describe('CreateAutoScalingGroup', () => {
  it.each([
    ['no source', { LaunchTemplate: undefined }],
    ['two sources', { LaunchConfigurationName: 'c' }],
  ])('takes exactly one source: %s', (_, more) => {
    const world = aWorld();
    const told = world.refusal('autoscaling', 'CreateAutoScalingGroup', aRequest(more));
    expect(told).toMatch(/^ValidationError: Valid requests must contain either LaunchTemplate, /);
  });
});

describe('an image that does not exist', () => {
  const missing = (world: TestWorld): string => {
    const LaunchTemplateData = { ImageId: 'ami-0123456789abcdef0', InstanceType: 'm5.large' };
    const named = { LaunchTemplateName: 't', LaunchTemplateData };
    const made = world.call('ec2', 'CreateLaunchTemplateVersion', named);
    expect(made.Warning?.Errors).toMatchObject([{ Code: 'InvalidAMIID.NotFound' }]);
    return world.foundation.publicSubnets[0]?.subnetId ?? '';
  };
  const refused =
    'ValidationError: You must use a valid fully-formed launch template. ' +
    "The image id '[ami-0123456789abcdef0]' does not exist";
  const LaunchTemplate = { LaunchTemplateName: 't', Version: '$Latest' };

  it.each<[string, object]>([
    ['template', { LaunchTemplate }],
    [
      'mixed instances policy',
      {
        LaunchTemplate: undefined,
        MixedInstancesPolicy: { LaunchTemplate: { LaunchTemplateSpecification: LaunchTemplate } },
      },
    ],
  ])('is refused when a group is created with it: %s', (_, source) => {
    const world = aWorld();
    const input = aRequest({ VPCZoneIdentifier: missing(world), ...source });
    expect(world.refusal('autoscaling', 'CreateAutoScalingGroup', input)).toBe(refused);
    expect(shown(world)).toBeUndefined();
  });

  it('is refused when a group is changed to it; the group keeps what it had', () => {
    const world = aWorld();
    create(world, { VPCZoneIdentifier: missing(world) });
    const change = { AutoScalingGroupName: 'g', LaunchTemplate };
    expect(world.refusal('autoscaling', 'UpdateAutoScalingGroup', change)).toBe(refused);
    expect(Object.keys(shown(world)?.LaunchTemplate ?? {})).not.toContain('Version');
  });
});

describe('weighed instance types', () => {
  const weighed = (world: TestWorld, sizes: object, weights = ['4', '2']): void => {
    create(world, {
      LaunchTemplate: undefined,
      VPCZoneIdentifier: world.foundation.publicSubnets[0]?.subnetId,
      MixedInstancesPolicy: {
        LaunchTemplate: {
          LaunchTemplateSpecification: { LaunchTemplateName: 't' },
          Overrides: ['m5.xlarge', 'm5.large'].map((InstanceType, index) => ({
            InstanceType,
            WeightedCapacity: weights[index],
          })),
        },
      },
      ...sizes,
    });
    world.advance(10);
  };
  const members = (world: TestWorld): number => shown(world)?.Instances?.length ?? 0;

  it('fill desired capacity by their weights, and exceed it by less than one of them', () => {
    const world = aWorld();
    weighed(world, { DesiredCapacity: 6 });
    expect(members(world)).toBe(2);
    const change = { AutoScalingGroupName: 'g', DesiredCapacity: 3 };
    world.call('autoscaling', 'SetDesiredCapacity', change);
    world.advance(60);
    expect(members(world)).toBe(1);
  });

  it('stay where the end of one would leave too little', () => {
    const world = aWorld();
    weighed(world, { DesiredCapacity: 8 });
    expect(members(world)).toBe(2);
    const change = { AutoScalingGroupName: 'g', DesiredCapacity: 7 };
    world.call('autoscaling', 'SetDesiredCapacity', change);
    world.advance(60);
    expect(members(world)).toBe(2);
  });

  it('show the policy as it was given, with the defaults', () => {
    const world = aWorld();
    weighed(world, {});
    expect(shown(world)?.MixedInstancesPolicy).toMatchObject({
      LaunchTemplate: {
        LaunchTemplateSpecification: { LaunchTemplateName: 't' },
        Overrides: [
          { InstanceType: 'm5.xlarge', WeightedCapacity: '4' },
          { InstanceType: 'm5.large', WeightedCapacity: '2' },
        ],
      },
      InstancesDistribution: { SpotInstancePools: 2, SpotAllocationStrategy: 'lowest-price' },
    });
  });

  it('are all weighed or none', () => {
    expect(() => weighed(aWorld(), {}, ['4'])).toThrow(/Either all or none of the overrides/);
    expect(() => weighed(aWorld(), {}, ['4', '0'])).toThrow(/it takes 1 to 999/);
  });
});

describe('a launch template without a version', () => {
  it('is shown without one, and starts the default version', () => {
    const world = aWorld();
    create(world, { VPCZoneIdentifier: world.foundation.publicSubnets[0]?.subnetId });
    world.advance(5);
    expect(Object.keys(shown(world)?.LaunchTemplate ?? {})).not.toContain('Version');
    expect(shown(world)?.Instances?.[0]?.LaunchTemplate).toMatchObject({ Version: '1' });
  });
});
