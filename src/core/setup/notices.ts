// The queue that `drover controller --queue-url` reads, the EventBridge rules that fill it, and the
// policy of the queue. Pure.
import type { JsonObject } from '../../api/json.ts';

export interface EventRule {
  readonly name: string;
  readonly pattern: {
    readonly source: readonly string[];
    readonly 'detail-type': readonly string[];
  };
}

/**
 * EventBridge allows 64 characters for the name of a rule; Drover appends up to 10 to the queue's
 * name.
 */
export const maxQueueName = 54;

/**
 * The events that src/formats/notices reads; the controller would delete any other message unread.
 */
export const eventRules = (queue: string): readonly EventRule[] => [
  {
    name: `${queue}-lifecycle`,
    pattern: {
      source: ['aws.autoscaling'],
      'detail-type': [
        'EC2 Instance-launch Lifecycle Action',
        'EC2 Instance-terminate Lifecycle Action',
      ],
    },
  },
  {
    name: `${queue}-instances`,
    pattern: {
      source: ['aws.ec2'],
      'detail-type': [
        'EC2 Spot Instance Interruption Warning',
        'EC2 Instance Rebalance Recommendation',
        'EC2 Instance State-change Notification',
      ],
    },
  },
  {
    name: `${queue}-health`,
    pattern: { source: ['aws.health'], 'detail-type': ['AWS Health Event'] },
  },
];

/** Region, account and partition, or a placeholder in the syntax of the output. */
export interface Place {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
}

export const queueArn = ({ partition, region, account }: Place, queue: string): string =>
  `arn:${partition}:sqs:${region}:${account}:${queue}`;

const ruleArn = ({ partition, region, account }: Place, rule: string): string =>
  `arn:${partition}:events:${region}:${account}:rule/${rule}`;

/** Notices are worthless after their deadline; a Spot interruption gives two minutes. */
export const retentionSeconds = 300;

/**
 * Only EventBridge may send, and only for these rules of this account. Without the conditions a
 * rule of another account could send through EventBridge
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html).
 */
export const queuePolicy = (place: Place, queue: string): JsonObject => ({
  Version: '2012-10-17',
  Statement: [
    {
      Sid: 'EventBridgeSendsNotices',
      Effect: 'Allow',
      Principal: { Service: 'events.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Resource: queueArn(place, queue),
      Condition: {
        StringEquals: { 'aws:SourceAccount': place.account },
        ArnEquals: {
          'aws:SourceArn': eventRules(queue).map(({ name }) => ruleArn(place, name)),
        },
      },
    },
  ],
});
