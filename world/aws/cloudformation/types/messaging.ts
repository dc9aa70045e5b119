// SQS and EventBridge resources of a stack, by the operations that users call too. Accepts what
// these operations accept; FIFO queues, schedules and other buses are refused there.
import { type Json, type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { ServiceCalls } from '../../calls.ts';
import { validationError } from '../../scope.ts';
import type { LocalType, ResourceTypes } from './resource-type.ts';
import { given, objectsOf, tagsOf, textOf, textsOf } from './values.ts';

type Call = (
  operation: string,
  input: Readonly<Record<string, unknown>>,
) => Readonly<Record<string, unknown>>;

export const messagingTypes = (calls: ServiceCalls): ResourceTypes => {
  const sqs: Call = (operation, input) => calls.now('sqs', operation, input);
  const events: Call = (operation, input) => calls.now('events', operation, input);
  return {
    'AWS::SQS::Queue': queue(sqs),
    'AWS::SQS::QueuePolicy': queuePolicy(sqs),
    'AWS::Events::Rule': rule(events),
  };
};

const queueAttributes = [
  ...['DelaySeconds', 'MaximumMessageSize', 'MessageRetentionPeriod', 'RedrivePolicy'],
  ...['ReceiveMessageWaitTimeSeconds', 'SqsManagedSseEnabled', 'VisibilityTimeout'],
];
const queueProperties: ReadonlySet<string> = new Set([...queueAttributes, 'QueueName', 'Tags']);

/** A document may be written as an object or as its text. */
const documentOf = (value: Json | undefined): string | undefined =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value);

const attributesOf = (properties: JsonObject): Record<string, string> => {
  const unknown = Object.keys(properties).find((name) => !queueProperties.has(name));
  if (unknown !== undefined) {
    throw validationError(`The property ${unknown} of a queue is not part of Drover's world`);
  }
  return Object.fromEntries(
    queueAttributes.flatMap((name) => {
      const text = documentOf(properties[name]);
      return text === undefined ? [] : [[name, text]];
    }),
  );
};

const queue = (sqs: Call): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const QueueName = textOf(properties.QueueName) ?? context.physicalName(80);
    const Attributes = attributesOf(properties);
    const tags = { ...context.tags, ...tagsOf(properties.Tags) };
    const url = String(sqs('CreateQueue', { QueueName, Attributes, tags }).QueueUrl);
    const asked = { QueueUrl: url, AttributeNames: ['QueueArn'] };
    const Arn = String(objectOr(sqs('GetQueueAttributes', asked).Attributes as Json).QueueArn);
    return { physicalId: url, attributes: { Arn, QueueName, QueueUrl: url } };
  },
  replacing: new Set(['QueueName']),
  update: ({ physicalId }, properties) => {
    sqs('SetQueueAttributes', { QueueUrl: physicalId, Attributes: attributesOf(properties) });
    return {};
  },
  remove: ({ physicalId }) => {
    sqs('DeleteQueue', { QueueUrl: physicalId });
  },
});

const queuePolicy = (sqs: Call): LocalType => {
  const set = (properties: JsonObject, policy: string): void => {
    for (const QueueUrl of textsOf(properties.Queues)) {
      sqs('SetQueueAttributes', { QueueUrl, Attributes: { Policy: policy } });
    }
  };
  const put = (properties: JsonObject): void =>
    set(properties, documentOf(properties.PolicyDocument) ?? '');
  return {
    kind: 'local',
    create: (properties, context) => {
      put(properties);
      return { physicalId: context.physicalName() };
    },
    replacing: new Set(['Queues']),
    update: (_resource, properties) => {
      put(properties);
      return {};
    },
    remove: ({ properties }) => set(properties, ''),
  };
};

const rule = (events: Call): LocalType => {
  const put = (name: string, properties: JsonObject): Record<string, string> => {
    const { EventPattern, Description, State, EventBusName, ScheduleExpression } = properties;
    const more = { Description, State, EventBusName, ScheduleExpression };
    const pattern = given({ ...more, EventPattern: documentOf(EventPattern) });
    const answer = events('PutRule', { Name: name, ...pattern });
    const Targets = objectsOf(properties.Targets);
    if (Targets.length > 0) events('PutTargets', { Rule: name, Targets });
    return { Arn: String(answer.RuleArn) };
  };
  const removeTargets = (name: string, targets: readonly JsonObject[]): void => {
    if (targets.length === 0) return;
    events('RemoveTargets', { Rule: name, Ids: targets.map(({ Id }) => String(Id)) });
  };
  return {
    kind: 'local',
    create: (properties, context) => {
      const name = textOf(properties.Name) ?? context.physicalName(64);
      return { physicalId: name, attributes: put(name, properties) };
    },
    replacing: new Set(['Name', 'EventBusName']),
    update: ({ physicalId, properties: before }, properties) => {
      const kept = new Set(objectsOf(properties.Targets).map(({ Id }) => Id));
      removeTargets(
        physicalId,
        objectsOf(before.Targets).filter(({ Id }) => !kept.has(Id)),
      );
      return put(physicalId, properties);
    },
    remove: ({ physicalId, properties }) => {
      removeTargets(physicalId, objectsOf(properties.Targets));
      events('DeleteRule', { Name: physicalId });
    },
  };
};
