// SQS over the API. ReceiveMessage with a wait returns a promise that world time resolves; all
// other operations answer immediately. FIFO queues are refused.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  md5Hex,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
  textMap,
  texts,
} from '../../../src/aws-wire/index.ts';
import { pageOf } from '../paging.ts';
import { refuse, type Scope, type ServiceHandlers, sentence } from '../scope.ts';
import {
  defaultQueueAttributes,
  type MessageAttribute,
  type MessageRow,
  type QueueRow,
  type Queues,
  type ReceivedMessage,
  redrivePolicyFault,
} from './queues.ts';

export interface SqsParts {
  readonly scope: Scope;
  readonly queues: Queues;
  /** Origin of queue URLs, e.g. `http://127.0.0.1:8700`: SDKs call the host of a queue's URL. */
  readonly endpoint: () => string;
}

export const queueUrl = ({ endpoint }: SqsParts, queue: QueueRow): string =>
  `${endpoint()}/${queue.account}/${queue.name}`;

const noQueue = () => refuse('QueueDoesNotExist', 'The specified queue does not exist.');

/** A queue by its URL; only account and name are compared, with any host. */
const needQueue = ({ queues }: SqsParts, input: AwsInput): QueueRow => {
  const [account, name] = text(input, 'QueueUrl').split('/').slice(-2);
  const queue = queues.get(name ?? '');
  if (queue === undefined || queue.account !== account) throw noQueue();
  return queue;
};

export const sqsHandlers = (parts: SqsParts): ServiceHandlers => ({
  ...queueHandlers(parts),
  ...messageHandlers(parts),
});

const queueHandlers = (parts: SqsParts): ServiceHandlers => ({
  CreateQueue: (input) => createQueue(parts, input),
  GetQueueUrl: (input) => {
    const queue = parts.queues.get(text(input, 'QueueName'));
    const owner = optionalText(input, 'QueueOwnerAWSAccountId') ?? parts.scope.account;
    if (queue === undefined || queue.account !== owner) throw noQueue();
    return { QueueUrl: queueUrl(parts, queue) };
  },
  ListQueues: (input) => {
    const prefix = optionalText(input, 'QueueNamePrefix') ?? '';
    const own = parts.queues
      .all()
      .filter((queue) => queue.account === parts.scope.account && queue.name.startsWith(prefix));
    const page = pageOf(own, {
      max: optionalNumber(input, 'MaxResults') ?? 1000,
      token: optionalText(input, 'NextToken'),
      keyOf: (queue) => queue.name,
      invalid: () => refuse('InvalidParameterValue', 'Invalid or expired next token.'),
    });
    if (page.items.length === 0) return {};
    return {
      QueueUrls: page.items.map((queue) => queueUrl(parts, queue)),
      ...defined({ NextToken: page.nextToken }),
    };
  },
  DeleteQueue: (input) => {
    parts.queues.delete(needQueue(parts, input).name);
  },
  PurgeQueue: (input) => {
    parts.queues.purge(needQueue(parts, input).name);
  },
  GetQueueAttributes: (input) => {
    const all = attributesOf(parts, needQueue(parts, input));
    const wanted = texts(input, 'AttributeNames');
    const chosen = Object.entries(all).filter(
      ([name]) => wanted.includes('All') || wanted.includes(name),
    );
    return chosen.length === 0 ? {} : { Attributes: Object.fromEntries(chosen) };
  },
  SetQueueAttributes: (input) => {
    const queue = needQueue(parts, input);
    const attributes = { ...queue.attributes, ...checkAttributes(textMap(input, 'Attributes')) };
    parts.queues.put({ ...queue, attributes, modifiedAt: parts.scope.now() });
  },
  ListQueueTags: (input) => ({ Tags: needQueue(parts, input).tags }),
  TagQueue: (input) => {
    const queue = needQueue(parts, input);
    parts.queues.put({ ...queue, tags: { ...queue.tags, ...textMap(input, 'Tags') } });
  },
});

const messageHandlers = (parts: SqsParts): ServiceHandlers => ({
  SendMessage: (input) => {
    const row = send(parts, needQueue(parts, input), input);
    return { MessageId: row.id, MD5OfMessageBody: md5Hex(row.body) };
  },
  SendMessageBatch: (input) => {
    const queue = needQueue(parts, input);
    const Successful = structures(input, 'Entries').map((entry) => {
      const row = send(parts, queue, entry);
      return { Id: text(entry, 'Id'), MessageId: row.id, MD5OfMessageBody: md5Hex(row.body) };
    });
    return { Successful, Failed: [] };
  },
  ReceiveMessage: (input) => receive(parts, input),
  DeleteMessage: (input) => {
    parts.queues.deleteMessage(needQueue(parts, input).name, text(input, 'ReceiptHandle'));
  },
  DeleteMessageBatch: (input) => {
    const { name } = needQueue(parts, input);
    return batch(input, (entry) => {
      parts.queues.deleteMessage(name, text(entry, 'ReceiptHandle'));
    });
  },
  ChangeMessageVisibility: (input) => {
    changeVisibility(parts, needQueue(parts, input).name, input);
  },
  ChangeMessageVisibilityBatch: (input) => {
    const { name } = needQueue(parts, input);
    return batch(input, (entry) => changeVisibility(parts, name, entry));
  },
});

const batch = (input: AwsInput, act: (entry: AwsInput) => void) => {
  const Successful: { Id: string }[] = [];
  const Failed: { Id: string; SenderFault: boolean; Code: string; Message: string }[] = [];
  for (const entry of structures(input, 'Entries')) {
    const Id = text(entry, 'Id');
    try {
      act(entry);
      Successful.push({ Id });
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error;
      Failed.push({ Id, SenderFault: true, Code: String(error.code), Message: error.message });
    }
  }
  return { Successful, Failed };
};

const settable = new Set([...Object.keys(defaultQueueAttributes), 'Policy', 'RedrivePolicy']);
const notSettableHere = ['FifoQueue', 'ContentBasedDeduplication'];

const checkAttributes = (given: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(given)) {
    if (notSettableHere.includes(name)) {
      throw refuse('UnsupportedOperation', `FIFO queues (${name}) are not part of Drover's world.`);
    }
    const isNumber = settable.has(name) && /^\d+$/.test(defaultQueueAttributes[name] ?? '');
    if (isNumber && !/^\d+$/.test(value)) {
      throw refuse('InvalidAttributeValue', `Invalid value for the parameter ${name}.`);
    }
    if (name === 'RedrivePolicy') checkRedrivePolicy(value);
  }
  return given;
};

/** An empty value removes the policy (API reference, SetQueueAttributes). */
const checkRedrivePolicy = (value: string): void => {
  if (value === '') return;
  const wrong = redrivePolicyFault(value);
  if (wrong === undefined) return;
  throw refuse(
    'InvalidParameterValue',
    `Value ${value} for parameter RedrivePolicy is invalid. Reason: ${wrong}`,
  );
};

const createQueue = (parts: SqsParts, input: AwsInput) => {
  const { scope, queues } = parts;
  const name = text(input, 'QueueName');
  if (!/^[\w-]{1,80}$/.test(name)) {
    throw refuse(
      'InvalidParameterValue',
      name.endsWith('.fifo')
        ? "FIFO queues are not part of Drover's world."
        : 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
    );
  }
  const given = checkAttributes(textMap(input, 'Attributes'));
  const existing = queues.get(name);
  if (existing !== undefined) {
    const differs = Object.entries(given).find(
      ([key, value]) => existing.attributes[key] !== value,
    );
    if (differs === undefined) return { QueueUrl: queueUrl(parts, existing) };
    throw refuse(
      'QueueNameExists',
      `A queue already exists with the same name and a different value for attribute ${differs[0]}`,
    );
  }
  const now = scope.now();
  const queue: QueueRow = {
    name,
    account: scope.account,
    attributes: { ...defaultQueueAttributes, ...given },
    createdAt: now,
    modifiedAt: now,
    tags: textMap(input, 'tags'),
  };
  queues.put(queue);
  return { QueueUrl: queueUrl(parts, queue) };
};

const attributesOf = ({ queues }: SqsParts, queue: QueueRow): Readonly<Record<string, string>> => {
  const { visible, inFlight, delayed } = queues.counts(queue.name);
  return {
    QueueArn: queues.arn(queue),
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    CreatedTimestamp: String(Math.floor(queue.createdAt / 1000)),
    LastModifiedTimestamp: String(Math.floor(queue.modifiedAt / 1000)),
    ...queue.attributes,
  };
};

const messageAttributes = (
  input: AwsInput,
): Readonly<Record<string, MessageAttribute>> | undefined => {
  const given = Object.entries(optionalStructure(input, 'MessageAttributes') ?? {});
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map(([name, value]) => {
      const attribute = value as AwsInput;
      const StringValue = optionalText(attribute, 'StringValue');
      if (StringValue === undefined) {
        throw refuse('UnsupportedOperation', `Only string values of attributes: ${name}`);
      }
      return [name, { DataType: text(attribute, 'DataType'), StringValue }];
    }),
  );
};

const send = ({ scope, queues }: SqsParts, queue: QueueRow, input: AwsInput): MessageRow => {
  const body = text(input, 'MessageBody');
  if (body === '')
    throw refuse('InvalidParameterValue', 'The request must contain a message body.');
  const row = queues.send(queue.name, {
    body,
    senderId: scope.account,
    delaySeconds: optionalNumber(input, 'DelaySeconds'),
    attributes: messageAttributes(input),
  });
  if (row === undefined) throw noQueue();
  return row;
};

const maxWaitSeconds = 20;

const receive = (parts: SqsParts, input: AwsInput): unknown => {
  const queue = needQueue(parts, input);
  const max = optionalNumber(input, 'MaxNumberOfMessages') ?? 1;
  const waitSeconds =
    optionalNumber(input, 'WaitTimeSeconds') ??
    Number(queue.attributes.ReceiveMessageWaitTimeSeconds);
  if (max < 1 || max > 10) {
    throw refuse(
      'InvalidParameterValue',
      sentence(
        `Value ${max} for parameter MaxNumberOfMessages is invalid. Reason: Must be`,
        'between 1 and 10, if provided.',
      ),
    );
  }
  if (waitSeconds < 0 || waitSeconds > maxWaitSeconds) {
    throw refuse(
      'InvalidParameterValue',
      sentence(
        `Value ${waitSeconds} for parameter WaitTimeSeconds is invalid. Reason: Must be`,
        '>= 0 and <= 20, if provided.',
      ),
    );
  }
  const request = { max, visibilitySeconds: optionalNumber(input, 'VisibilityTimeout') };
  const now = parts.queues.receive(queue.name, request);
  if (now.length > 0 || waitSeconds === 0) return renderReceived(now, input);
  return new Promise((resolve) => {
    parts.queues.receiveWhenAvailable(queue.name, {
      ...request,
      waitSeconds,
      onResult: (messages) => resolve(renderReceived(messages, input)),
    });
  });
};

/** The answer of ReceiveMessage; without messages it has no members. */
const renderReceived = (received: readonly ReceivedMessage[], input: AwsInput) => {
  const wanted = [
    ...texts(input, 'AttributeNames'),
    ...texts(input, 'MessageSystemAttributeNames'),
  ];
  const named = texts(input, 'MessageAttributeNames');
  if (received.length === 0) return {};
  return {
    Messages: received.map(({ message, receiptHandle }) => {
      const system = Object.entries(systemAttributes(message)).filter(
        ([name]) => wanted.includes('All') || wanted.includes(name),
      );
      const custom = Object.entries(message.attributes ?? {}).filter(
        ([name]) => named.includes('All') || named.includes('.*') || named.includes(name),
      );
      return {
        MessageId: message.id,
        ReceiptHandle: receiptHandle,
        MD5OfBody: md5Hex(message.body),
        Body: message.body,
        ...(system.length === 0 ? {} : { Attributes: Object.fromEntries(system) }),
        ...(custom.length === 0 ? {} : { MessageAttributes: Object.fromEntries(custom) }),
      };
    }),
  };
};

const systemAttributes = (message: MessageRow): Readonly<Record<string, string>> => ({
  SenderId: message.senderId,
  SentTimestamp: String(message.sentAt),
  ApproximateReceiveCount: String(message.receiveCount),
  ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt ?? message.sentAt),
});

const changeVisibility = ({ queues }: SqsParts, name: string, input: AwsInput): void => {
  const seconds = optionalNumber(input, 'VisibilityTimeout') ?? 0;
  if (seconds < 0 || seconds > 43_200) {
    throw refuse(
      'InvalidParameterValue',
      sentence(
        `Value ${seconds} for parameter VisibilityTimeout is invalid. Reason: Must be`,
        'between 0 and 43200.',
      ),
    );
  }
  queues.changeVisibility(name, text(input, 'ReceiptHandle'), seconds);
};
