// Queues and rules in a stack: what a rule matches arrives in the queue, and nothing is left after
// the stack's deletion.
import { expect, it } from 'vitest';
import { aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const template = (retention: number) => ({
  Resources: {
    Queue: {
      Type: 'AWS::SQS::Queue',
      Properties: { QueueName: 'q', MessageRetentionPeriod: retention },
    },
    Policy: {
      Type: 'AWS::SQS::QueuePolicy',
      Properties: { Queues: [{ Ref: 'Queue' }], PolicyDocument: { Statement: [{ Sid: 's' }] } },
    },
    Rule: {
      Type: 'AWS::Events::Rule',
      Properties: {
        Name: 'r',
        EventPattern: { source: ['mine'] },
        Targets: [{ Id: 't', Arn: { 'Fn::GetAtt': ['Queue', 'Arn'] } }],
      },
    },
  },
  Outputs: { Url: { Value: { Ref: 'Queue' } } },
});

const apply = (world: TestWorld, operation: string, body: object): string => {
  world.call('cloudformation', operation, { StackName: 's', TemplateBody: JSON.stringify(body) });
  world.advance(30);
  const answer = world.call('cloudformation', 'DescribeStacks', { StackName: 's' });
  return String(answer.Stacks?.[0]?.StackStatus);
};

const attributesOf = (world: TestWorld, QueueUrl: string): Readonly<Record<string, unknown>> =>
  world.call('sqs', 'GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] })
    .Attributes as unknown as Readonly<Record<string, unknown>>;

it('a stack makes queue, policy and rule, changes and removes them', () => {
  const world = aTestWorld();
  expect(apply(world, 'CreateStack', template(300))).toBe('CREATE_COMPLETE');
  const { QueueUrl } = world.call('sqs', 'GetQueueUrl', { QueueName: 'q' });
  const url = String(QueueUrl);
  const policy = '{"Statement":[{"Sid":"s"}]}';
  expect(attributesOf(world, url)).toMatchObject({ MessageRetentionPeriod: '300', Policy: policy });
  const event = { Source: 'mine', DetailType: 'x', Detail: '{"n":7}' };
  world.call('events', 'PutEvents', { Entries: [event] });
  world.advance(5);
  const { Messages } = world.call('sqs', 'ReceiveMessage', { QueueUrl: url });
  expect(Messages?.[0]?.Body).toContain('"n":7');
  expect(apply(world, 'UpdateStack', template(600))).toBe('UPDATE_COMPLETE');
  expect(attributesOf(world, url)).toMatchObject({ MessageRetentionPeriod: '600', Policy: policy });
  world.call('cloudformation', 'DeleteStack', { StackName: 's' });
  world.advance(30);
  expect(world.call('sqs', 'ListQueues', { QueueNamePrefix: 'q' }).QueueUrls ?? []).toEqual([]);
  expect(world.call('events', 'ListRules', { NamePrefix: 'r' }).Rules).toEqual([]);
});
