// One SQS queue. Receiving waits on the server, never here.
import { epochMs } from '../api/brand.ts';
import type { QueueMessage } from '../api/cloud.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import type { CloudApi } from '../ports/index.ts';
import type { AwsCalls } from './calls.ts';
import { objects, textOf } from './values.ts';

/** SQS' own maximum. */
const messagesAtOnce = 10;

/** SQS writes epoch milliseconds as text. */
const sentAt = (text: string): Pick<QueueMessage, 'sentAt'> =>
  /^\d+$/.test(text) ? { sentAt: epochMs(Number(text)) } : {};

const messageOf = (message: JsonObject): QueueMessage => {
  const { ApproximateReceiveCount, SentTimestamp } = objectOr(message.Attributes);
  return {
    id: textOf(message.MessageId),
    receiptHandle: textOf(message.ReceiptHandle),
    body: textOf(message.Body),
    receiveCount: Number(ApproximateReceiveCount ?? 1),
    ...sentAt(textOf(SentTimestamp)),
  };
};

const service = 'sqs';

export const queueCalls = (
  calls: AwsCalls,
): Pick<CloudApi, 'changeVisibility' | 'deleteMessage' | 'receiveMessages'> => ({
  receiveMessages: async (queueUrl, options) => {
    const input = {
      QueueUrl: queueUrl,
      MaxNumberOfMessages: messagesAtOnce,
      WaitTimeSeconds: options.waitSeconds,
      VisibilityTimeout: options.visibilitySeconds,
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp'],
    };
    const output = await calls.send(service, 'ReceiveMessage', input, options);
    return objects(output.Messages).map(messageOf);
  },
  deleteMessage: async (queueUrl, receiptHandle, options = {}) => {
    const input = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle };
    await calls.send(service, 'DeleteMessage', input, options);
  },
  changeVisibility: async (queueUrl, receiptHandle, seconds, options = {}) => {
    const input = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: seconds };
    await calls.send(service, 'ChangeMessageVisibility', input, options);
  },
});
