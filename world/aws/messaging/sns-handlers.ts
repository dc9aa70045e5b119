// SNS over the API. Topics of other accounts exist, but users can neither list nor access them.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsCallContext,
  type AwsInput,
  optionalText,
  structures,
  text,
  textMap,
} from '../../../src/aws-wire/index.ts';
import { pageOf } from '../paging.ts';
import { refuse, type Scope, type ServiceHandlers, sentence } from '../scope.ts';
import type { SubscriptionRow, TopicRow, Topics } from './topics.ts';

export interface SnsParts {
  readonly scope: Scope;
  readonly topics: Topics;
}

const pageSize = 100;
const badToken = () => refuse('InvalidParameter', 'Invalid parameter: NextToken');
const noTopic = () => refuse('NotFound', 'Topic does not exist', 404);

/** Throws if the topic does not exist or belongs to another account. */
const needTopic = ({ scope, topics }: SnsParts, arn: string, ctx: AwsCallContext): TopicRow => {
  const account = arn.split(':')[4];
  if (account !== scope.account) {
    throw refuse(
      'AuthorizationError',
      sentence(
        `User: ${ctx.principal.arn} is not authorized to perform: SNS:${ctx.operation} on`,
        `resource: ${arn} because no resource-based policy allows the`,
        `SNS:${ctx.operation} action`,
      ),
      403,
    );
  }
  const topic = topics.get(arn);
  if (topic === undefined) throw noTopic();
  return topic;
};

export const snsHandlers = (parts: SnsParts): ServiceHandlers => ({
  ...topicHandlers(parts),
  ...subscriptionHandlers(parts),
});

const topicHandlers = (parts: SnsParts): ServiceHandlers => ({
  CreateTopic: (input) => {
    const name = text(input, 'Name');
    if (!/^[\w-]{1,256}$/.test(name)) {
      throw refuse('InvalidParameter', 'Invalid parameter: Topic Name');
    }
    const tags = Object.fromEntries(
      structures(input, 'Tags').map((tag) => [text(tag, 'Key'), text(tag, 'Value')]),
    );
    return { TopicArn: parts.topics.create(name, parts.scope.account, tags).arn };
  },
  DeleteTopic: (input, ctx) => {
    parts.topics.delete(needTopic(parts, text(input, 'TopicArn'), ctx).arn);
  },
  ListTopics: (input) => {
    const own = parts.topics.all().filter((topic) => topic.account === parts.scope.account);
    const page = pageOf(own, {
      max: pageSize,
      token: optionalText(input, 'NextToken'),
      keyOf: (topic) => topic.arn,
      invalid: badToken,
    });
    return {
      Topics: page.items.map((topic) => ({ TopicArn: topic.arn })),
      ...defined({ NextToken: page.nextToken }),
    };
  },
  GetTopicAttributes: (input, ctx) => {
    const topic = needTopic(parts, text(input, 'TopicArn'), ctx);
    const count = parts.topics.subscriptions().filter((row) => row.topicArn === topic.arn).length;
    return {
      Attributes: {
        TopicArn: topic.arn,
        Owner: topic.account,
        DisplayName: '',
        SubscriptionsConfirmed: String(count),
        SubscriptionsPending: '0',
        SubscriptionsDeleted: '0',
        ...topic.attributes,
      },
    };
  },
  Publish: (input, ctx) => {
    const arn = optionalText(input, 'TopicArn') ?? optionalText(input, 'TargetArn') ?? '';
    const topic = needTopic(parts, arn, ctx);
    const message = text(input, 'Message');
    if (message === '') throw refuse('InvalidParameter', 'Invalid parameter: Empty message');
    const subject = optionalText(input, 'Subject');
    return { MessageId: parts.topics.publish(topic.arn, { message, subject }) };
  },
});

const subscriptionHandlers = (parts: SnsParts): ServiceHandlers => ({
  Subscribe: (input, ctx) => {
    const topic = needTopic(parts, text(input, 'TopicArn'), ctx);
    const protocol = text(input, 'Protocol');
    if (protocol !== 'sqs') {
      throw refuse('InvalidParameter', `Drover's world delivers to sqs only, not to ${protocol}`);
    }
    const row = parts.topics.subscribe({
      topicArn: topic.arn,
      owner: parts.scope.account,
      protocol,
      endpoint: optionalText(input, 'Endpoint') ?? '',
      attributes: textMap(input, 'Attributes'),
    });
    return { SubscriptionArn: row.arn };
  },
  Unsubscribe: (input) => {
    parts.topics.unsubscribe(needSubscription(parts, input).arn);
  },
  ListSubscriptions: (input) => listSubscriptions(parts, input, () => true),
  ListSubscriptionsByTopic: (input, ctx) => {
    const topic = needTopic(parts, text(input, 'TopicArn'), ctx);
    return listSubscriptions(parts, input, (row) => row.topicArn === topic.arn);
  },
  GetSubscriptionAttributes: (input) => {
    const row = needSubscription(parts, input);
    return {
      Attributes: {
        SubscriptionArn: row.arn,
        TopicArn: row.topicArn,
        Owner: row.owner,
        Protocol: row.protocol,
        Endpoint: row.endpoint,
        PendingConfirmation: 'false',
        RawMessageDelivery: 'false',
        ...row.attributes,
      },
    };
  },
  SetSubscriptionAttributes: (input) => {
    const row = needSubscription(parts, input);
    const name = text(input, 'AttributeName');
    const value = optionalText(input, 'AttributeValue') ?? '';
    if (name !== 'RawMessageDelivery') {
      throw refuse('InvalidParameter', `Drover's world knows RawMessageDelivery only, not ${name}`);
    }
    parts.topics.putSubscription({ ...row, attributes: { ...row.attributes, [name]: value } });
  },
});

/** A subscription belongs to its owner's account, whoever owns the topic. */
const needSubscription = ({ scope, topics }: SnsParts, input: AwsInput): SubscriptionRow => {
  const arn = text(input, 'SubscriptionArn');
  const row = topics.subscriptions().find((one) => one.arn === arn && one.owner === scope.account);
  if (row === undefined) throw refuse('NotFound', 'Subscription does not exist', 404);
  return row;
};

const listSubscriptions = (
  { scope, topics }: SnsParts,
  input: AwsInput,
  passes: (row: SubscriptionRow) => boolean,
) => {
  const own = topics.subscriptions().filter((row) => row.owner === scope.account && passes(row));
  const page = pageOf(own, {
    max: pageSize,
    token: optionalText(input, 'NextToken'),
    keyOf: (row) => row.arn,
    invalid: badToken,
  });
  return {
    Subscriptions: page.items.map((row) => ({
      SubscriptionArn: row.arn,
      Owner: row.owner,
      Protocol: row.protocol,
      Endpoint: row.endpoint,
      TopicArn: row.topicArn,
    })),
    ...defined({ NextToken: page.nextToken }),
  };
};
