// One SQS queue as the port sees it. Receiving waits on the server, never here.
import { epochMs } from '../../api/brand.ts';
import type { QueueMessage } from '../../api/cloud.ts';
import type { CloudApi } from '../../ports/index.ts';
import { type Clients, call } from './clients.ts';

/** SQS' own maximum. */
const messagesAtOnce = 10;

/** SQS writes epoch milliseconds as text. */
const sentAt = (text: string | undefined): Pick<QueueMessage, 'sentAt'> =>
  text === undefined || !/^\d+$/.test(text) ? {} : { sentAt: epochMs(Number(text)) };

export const queueCalls = (
  clients: Clients,
): Pick<CloudApi, 'receiveMessages' | 'deleteMessage' | 'changeVisibility'> => ({
  receiveMessages: async (queueUrl, options) => {
    const { sdk, client } = await clients.sqs();
    const command = new sdk.ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: messagesAtOnce,
      WaitTimeSeconds: options.waitSeconds,
      VisibilityTimeout: options.visibilitySeconds,
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp'],
    });
    const answer = await call('ReceiveMessage', options, (http) => client.send(command, http));
    return (answer.Messages ?? []).map(
      (message): QueueMessage => ({
        id: message.MessageId ?? '',
        receiptHandle: message.ReceiptHandle ?? '',
        body: message.Body ?? '',
        receiveCount: Number(message.Attributes?.ApproximateReceiveCount ?? 1),
        ...sentAt(message.Attributes?.SentTimestamp),
      }),
    );
  },
  deleteMessage: async (queueUrl, receiptHandle, options = {}) => {
    const { sdk, client } = await clients.sqs();
    const command = new sdk.DeleteMessageCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
    });
    await call('DeleteMessage', options, (http) => client.send(command, http));
  },
  changeVisibility: async (queueUrl, receiptHandle, seconds, options = {}) => {
    const { sdk, client } = await clients.sqs();
    const command = new sdk.ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    });
    await call('ChangeMessageVisibility', options, (http) => client.send(command, http));
  },
});
