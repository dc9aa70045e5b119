// A stack is changed in place: its events, the services' state, refusals, rollback.
import { describe, expect, it } from 'vitest';
import { type Answer, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const template = (
  more: { readonly max?: number; readonly type?: string; readonly extra?: object } = {},
) =>
  JSON.stringify({
    Parameters: { Size: { Type: 'Number', Default: '1' }, Subnets: { Type: 'String' } },
    Resources: {
      Template: {
        Type: 'AWS::EC2::LaunchTemplate',
        Properties: {
          LaunchTemplateData: { InstanceType: more.type ?? 'm5.large', ImageId: 'resolve:x' },
        },
      },
      Group: {
        Type: 'AWS::AutoScaling::AutoScalingGroup',
        Properties: {
          MinSize: '0',
          MaxSize: String(more.max ?? 4),
          DesiredCapacity: { Ref: 'Size' },
          VPCZoneIdentifier: [{ Ref: 'Subnets' }],
          LaunchTemplate: {
            LaunchTemplateId: { Ref: 'Template' },
            Version: { 'Fn::GetAtt': ['Template', 'LatestVersionNumber'] },
          },
        },
      },
      ...more.extra,
    },
    Outputs: { Version: { Value: { 'Fn::GetAtt': ['Template', 'LatestVersionNumber'] } } },
  });

const bodyIn = (world: TestWorld, more: Parameters<typeof template>[0] = {}): string => {
  const images = world.call('ec2', 'DescribeImages', {}).Images ?? [];
  return template(more).replace('resolve:x', String(images[0]?.ImageId));
};
const parameters = (world: TestWorld, size: string) => [
  { ParameterKey: 'Size', ParameterValue: size },
  { ParameterKey: 'Subnets', ParameterValue: world.foundation.publicSubnets[0]?.subnetId ?? '' },
];
const stackOf = (world: TestWorld): Answer =>
  world.call('cloudformation', 'DescribeStacks', { StackName: 's' }).Stacks?.[0] as Answer;
const groupOf = (world: TestWorld): Answer =>
  world.call('autoscaling', 'DescribeAutoScalingGroups', {}).AutoScalingGroups?.at(-1) as Answer;
const told = (world: TestWorld): readonly string[] =>
  (world.call('cloudformation', 'DescribeStackEvents', { StackName: 's' }).StackEvents ?? [])
    .map((one) => `${one.LogicalResourceId} ${one.ResourceStatus}`)
    .toReversed();
const change = (world: TestWorld, body: string, size: string): Answer =>
  world.call('cloudformation', 'UpdateStack', {
    StackName: 's',
    TemplateBody: body,
    Parameters: parameters(world, size),
  });

const begin = (): TestWorld => {
  const world = aTestWorld();
  world.call('cloudformation', 'CreateStack', {
    StackName: 's',
    TemplateBody: bodyIn(world),
    Parameters: parameters(world, '1'),
  });
  world.advance(600);
  expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
  return world;
};

describe('a stack that is changed in place', () => {
  it('gets a new template version before its group uses it, and says so step by step', () => {
    const world = begin();
    const before = told(world).length;
    change(world, bodyIn(world, { max: 6, type: 'm5.xlarge' }), '2');
    expect(stackOf(world).StackStatus).toBe('UPDATE_IN_PROGRESS');
    world.advance(600);
    expect(told(world).slice(before)).toEqual([
      's UPDATE_IN_PROGRESS',
      'Template UPDATE_IN_PROGRESS',
      'Template UPDATE_COMPLETE',
      'Group UPDATE_IN_PROGRESS',
      'Group UPDATE_COMPLETE',
      's UPDATE_COMPLETE_CLEANUP_IN_PROGRESS',
      's UPDATE_COMPLETE',
    ]);
    const { MaxSize, DesiredCapacity, LaunchTemplate } = groupOf(world) as Record<string, unknown>;
    expect([MaxSize, DesiredCapacity]).toEqual([6, 2]);
    expect(LaunchTemplate).toMatchObject({ Version: '2' });
    expect(stackOf(world).Outputs?.[0]?.OutputValue).toBe('2');
  });

  it('leaves a size alone that the template does not change', () => {
    const world = begin();
    const name = String(groupOf(world).AutoScalingGroupName);
    const input = { AutoScalingGroupName: name, DesiredCapacity: 3 };
    world.call('autoscaling', 'SetDesiredCapacity', input);
    change(world, bodyIn(world, { max: 7 }), '1');
    world.advance(600);
    expect(groupOf(world)).toMatchObject({ MaxSize: 7, DesiredCapacity: 3 });
  });

  it('is put back when a resource cannot be changed', () => {
    const world = begin();
    change(world, bodyIn(world, { type: 'm5.xlarge', max: 3 }), '9');
    world.advance(600);
    expect(stackOf(world).StackStatus).toBe('UPDATE_ROLLBACK_COMPLETE');
    expect(told(world)).toContain('Group UPDATE_FAILED');
    expect(groupOf(world)).toMatchObject({ MaxSize: 4, DesiredCapacity: 1 });
    change(world, bodyIn(world, { max: 5 }), '1');
    world.advance(600);
    expect(stackOf(world).StackStatus).toBe('UPDATE_COMPLETE');
  });

  it('is refused in words when nothing changes, while it changes, and what it cannot', () => {
    const world = begin();
    expect(() => change(world, bodyIn(world), '1')).toThrow('No updates are to be performed.');
    const extra = { Other: { Type: 'AWS::EC2::InternetGateway', Properties: {} } };
    expect(() => change(world, bodyIn(world, { extra }), '1')).toThrow(/Adding, removing/);
    expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
    change(world, bodyIn(world), '2');
    expect(() => change(world, bodyIn(world), '3')).toThrow(
      /is in UPDATE_IN_PROGRESS state and can not be updated/,
    );
    expect(() => world.call('cloudformation', 'DeleteStack', { StackName: 's' })).toThrow(
      'Stack [s] cannot be deleted while in status UPDATE_IN_PROGRESS',
    );
  });

  it('can be deleted afterwards', () => {
    const world = begin();
    change(world, bodyIn(world), '2');
    world.advance(600);
    world.call('cloudformation', 'DeleteStack', { StackName: 's' });
    world.advance(1200);
    expect(() => stackOf(world)).toThrow(/does not exist/);
  });
});
