// A stack changes its node group through the group's own updates: which calls, in which order, and
// when the stack update ends.
import { describe, expect, it } from 'vitest';
import { AwsError } from '../../../src/aws-wire/index.ts';
import { type Answer, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';
import { eksctlManaged } from '../../../test/builders/world-aws-cloudformation-templates.ts';
import { clusterStack, FakeNodegroups, live } from '../../../test/builders/world-aws-nodegroups.ts';
import { Tables } from '../../kernel/index.ts';

type Properties = Readonly<Record<string, unknown>>;

const bodyWith = (properties: Properties = {}, data: Properties = {}): string => {
  const template = eksctlManaged('c', 'ng');
  const { LaunchTemplate, ManagedNodeGroup } = template.Resources;
  const launch = { ...LaunchTemplate.Properties.LaunchTemplateData, ...data };
  return JSON.stringify({
    ...template,
    Resources: {
      ...template.Resources,
      LaunchTemplate: {
        ...LaunchTemplate,
        Properties: { ...LaunchTemplate.Properties, LaunchTemplateData: launch },
      },
      ManagedNodeGroup: {
        ...ManagedNodeGroup,
        Properties: { ...ManagedNodeGroup.Properties, ...properties },
      },
    },
  });
};

const request = (body: string, more: object = {}) => ({
  StackName: 's',
  TemplateBody: body,
  Capabilities: ['CAPABILITY_IAM'],
  ...more,
});
const stackOf = (world: TestWorld): Answer =>
  world.call('cloudformation', 'DescribeStacks', { StackName: 's' }).Stacks?.[0] as Answer;
const told = (world: TestWorld): readonly string[] =>
  (world.call('cloudformation', 'DescribeStackEvents', { StackName: 's' }).StackEvents ?? [])
    .map(
      (one) => `${one.LogicalResourceId} ${one.ResourceStatus} ${one.ResourceStatusReason ?? ''}`,
    )
    .toReversed();
const change = (world: TestWorld, body: string, more: object = {}): void => {
  world.call('cloudformation', 'UpdateStack', request(body, more));
};

const tags = (team: string) => ({ Tags: [{ Key: 'team', Value: team }] });
/** `Operation input` of the write calls, without the members that all of them share. */
const changes = (groups: FakeNodegroups): readonly (readonly [string, unknown])[] => {
  const reading = ['DescribeUpdate', 'DescribeNodegroup'];
  const written = groups.calls.filter((one) => !reading.includes(one.operation));
  return written.map(({ operation, input }) => {
    const { clusterName: _, nodegroupName: _name, clientRequestToken: _token, ...rest } = input;
    return [operation, rest] as const;
  });
};

const begin = async (): Promise<{ world: TestWorld; groups: FakeNodegroups }> => {
  const world = aTestWorld();
  const groups = new FakeNodegroups();
  world.aws.connect(groups.answer);
  clusterStack(world);
  world.call('cloudformation', 'CreateStack', request(bodyWith(), tags('red')));
  await live(world, 20);
  Object.assign(groups.found.get('c/ng') ?? {}, {
    status: 'ACTIVE',
    nodegroupArn: 'arn:aws:eks:eu-west-1:111111111111:nodegroup/c/ng/uuid',
  });
  await live(world, 10);
  expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
  groups.calls.length = 0;
  return { world, groups };
};

const release = '1.32.9-20260919';

describe('an update of a node group in a stack', () => {
  it('ends the stack’s update when the group’s own has ended', async () => {
    const { world, groups } = await begin();
    change(world, bodyWith({ ReleaseVersion: release, ForceUpdateEnabled: true }));
    await live(world, 30);
    expect(changes(groups)).toEqual([
      ['UpdateNodegroupVersion', { releaseVersion: release, force: true }],
    ]);
    expect(stackOf(world).StackStatus).toBe('UPDATE_IN_PROGRESS');
    world.advance(3600);
    await live(world, 10);
    expect(stackOf(world).StackStatus).toBe('UPDATE_IN_PROGRESS');
    groups.latest.status = 'Successful';
    await live(world, 10);
    expect(stackOf(world).StackStatus).toBe('UPDATE_COMPLETE');
    expect(() =>
      change(world, bodyWith({ ReleaseVersion: release, ForceUpdateEnabled: true })),
    ).toThrow('No updates are to be performed.');
  });

  it('takes version and configuration one after the other, then tags', async () => {
    const { world, groups } = await begin();
    const own = { 'alpha.eksctl.io/nodegroup-name': 'ng', more: 'yes' };
    const body = bodyWith({
      Version: '1.33',
      ScalingConfig: { DesiredSize: 1, MaxSize: '5', MinSize: 1 },
      Labels: { tier: 'web' },
      Taints: [{ Key: 'a', Value: 'b', Effect: 'NO_SCHEDULE' }],
      UpdateConfig: { MaxUnavailable: 2 },
      Tags: own,
    });
    change(world, body, tags('blue'));
    await live(world, 10);
    expect(groups.sent('UpdateNodegroupConfig')).toEqual([]);
    groups.latest.status = 'Successful';
    await live(world, 10);
    groups.latest.status = 'Successful';
    await live(world, 10);
    expect(stackOf(world).StackStatus).toBe('UPDATE_COMPLETE');
    expect(changes(groups)).toEqual([
      ['UpdateNodegroupVersion', { version: '1.33' }],
      [
        'UpdateNodegroupConfig',
        {
          scalingConfig: { maxSize: 5 },
          labels: {
            addOrUpdateLabels: { tier: 'web' },
            removeLabels: ['alpha.eksctl.io/cluster-name'],
          },
          taints: { addOrUpdateTaints: [{ key: 'a', value: 'b', effect: 'NO_SCHEDULE' }] },
          updateConfig: { maxUnavailable: 2 },
        },
      ],
      [
        'TagResource',
        {
          resourceArn: 'arn:aws:eks:eu-west-1:111111111111:nodegroup/c/ng/uuid',
          tags: { team: 'blue', more: 'yes' },
        },
      ],
    ]);
  });

  it('takes tags and taints away that the template has no more', async () => {
    const { world, groups } = await begin();
    const taint = (Key: string) => ({ Key, Value: 'v', Effect: 'NO_SCHEDULE' });
    change(world, bodyWith({ Taints: [taint('a'), taint('b')] }));
    await live(world, 10);
    groups.latest.status = 'Successful';
    await live(world, 10);
    groups.calls.length = 0;
    change(world, bodyWith({ Taints: [taint('b')], Tags: {} }), {
      Tags: [{ Key: 'x', Value: 'y' }],
    });
    await live(world, 10);
    groups.latest.status = 'Successful';
    await live(world, 20);
    expect(stackOf(world).StackStatus).toBe('UPDATE_COMPLETE');
    expect(changes(groups)).toEqual([
      [
        'UpdateNodegroupConfig',
        { taints: { removeTaints: [{ key: 'a', value: 'v', effect: 'NO_SCHEDULE' }] } },
      ],
      [
        'UntagResource',
        expect.objectContaining({ tagKeys: ['team', 'alpha.eksctl.io/nodegroup-name'] }),
      ],
      ['TagResource', expect.objectContaining({ tags: { x: 'y' } })],
    ]);
  });

  it('sends nothing where only ForceUpdateEnabled changes', async () => {
    const { world, groups } = await begin();
    change(world, bodyWith({ ForceUpdateEnabled: false }));
    await live(world, 20);
    expect(stackOf(world).StackStatus).toBe('UPDATE_COMPLETE');
    expect(changes(groups)).toEqual([]);
    expect(told(world)).toContain('ManagedNodeGroup UPDATE_COMPLETE ');
  });

  it('follows a new version of its launch template', async () => {
    const { world, groups } = await begin();
    const latest = {
      LaunchTemplate: {
        Id: { Ref: 'LaunchTemplate' },
        Version: { 'Fn::GetAtt': ['LaunchTemplate', 'LatestVersionNumber'] },
      },
    };
    change(world, bodyWith(latest, { KeyName: 'maowang' }));
    await live(world, 20);
    const id = expect.stringMatching(/^lt-/);
    expect(changes(groups)).toEqual([
      ['UpdateNodegroupVersion', { launchTemplate: { id, version: '2' } }],
    ]);
  });

  it('is put back with EKS’ words where the group’s update fails', async () => {
    const { world, groups } = await begin();
    change(world, bodyWith({ Version: '1.33', Labels: { tier: 'web' } }));
    await live(world, 10);
    Object.assign(groups.latest, { status: 'Successful' });
    await live(world, 10);
    Object.assign(groups.latest, {
      status: 'Failed',
      errors: [{ errorCode: 'PodEvictionFailure', errorMessage: 'Reached', resourceIds: ['ip-1'] }],
    });
    groups.calls.length = 0;
    await live(world, 20);
    const back = 'The following resource(s) failed to update: [ManagedNodeGroup]. ';
    expect(told(world)).toContain(`s UPDATE_ROLLBACK_IN_PROGRESS ${back}`);
    expect(told(world)).toContain(
      'ManagedNodeGroup UPDATE_FAILED Resource handler returned message: "[ErrorDetail(' +
        'ErrorCode=PodEvictionFailure, ErrorMessage=Reached, ResourceIds=[ip-1])]"',
    );
    expect(changes(groups)).toEqual([]);
    expect(stackOf(world).StackStatus).toBe('UPDATE_ROLLBACK_COMPLETE');
    expect(told(world).slice(-4)).toEqual([
      'ManagedNodeGroup UPDATE_IN_PROGRESS ',
      'ManagedNodeGroup UPDATE_COMPLETE ',
      's UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS ',
      's UPDATE_ROLLBACK_COMPLETE ',
    ]);
  });

  it('puts a release back that an earlier step had changed', async () => {
    const { world, groups } = await begin();
    change(world, bodyWith({ ReleaseVersion: '1.32.9-1' }));
    await live(world, 10);
    groups.latest.status = 'Successful';
    await live(world, 10);
    change(world, bodyWith({ ReleaseVersion: release, Labels: { tier: 'web' } }));
    await live(world, 10);
    groups.latest.status = 'Successful';
    await live(world, 10);
    Object.assign(groups.latest, { status: 'Failed' });
    groups.calls.length = 0;
    await live(world, 10);
    expect(changes(groups)).toEqual([['UpdateNodegroupVersion', { releaseVersion: '1.32.9-1' }]]);
    groups.latest.status = 'Successful';
    await live(world, 20);
    expect(stackOf(world).StackStatus).toBe('UPDATE_ROLLBACK_COMPLETE');
  });

  it('is put back where EKS refuses it, and sent again where the call was lost', async () => {
    const { world, groups } = await begin();
    let answers = 0;
    world.aws.connect(async (call) => {
      if (!call.operation.startsWith('UpdateNodegroup')) return groups.answer(call);
      answers += 1;
      const httpStatus = answers === 1 ? 500 : 409;
      throw new AwsError({ code: 'ResourceInUseException', message: 'in use', httpStatus });
    });
    change(world, bodyWith({ Version: '1.33' }));
    await live(world, 20);
    expect(answers).toBe(2);
    expect(stackOf(world).StackStatus).toBe('UPDATE_ROLLBACK_COMPLETE');
    expect(told(world)).toContain('ManagedNodeGroup UPDATE_FAILED in use (ResourceInUseException)');
  });

  it('continues where it was after a restart, with the same update', async () => {
    const { world, groups } = await begin();
    change(world, bodyWith({ Version: '1.33' }));
    await live(world, 10);
    world.kernel.checkpoint();
    const tables = new Tables();
    for (const one of world.kernel.tables.takeChanges()) {
      if (one.value !== undefined) tables.restore(one.table, one.key, one.value);
    }
    const second = aTestWorld({ tables });
    second.aws.connect(groups.answer);
    groups.latest.status = 'Successful';
    await live(second, 20);
    expect(stackOf(second).StackStatus).toBe('UPDATE_COMPLETE');
    expect(groups.updates.size).toBe(1);
  });

  it('is refused where the group would have to be replaced', async () => {
    const { world, groups } = await begin();
    const refused = world.refusal(
      'cloudformation',
      'UpdateStack',
      request(bodyWith({ InstanceTypes: ['m5.xlarge'] })),
    );
    expect(refused).toMatch(
      /^NotImplemented: .*Replacing AWS::EKS::Nodegroup for another InstanceTypes/,
    );
    expect(changes(groups)).toEqual([]);
    expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
  });
});
