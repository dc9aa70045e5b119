// `drover setup aws --format cloudformation`: one template in JSON. Calls nothing.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import { retentionSeconds } from '../../core/setup/index.ts';
import { resourcesOf, type SetupOptions } from './resources.ts';

const parameter = (name: string): string => `\${AWS::${name}}`;

const place = {
  partition: parameter('Partition'),
  region: parameter('Region'),
  account: parameter('AccountId'),
};

/** Texts with pseudo parameters become Fn::Sub. */
const substituted = (value: Json): Json => {
  if (typeof value === 'string') return value.includes('{AWS::') ? { 'Fn::Sub': value } : value;
  if (Array.isArray(value)) return value.map(substituted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, substituted(one as Json)]),
  );
};

const logicalName = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());

export const cloudFormationTemplate = (options: SetupOptions): JsonObject => {
  const { queue, role } = options;
  const { queuePolicy, rules, controllerPolicy, trust } = resourcesOf(options, place);
  const ruleResources = rules.map(({ name, pattern }) => [
    logicalName(name),
    {
      Type: 'AWS::Events::Rule',
      Properties: {
        Name: name,
        EventPattern: pattern,
        Targets: [{ Id: 'drover', Arn: { 'Fn::GetAtt': ['Queue', 'Arn'] } }],
      },
    },
  ]);
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'Queue, rules and role of drover controller',
    Resources: {
      Queue: {
        Type: 'AWS::SQS::Queue',
        Properties: {
          QueueName: queue,
          MessageRetentionPeriod: retentionSeconds,
          SqsManagedSseEnabled: true,
        },
      },
      QueuePolicy: {
        Type: 'AWS::SQS::QueuePolicy',
        Properties: { Queues: [{ Ref: 'Queue' }], PolicyDocument: substituted(queuePolicy) },
      },
      ...Object.fromEntries(ruleResources),
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          RoleName: role,
          AssumeRolePolicyDocument: substituted(trust),
          Policies: [
            { PolicyName: 'drover-controller', PolicyDocument: substituted(controllerPolicy) },
          ],
        },
      },
    },
    Outputs: {
      QueueUrl: { Value: { Ref: 'Queue' } },
      RoleArn: { Value: { 'Fn::GetAtt': ['Role', 'Arn'] } },
    },
  };
};
