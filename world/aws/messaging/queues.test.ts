import { describe, expect, it } from 'vitest';
import { aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';
import type { ReceivedMessage } from './queues.ts';

const aQueue = (world: TestWorld, Attributes: Readonly<Record<string, string>> = {}): string =>
  String(world.call('sqs', 'CreateQueue', { QueueName: 'q', Attributes }).QueueUrl);

const receive = (world: TestWorld, QueueUrl: string, more: object = {}) => [
  ...(world.call('sqs', 'ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10, ...more })
    .Messages ?? []),
];

describe('visibility', () => {
  it('hides a received message until its timeout, then hands it out with a new receipt', () => {
    const world = aTestWorld();
    const QueueUrl = aQueue(world, { VisibilityTimeout: '20' });
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'hello' });
    const [first] = receive(world, QueueUrl);
    expect(first).toMatchObject({ Body: 'hello', MD5OfBody: '5d41402abc4b2a76b9719d911017c592' });
    expect(receive(world, QueueUrl)).toEqual([]);
    world.advance(21);
    const [second] = receive(world, QueueUrl, { AttributeNames: ['All'] });
    expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle);
    expect(second?.Attributes).toMatchObject({ ApproximateReceiveCount: '2' });
    world.call('sqs', 'DeleteMessage', { QueueUrl, ReceiptHandle: first?.ReceiptHandle });
    world.advance(21);
    expect(receive(world, QueueUrl)).toHaveLength(1);
  });

  it('ends for good when deleted with the newest receipt', () => {
    const world = aTestWorld();
    const QueueUrl = aQueue(world);
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'x' });
    const [message] = receive(world, QueueUrl);
    world.call('sqs', 'DeleteMessage', { QueueUrl, ReceiptHandle: message?.ReceiptHandle });
    world.advance(60);
    expect(receive(world, QueueUrl)).toEqual([]);
  });

  it('is changed by ChangeMessageVisibility, only in flight', () => {
    const world = aTestWorld();
    const QueueUrl = aQueue(world);
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'x' });
    const [message] = receive(world, QueueUrl);
    const request = { QueueUrl, ReceiptHandle: message?.ReceiptHandle };
    world.call('sqs', 'ChangeMessageVisibility', { ...request, VisibilityTimeout: 100 });
    world.advance(99);
    expect(receive(world, QueueUrl)).toEqual([]);
    world.advance(2);
    const late = { ...request, VisibilityTimeout: 5 };
    expect(world.refusal('sqs', 'ChangeMessageVisibility', late)).toMatch(/^MessageNotInflight/);
  });

  it('shows in the counts', () => {
    const world = aTestWorld();
    const QueueUrl = aQueue(world);
    for (const MessageBody of ['a', 'b', 'c']) {
      world.call('sqs', 'SendMessage', { QueueUrl, MessageBody });
    }
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'd', DelaySeconds: 60 });
    receive(world, QueueUrl, { MaxNumberOfMessages: 1 });
    const AttributeNames = ['All'];
    expect(
      world.call('sqs', 'GetQueueAttributes', { QueueUrl, AttributeNames }).Attributes,
    ).toMatchObject({
      ApproximateNumberOfMessages: '2',
      ApproximateNumberOfMessagesNotVisible: '1',
      ApproximateNumberOfMessagesDelayed: '1',
    });
  });

  it('gives way to the dead-letter queue after enough receives', () => {
    const world = aTestWorld();
    const dead = String(world.call('sqs', 'CreateQueue', { QueueName: 'dead' }).QueueUrl);
    const deadLetterTargetArn = 'arn:aws:sqs:eu-west-1:111111111111:dead';
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
    const QueueUrl = aQueue(world, { RedrivePolicy });
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'poison' });
    for (let i = 0; i < 3; i++) {
      receive(world, QueueUrl);
      world.advance(31);
    }
    expect(receive(world, dead).map((one) => one.Body)).toEqual(['poison']);
  });
});

describe('RedrivePolicy', () => {
  const deadLetterTargetArn = 'arn:aws:sqs:eu-west-1:111111111111:dead';
  it.each([
    ['no JSON', 'none', 'Redrive policy is not a valid JSON map.'],
    ['a list', '[]', 'Redrive policy is not a valid JSON map.'],
    [
      'no target',
      '{"maxReceiveCount":2}',
      'Redrive policy does not contain mandatory attribute: deadLetterTargetArn.',
    ],
    [
      'no count',
      JSON.stringify({ deadLetterTargetArn }),
      'Redrive policy does not contain mandatory attribute: maxReceiveCount.',
    ],
    [
      'a count of none',
      JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 0 }),
      'Invalid value for maxReceiveCount: 0, valid values are from 1 to 1000 both inclusive.',
    ],
  ])('of %s is refused and changes nothing', (_what, RedrivePolicy, reason) => {
    const world = aTestWorld();
    const refusal = `Value ${RedrivePolicy} for parameter RedrivePolicy is invalid. Reason: ${reason}`;
    expect(() => aQueue(world, { RedrivePolicy })).toThrow(refusal);
    const QueueUrl = aQueue(world);
    const Attributes = { RedrivePolicy };
    expect(() => world.call('sqs', 'SetQueueAttributes', { QueueUrl, Attributes })).toThrow(
      refusal,
    );
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'hello' });
    expect(receive(world, QueueUrl)).toHaveLength(1);
  });

  it('is removed by an empty value', () => {
    const world = aTestWorld();
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
    const QueueUrl = aQueue(world, { RedrivePolicy });
    const Attributes = { RedrivePolicy: '' };
    world.call('sqs', 'SetQueueAttributes', { QueueUrl, Attributes });
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'hello' });
    expect(receive(world, QueueUrl)).toHaveLength(1);
  });
});

describe('bad requests', () => {
  it.each([
    [
      'a broken receipt',
      'DeleteMessage',
      { ReceiptHandle: 'nonsense' },
      'ReceiptHandleIsInvalid: The input receipt handle is invalid.',
    ],
    [
      'an unknown queue',
      'PurgeQueue',
      { QueueUrl: 'http://x/111111111111/nobody' },
      'QueueDoesNotExist: The specified queue does not exist.',
    ],
    [
      'an empty body',
      'SendMessage',
      { MessageBody: '' },
      'InvalidParameterValue: The request must contain a message body.',
    ],
    [
      'too many at once',
      'ReceiveMessage',
      { MaxNumberOfMessages: 11 },
      [
        'InvalidParameterValue: Value 11 for parameter MaxNumberOfMessages is invalid.',
        'Reason: Must be between 1 and 10, if provided.',
      ].join(' '),
    ],
  ])('%s is refused', (_, operation, input, message) => {
    const world = aTestWorld();
    const QueueUrl = aQueue(world);
    expect(world.refusal('sqs', operation, { QueueUrl, ...input })).toBe(message);
  });
});

describe('a long poll', () => {
  const poll = (world: TestWorld, waitSeconds: number) => {
    const results: (readonly ReceivedMessage[])[] = [];
    const cancel = world.aws.receiveWhenAvailable('q', {
      waitSeconds,
      onResult: (messages) => results.push(messages),
    });
    const bodies = () => results.map((messages) => messages.map((one) => one.message.body));
    return { bodies, cancel };
  };

  it('answers when a message comes', () => {
    const world = aTestWorld();
    const QueueUrl = aQueue(world);
    const { bodies } = poll(world, 20);
    world.advance(5);
    expect(bodies()).toEqual([]);
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'x' });
    world.advance(0.001);
    expect(bodies()).toEqual([['x']]);
    world.advance(30);
    expect(bodies()).toEqual([['x']]);
  });

  it('answers when a hidden message becomes visible', () => {
    const world = aTestWorld();
    const QueueUrl = aQueue(world, { VisibilityTimeout: '10' });
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'x' });
    receive(world, QueueUrl);
    const { bodies } = poll(world, 20);
    world.advance(9);
    expect(bodies()).toEqual([]);
    world.advance(1.1);
    expect(bodies()).toEqual([['x']]);
  });

  it('answers with nothing at its end, and not at all when cancelled', () => {
    const world = aTestWorld();
    aQueue(world);
    const waiting = poll(world, 20);
    const given = poll(world, 20);
    given.cancel();
    world.advance(21);
    expect(waiting.bodies()).toEqual([[]]);
    expect(given.bodies()).toEqual([]);
  });

  it('of the handler is a promise that world time resolves', async () => {
    const world = aTestWorld();
    const QueueUrl = aQueue(world);
    const handler = world.aws.handlers.sqs?.ReceiveMessage;
    const answer = handler?.(
      { QueueUrl, WaitTimeSeconds: 20 },
      {
        service: 'sqs',
        operation: 'ReceiveMessage',
        region: 'eu-west-1',
        requestId: 'r',
        principal: { type: 'IAMUser', accountId: '111111111111', arn: 'a', principalId: 'p' },
        accessKeyId: 'AKIA',
        userAgent: 'test',
        sourceIp: '127.0.0.1',
      },
    );
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'x' });
    world.advance(1);
    await expect(answer).resolves.toMatchObject({ Messages: [{ Body: 'x' }] });
  });
});
