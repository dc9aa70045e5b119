import { describe, expect, it } from 'vitest';
import { AwsError } from '../../../src/aws-wire/index.ts';
import { type Answer, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';
import {
  eksctlManaged,
  eksctlSelfManaged,
} from '../../../test/builders/world-aws-cloudformation-templates.ts';
import { clusterStack, FakeNodegroups, live } from '../../../test/builders/world-aws-nodegroups.ts';
import { Tables } from '../../kernel/index.ts';

const create = (world: TestWorld, template: unknown, more: object = {}): Answer =>
  world.call('cloudformation', 'CreateStack', {
    StackName: 's',
    TemplateBody: JSON.stringify(template),
    Capabilities: ['CAPABILITY_IAM'],
    ...more,
  });
const stackOf = (world: TestWorld, name = 's'): Answer => {
  const answer = world.call('cloudformation', 'DescribeStacks', { StackName: name });
  return answer.Stacks?.[0] as Answer;
};
const statuses = (world: TestWorld, name = 's'): Record<string, unknown> => {
  const answer = world.call('cloudformation', 'ListStackResources', { StackName: name });
  return Object.fromEntries(
    (answer.StackResourceSummaries ?? []).map((one) => [
      String(one.LogicalResourceId),
      one.ResourceStatus,
    ]),
  );
};
/** `LogicalId STATUS reason` of the stack's events, oldest first. */
const told = (world: TestWorld, name: string): string[] =>
  (world.call('cloudformation', 'DescribeStackEvents', { StackName: name }).StackEvents ?? [])
    .map((one) =>
      [one.LogicalResourceId, one.ResourceStatus, one.ResourceStatusReason ?? '']
        .join(' ')
        .trimEnd(),
    )
    .toReversed();
const subnetsOf = (world: TestWorld): string =>
  world.foundation.publicSubnets.map((one) => one.subnetId).join(',');

describe('a stack of eksctl for a self-managed group', () => {
  it('is made resource by resource in the order of what needs what', () => {
    const world = aTestWorld();
    clusterStack(world);
    create(world, eksctlSelfManaged('c'));
    world.advance(1);
    expect(stackOf(world).StackStatus).toBe('CREATE_IN_PROGRESS');
    expect(statuses(world)).not.toHaveProperty('NodeGroup');
    world.advance(60);
    expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
    expect(new Set(Object.values(statuses(world)))).toEqual(new Set(['CREATE_COMPLETE']));
    const events = told(world, 's');
    expect(events[0]).toBe('s CREATE_IN_PROGRESS User Initiated');
    expect(events).toContain('NodeGroup CREATE_IN_PROGRESS Resource creation Initiated');
    expect(events.at(-1)).toBe('s CREATE_COMPLETE');
    const at = (line: string): number => events.indexOf(line);
    expect(at('NodeInstanceRole CREATE_COMPLETE')).toBeLessThan(
      at('NodeInstanceProfile CREATE_IN_PROGRESS'),
    );
    expect(at('NodeGroupLaunchTemplate CREATE_COMPLETE')).toBeLessThan(
      at('NodeGroup CREATE_IN_PROGRESS'),
    );
  });

  it('has a group as the template says, with instances and the stack in its tags', () => {
    const world = aTestWorld();
    clusterStack(world);
    create(world, eksctlSelfManaged('c'), { Tags: [{ Key: 'team', Value: 'red' }] });
    world.advance(60);
    const [group] = world.call('autoscaling', 'DescribeAutoScalingGroups').AutoScalingGroups ?? [];
    expect(group?.AutoScalingGroupName).toMatch(/^s-NodeGroup-[A-Z0-9]{13}$/);
    expect([group?.MinSize, group?.MaxSize, group?.DesiredCapacity]).toEqual([1, 2, 1]);
    expect(group?.VPCZoneIdentifier).toBe(subnetsOf(world));
    expect(group?.Instances?.length).toBe(1);
    const tags = Object.fromEntries((group?.Tags ?? []).map((one) => [one.Key, one.Value]));
    expect(tags).toMatchObject({ team: 'red', 'aws:cloudformation:logical-id': 'NodeGroup' });
    const outputs = stackOf(world).Outputs ?? [];
    const arn = outputs.find((one) => String(one.OutputKey) === 'InstanceRoleARN')?.OutputValue;
    expect(arn).toMatch(/^arn:aws:iam::111111111111:role\/s-NodeInstanceRole-[A-Z0-9]{13}$/);
    expect(outputs.map((one) => one.ExportName)).toContain('s::InstanceRoleARN');
  });

  it('goes as a whole: instances first, then what they stood on', () => {
    const world = aTestWorld();
    clusterStack(world);
    const { StackId } = create(world, eksctlSelfManaged('c'));
    world.advance(60);
    world.call('cloudformation', 'DeleteStack', { StackName: 's' });
    world.advance(2);
    expect(stackOf(world).StackStatus).toBe('DELETE_IN_PROGRESS');
    expect(statuses(world).NodeInstanceRole).toBe('CREATE_COMPLETE');
    world.advance(120);
    expect(world.refusal('cloudformation', 'DescribeStacks', { StackName: 's' })).toBe(
      'ValidationError: Stack with id s does not exist',
    );
    expect(stackOf(world, String(StackId)).StackStatus).toBe('DELETE_COMPLETE');
    expect(world.parts.store.groups()).toEqual([]);
    expect(world.parts.templates.all()).toEqual([]);
    expect(world.parts.identity.roles()).toEqual([]);
    expect(world.parts.identity.profiles()).toEqual([]);
    expect(world.host.on.size).toBe(0);
  });

  it('rolls back with the activity that failed as its reason', () => {
    const world = aTestWorld();
    clusterStack(world);
    world.faults.inject('no-capacity', {});
    create(world, eksctlSelfManaged('c'));
    world.advance(300);
    const stack = stackOf(world);
    expect(stack.StackStatus).toBe('ROLLBACK_COMPLETE');
    const events = told(world, 's').join('\n');
    expect(events).toMatch(
      /NodeGroup CREATE_FAILED Group did not stabilize\. .*size = \{0\/1\/2\}.*Insufficient/,
    );
    expect(events).toContain(
      's ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [NodeGroup]. ' +
        'Rollback requested by user.',
    );
    expect(world.parts.store.groups()).toEqual([]);
    expect(world.parts.identity.roles()).toEqual([]);
  });

  it('continues where it was after a restart', () => {
    const tables = new Tables();
    const first = aTestWorld();
    clusterStack(first);
    create(first, eksctlSelfManaged('c'));
    first.advance(2);
    first.kernel.checkpoint();
    for (const change of first.kernel.tables.takeChanges()) {
      if (change.value !== undefined) tables.restore(change.table, change.key, change.value);
    }
    const second = aTestWorld({ tables });
    second.advance(60);
    expect(stackOf(second).StackStatus).toBe('CREATE_COMPLETE');
  });
});

describe('a stack with a managed node group', () => {
  const begun = async () => {
    const world = aTestWorld();
    const nodegroups = new FakeNodegroups();
    world.aws.connect(nodegroups.answer);
    clusterStack(world);
    create(world, eksctlManaged('c', 'ng'));
    await live(world, 20);
    return { world, nodegroups };
  };

  it('asks EKS for it and waits until it is active', async () => {
    const { world, nodegroups } = await begun();
    expect(statuses(world).ManagedNodeGroup).toBe('CREATE_IN_PROGRESS');
    expect(nodegroups.sent('CreateNodegroup')).toHaveLength(1);
    expect(nodegroups.sent('CreateNodegroup')[0]?.input).toMatchObject({
      clusterName: 'c',
      nodegroupName: 'ng',
      amiType: 'AL2_x86_64',
      scalingConfig: { minSize: 1, maxSize: 1, desiredSize: 1 },
      labels: { 'alpha.eksctl.io/cluster-name': 'c' },
      nodeRole: expect.stringMatching(/^arn:aws:iam::111111111111:role\/s-NodeInstanceRole-/),
      launchTemplate: { id: expect.stringMatching(/^lt-/) },
      subnets: subnetsOf(world).split(','),
    });
    Object.assign(nodegroups.found.get('c/ng') ?? {}, { status: 'ACTIVE' });
    await live(world, 10);
    expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
  });

  it('fails with the health issue of the node group and takes it back', async () => {
    const { world, nodegroups } = await begun();
    Object.assign(nodegroups.found.get('c/ng') ?? {}, {
      status: 'CREATE_FAILED',
      health: {
        issues: [
          {
            code: 'NodeCreationFailure',
            message: 'Instances failed to join the kubernetes cluster',
            resourceIds: ['i-1'],
          },
        ],
      },
    });
    await live(world, 10);
    expect(nodegroups.sent('DeleteNodegroup').length).toBeGreaterThan(0);
    expect(stackOf(world).StackStatus).toBe('ROLLBACK_IN_PROGRESS');
    nodegroups.found.delete('c/ng');
    await live(world, 20);
    expect(stackOf(world).StackStatus).toBe('ROLLBACK_COMPLETE');
    expect(told(world, 's').join('\n')).toContain(
      'ManagedNodeGroup CREATE_FAILED Nodegroup ng failed to stabilize: ' +
        '[{Code: NodeCreationFailure,Message: Instances failed to join the kubernetes cluster,' +
        'ResourceIds: [i-1]}]',
    );
  });

  it('asks again when the first call was lost', async () => {
    const world = aTestWorld();
    const nodegroups = new FakeNodegroups();
    let isLost = true;
    world.aws.connect(async (call) => {
      if (isLost && call.operation === 'CreateNodegroup') {
        isLost = false;
        throw new AwsError({ code: 'ServerException', message: 'lost', httpStatus: 500 });
      }
      return nodegroups.answer(call);
    });
    clusterStack(world);
    create(world, eksctlManaged('c', 'ng'));
    await live(world, 30);
    expect(nodegroups.found.has('c/ng')).toBe(true);
    expect(statuses(world).ManagedNodeGroup).toBe('CREATE_IN_PROGRESS');
  });
});

describe('templates that cannot become a stack', () => {
  const refusal = (template: unknown, more: object = {}): string => {
    const TemplateBody = typeof template === 'string' ? template : JSON.stringify(template);
    return aTestWorld().refusal('cloudformation', 'CreateStack', {
      StackName: 's',
      TemplateBody,
      ...more,
    });
  };
  const of = (Resources: object, more: object = {}) => ({ Resources, ...more });
  const group = { Type: 'AWS::EC2::SecurityGroup', Properties: { GroupDescription: 'x' } };

  it.each([
    ['{', /^ValidationError: Template format error: JSON not well-formed/],
    [{ Resources: {} }, /At least one Resources member must be defined/],
    [of({ A: group }, { Foo: {} }), /Invalid template property or properties \[Foo\]/],
    [of({ A: { Type: 'AWS::S3::Bucket' } }), /Unrecognized resource types: \[AWS::S3::Bucket\]/],
    [
      of({ A: { ...group, DependsOn: 'B' } }),
      /Unresolved resource dependencies \[B\] in the Resources block of the template/,
    ],
    [
      of({ A: { ...group, DependsOn: 'B' }, B: { ...group, DependsOn: 'A' } }),
      /Circular dependency between resources: \[A, B\]/,
    ],
    [
      of({ A: group }, { Parameters: { P: { Type: 'String' } } }),
      /Parameters: \[P\] must have values/,
    ],
    [
      of({ A: { Type: 'AWS::IAM::Role', Properties: {} } }),
      /^InsufficientCapabilitiesException: Requires capabilities : \[CAPABILITY_IAM\]/,
    ],
  ])('%j', (template, expected) => {
    expect(refusal(template)).toMatch(expected);
  });

  it('a name that is taken', () => {
    const world = aTestWorld();
    create(world, of({ A: group }));
    expect(() => create(world, of({ A: group }))).toThrow('Stack [s] already exists');
  });

  it('an import that no one exports fails the resource that needs it', () => {
    const world = aTestWorld();
    create(world, of({ A: { ...group, Properties: { VpcId: { 'Fn::ImportValue': 'x::VPC' } } } }));
    world.advance(20);
    expect(stackOf(world).StackStatus).toBe('ROLLBACK_COMPLETE');
    expect(told(world, 's')).toContain('A CREATE_FAILED No export named x::VPC found.');
  });
});

describe('the end of a stack', () => {
  it('is refused while another imports from it', () => {
    const world = aTestWorld();
    clusterStack(world);
    create(world, eksctlSelfManaged('c'));
    world.advance(60);
    world.call('cloudformation', 'DeleteStack', { StackName: 'eksctl-c-cluster' });
    const stack = stackOf(world, 'eksctl-c-cluster');
    expect(stack.StackStatus).toBe('DELETE_FAILED');
    expect(stack.StackStatusReason).toMatch(/^Export .* cannot be deleted as it is in use by s$/);
  });

  it('is refused under termination protection', () => {
    const world = aTestWorld();
    clusterStack(world);
    create(world, eksctlSelfManaged('c'), { EnableTerminationProtection: true });
    expect(world.refusal('cloudformation', 'DeleteStack', { StackName: 's' })).toMatch(
      /cannot be deleted while TerminationProtection is enabled/,
    );
  });

  it('of one that does not exist is no error', () => {
    expect(aTestWorld().call('cloudformation', 'DeleteStack', { StackName: 'x' })).toBeUndefined();
  });
});
