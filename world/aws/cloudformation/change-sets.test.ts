// Change sets: what they show before a change, how they end, what is refused.
import { describe, expect, it } from 'vitest';
import { type Answer, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const template = (type: string, extra: object = {}): string =>
  JSON.stringify({
    Parameters: { Max: { Type: 'Number', Default: '4' }, Subnets: { Type: 'String' } },
    Resources: {
      Template: {
        Type: 'AWS::EC2::LaunchTemplate',
        Properties: { LaunchTemplateData: { InstanceType: type, ImageId: 'image' } },
      },
      Group: {
        Type: 'AWS::AutoScaling::AutoScalingGroup',
        Properties: {
          MinSize: '0',
          MaxSize: { Ref: 'Max' },
          VPCZoneIdentifier: [{ Ref: 'Subnets' }],
          LaunchTemplate: {
            LaunchTemplateId: { Ref: 'Template' },
            Version: { 'Fn::GetAtt': ['Template', 'LatestVersionNumber'] },
          },
        },
      },
      ...extra,
    },
  });

const cfn = (world: TestWorld, operation: string, input: object = {}): Answer =>
  world.call('cloudformation', operation, { StackName: 's', ...input });
const refusal = (world: TestWorld, operation: string, input: object = {}): string =>
  world.refusal('cloudformation', operation, { StackName: 's', ...input });

const requestOf = (world: TestWorld, type: string, more: object = {}) => {
  const images = world.call('ec2', 'DescribeImages', {}).Images ?? [];
  const { Max = '4', extra = {}, ...rest } = more as { Max?: string; extra?: object };
  return {
    TemplateBody: template(type, extra).replace('"image"', `"${images[0]?.ImageId}"`),
    Parameters: [
      { ParameterKey: 'Max', ParameterValue: Max },
      {
        ParameterKey: 'Subnets',
        ParameterValue: world.foundation.publicSubnets[0]?.subnetId ?? '',
      },
    ],
    ...rest,
  };
};
const plan = (world: TestWorld, name: string, type: string, more: object = {}): Answer =>
  cfn(world, 'CreateChangeSet', { ChangeSetName: name, ...requestOf(world, type, more) });
const changeSet = (world: TestWorld, ChangeSetName: string): Answer =>
  cfn(world, 'DescribeChangeSet', { ChangeSetName });
const stateOf = (world: TestWorld, name: string): readonly unknown[] => {
  const { Status, ExecutionStatus } = changeSet(world, name) as Record<string, unknown>;
  return [Status, ExecutionStatus];
};
const stackOf = (world: TestWorld): Answer => cfn(world, 'DescribeStacks').Stacks?.[0] as Answer;
const names = (world: TestWorld): readonly unknown[] =>
  (cfn(world, 'ListChangeSets').Summaries ?? []).map((one) => one.ChangeSetName);

const begin = (): TestWorld => {
  const world = aTestWorld();
  cfn(world, 'CreateStack', requestOf(world, 'm5.large'));
  world.advance(600);
  expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
  return world;
};

describe('a change set', () => {
  it('shows what would change and through what, and changes nothing', () => {
    const world = begin();
    plan(world, 'bigger', 'm5.xlarge', { Max: '6' });
    expect(stateOf(world, 'bigger')).toEqual(['CREATE_COMPLETE', 'AVAILABLE']);
    const changes = (changeSet(world, 'bigger').Changes ?? []).map((one) => one.ResourceChange);
    expect(changes).toMatchObject([
      {
        Action: 'Modify',
        LogicalResourceId: 'Template',
        Replacement: 'False',
        Details: [{ Target: { Name: 'LaunchTemplateData' }, ChangeSource: 'DirectModification' }],
      },
      {
        Action: 'Modify',
        LogicalResourceId: 'Group',
        Details: [
          {
            Target: { Name: 'MaxSize' },
            Evaluation: 'Static',
            ChangeSource: 'ParameterReference',
            CausingEntity: 'Max',
          },
          {
            Target: { Name: 'LaunchTemplate' },
            Evaluation: 'Dynamic',
            ChangeSource: 'ResourceAttribute',
            CausingEntity: 'Template.LatestVersionNumber',
          },
        ],
      },
    ]);
    world.advance(60);
    expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
    expect(stackOf(world).ChangeSetId).toBeUndefined();
  });

  it('is executed once, follows the stack, and takes the others of the stack away', () => {
    const world = begin();
    const { Id } = plan(world, 'bigger', 'm5.xlarge') as Record<string, unknown>;
    plan(world, 'other', 'm5.2xlarge');
    cfn(world, 'ExecuteChangeSet', { ChangeSetName: Id, StackName: undefined });
    expect(stateOf(world, 'bigger')).toEqual(['CREATE_COMPLETE', 'EXECUTE_IN_PROGRESS']);
    expect(names(world)).toEqual(['bigger']);
    expect(refusal(world, 'DeleteChangeSet', { ChangeSetName: 'bigger' })).toMatch(
      /^InvalidChangeSetStatus: .*cannot be deleted in its current execution status of \[EXECUTE_IN_PROGRESS\]$/,
    );
    world.advance(600);
    expect(stackOf(world)).toMatchObject({ StackStatus: 'UPDATE_COMPLETE', ChangeSetId: Id });
    expect(stateOf(world, 'bigger')).toEqual(['CREATE_COMPLETE', 'EXECUTE_COMPLETE']);
    expect(refusal(world, 'ExecuteChangeSet', { ChangeSetName: 'bigger' })).toMatch(
      /^InvalidChangeSetStatus: ChangeSet \[arn:aws:cloudformation:.*:changeSet\/bigger\/.*\] cannot be executed in its current execution status of \[EXECUTE_COMPLETE\]$/,
    );
  });

  it('has failed where the change of its stack is put back', () => {
    const world = begin();
    const extra = {
      Group: {
        ...JSON.parse(template('m5.large')).Resources.Group,
        Properties: {
          ...JSON.parse(template('m5.large')).Resources.Group.Properties,
          DesiredCapacity: '9',
        },
      },
    };
    plan(world, 'toobig', 'm5.large', { extra });
    cfn(world, 'ExecuteChangeSet', { ChangeSetName: 'toobig' });
    world.advance(600);
    expect(stackOf(world).StackStatus).toBe('UPDATE_ROLLBACK_COMPLETE');
    expect(stateOf(world, 'toobig')).toEqual(['CREATE_COMPLETE', 'EXECUTE_FAILED']);
  });

  it('fails without a change, whatever order or spelling the template has', () => {
    const world = begin();
    const { Resources, Parameters } = JSON.parse(requestOf(world, 'm5.large').TemplateBody);
    const { Template, Group } = Resources;
    const TemplateBody = JSON.stringify({
      Resources: {
        Group: { Properties: { ...Group.Properties, MinSize: 0 }, Type: Group.Type },
        Template,
      },
      Parameters,
    });
    plan(world, 'same', 'm5.large', { TemplateBody });
    expect(changeSet(world, 'same')).toMatchObject({
      Status: 'FAILED',
      ExecutionStatus: 'UNAVAILABLE',
      StatusReason:
        "The submitted information didn't contain changes. Submit different information to create a change set.",
      Changes: [],
    });
    expect(refusal(world, 'ExecuteChangeSet', { ChangeSetName: 'same' })).toMatch(
      /^InvalidChangeSetStatus: .*cannot be executed in its current status of \[FAILED\]$/,
    );
  });

  it('is obsolete once its stack was changed by other means, and ends with its stack', () => {
    const world = begin();
    plan(world, 'bigger', 'm5.xlarge');
    cfn(world, 'UpdateStack', requestOf(world, 'm5.2xlarge'));
    world.advance(600);
    expect(stateOf(world, 'bigger')).toEqual(['CREATE_COMPLETE', 'OBSOLETE']);
    expect(refusal(world, 'ExecuteChangeSet', { ChangeSetName: 'bigger' })).toMatch(
      /execution status of \[OBSOLETE\]$/,
    );
    const { ChangeSetId } = changeSet(world, 'bigger') as Record<string, unknown>;
    cfn(world, 'DeleteStack');
    world.advance(1200);
    const input = { ChangeSetName: ChangeSetId, StackName: undefined };
    expect(refusal(world, 'DescribeChangeSet', input)).toMatch(/^ChangeSetNotFound: /);
  });

  it('shows what would be added, removed or replaced, which the world refuses to execute', () => {
    const world = begin();
    const extra = { Gateway: { Type: 'AWS::EC2::InternetGateway', Properties: {} } };
    plan(world, 'more', 'm5.large', { extra });
    expect(changeSet(world, 'more').Changes).toMatchObject([
      { ResourceChange: { Action: 'Add', LogicalResourceId: 'Gateway' } },
    ]);
    const words = refusal(world, 'ExecuteChangeSet', { ChangeSetName: 'more' });
    expect(words).toMatch(/^NotImplemented: .*Adding, removing or retyping resources/);
    const { Resources, ...rest } = JSON.parse(requestOf(world, 'm5.large').TemplateBody);
    Resources.Template.Properties.LaunchTemplateName = 'mine';
    const TemplateBody = JSON.stringify({ Resources, ...rest });
    plan(world, 'named', 'm5.large', { TemplateBody });
    expect(changeSet(world, 'named').Changes?.[0]).toMatchObject({
      ResourceChange: { LogicalResourceId: 'Template', Replacement: 'True' },
    });
    const refused = refusal(world, 'ExecuteChangeSet', { ChangeSetName: 'named' });
    expect(refused).toMatch(/Replacing AWS::EC2::LaunchTemplate for another LaunchTemplateName/);
    expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
  });

  it('is refused by name, by stack and by the state of its stack, as the service does', () => {
    const world = begin();
    plan(world, 'bigger', 'm5.xlarge');
    const again = { ChangeSetName: 'bigger', ...requestOf(world, 'm5.xlarge') };
    expect(refusal(world, 'CreateChangeSet', again)).toBe(
      'AlreadyExistsException: ChangeSet [bigger] already exists',
    );
    for (const operation of ['DescribeChangeSet', 'ExecuteChangeSet']) {
      expect(refusal(world, operation, { ChangeSetName: 'none' })).toBe(
        'ChangeSetNotFound: ChangeSet [none] does not exist',
      );
      expect(refusal(world, operation, { ChangeSetName: 'bigger', StackName: undefined })).toBe(
        'ValidationError: StackName must be specified if ChangeSetName is not specified as an ARN.',
      );
    }
    const foreign = { ...again, StackName: 'none' };
    for (const operation of ['CreateChangeSet', 'ListChangeSets', 'DescribeChangeSet']) {
      expect(refusal(world, operation, foreign)).toBe(
        'ValidationError: Stack [none] does not exist',
      );
    }
    cfn(world, 'DeleteChangeSet', { ChangeSetName: 'none' });
    cfn(world, 'DeleteChangeSet', { ChangeSetName: 'bigger' });
    expect(names(world)).toEqual([]);
    plan(world, 'bigger', 'm5.xlarge');
    plan(world, 'biggest', 'm5.4xlarge');
    cfn(world, 'ExecuteChangeSet', { ChangeSetName: 'bigger' });
    expect(refusal(world, 'CreateChangeSet', { ...again, ChangeSetName: 'late' })).toMatch(
      /^ValidationError: Stack:arn:.* is in UPDATE_IN_PROGRESS state and can not be updated\.$/,
    );
  });
});

describe('a change set that creates', () => {
  it('makes a stack in review, which it fills once it is executed', () => {
    const world = aTestWorld();
    plan(world, 'first', 'm5.large', { ChangeSetType: 'CREATE' });
    expect(stackOf(world).StackStatus).toBe('REVIEW_IN_PROGRESS');
    expect(changeSet(world, 'first').Changes).toMatchObject([
      { ResourceChange: { Action: 'Add', LogicalResourceId: 'Template' } },
      { ResourceChange: { Action: 'Add', LogicalResourceId: 'Group' } },
    ]);
    expect(refusal(world, 'UpdateStack', requestOf(world, 'm5.xlarge'))).toMatch(
      /is in REVIEW_IN_PROGRESS state and can not be updated/,
    );
    cfn(world, 'ExecuteChangeSet', { ChangeSetName: 'first' });
    world.advance(600);
    expect(stackOf(world).StackStatus).toBe('CREATE_COMPLETE');
    expect(stateOf(world, 'first')).toEqual(['CREATE_COMPLETE', 'EXECUTE_COMPLETE']);
    const again = {
      ...{ ChangeSetName: 'second', ChangeSetType: 'CREATE' },
      ...requestOf(world, 'm5.large'),
    };
    expect(refusal(world, 'CreateChangeSet', again)).toBe(
      'ValidationError: Stack [s] already exists and cannot be created again with the changeSet [second].',
    );
  });

  it('leaves no stack where the template is refused, and one in review can be deleted', () => {
    const world = aTestWorld();
    const wrong = { ChangeSetName: 'first', ChangeSetType: 'CREATE', TemplateBody: '{}' };
    expect(refusal(world, 'CreateChangeSet', wrong)).toMatch(/^ValidationError: Template format/);
    expect(() => stackOf(world)).toThrow(/does not exist/);
    plan(world, 'first', 'm5.large', { ChangeSetType: 'CREATE' });
    cfn(world, 'DeleteStack');
    world.advance(10);
    expect(() => stackOf(world)).toThrow(/does not exist/);
  });
});
