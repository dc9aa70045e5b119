// The policy against the table of calls, and the rules against the notices that the controller
// reads.
import { describe, expect, it } from 'vitest';
import { cloudOperations } from '../../api/aws-operations.ts';
import { objectOr } from '../../api/json.ts';
import { parseNotice } from '../../formats/index.ts';
import {
  checkedBesides,
  controllerActions,
  controllerPolicy,
  eventRules,
  maxQueueName,
  queuePolicy,
  serviceAccountTrust,
} from './index.ts';

const place = { partition: 'aws', region: 'eu-west-1', account: '111122223333' };
const calls = Object.entries(cloudOperations).flatMap(([service, names]) =>
  names.map((name) => `${service === 'elbv2' ? 'elasticloadbalancing' : service}:${name}`),
);

const statements = (more: Partial<Parameters<typeof controllerPolicy>[0]> = {}) => {
  const policy = controllerPolicy({
    place,
    queue: 'q',
    createsGroups: true,
    groupTag: undefined,
    nodeRole: 'nodes-*',
    ...more,
  });
  return policy.Statement as readonly Readonly<Record<string, unknown>>[];
};
const actionsIn = (all: ReturnType<typeof statements>): readonly string[] =>
  all.flatMap(({ Action }) => Action as readonly string[]);

describe('the policy of the controller', () => {
  it('allows every call that the controller makes, each once', () => {
    const allowed = actionsIn(statements());
    expect(calls.filter((call) => !allowed.includes(call))).toEqual([]);
    expect(new Set(allowed).size).toBe(allowed.length);
  });

  it('allows nothing that is not called or checked with a call', () => {
    const known = new Set([...calls, ...checkedBesides(true), 'iam:PassRole']);
    expect(actionsIn(statements()).filter((action) => !known.has(action))).toEqual([]);
  });

  it('creates and deletes nothing where groups are only adopted', () => {
    const actions = controllerActions(false);
    const made = actions.filter((action) => /:(?:Create|Delete)/.test(action));
    expect(made).toEqual([
      'autoscaling:CreateOrUpdateTags',
      'autoscaling:DeleteLifecycleHook',
      'autoscaling:DeleteTags',
      'ec2:CreateLaunchTemplateVersion',
      'sqs:DeleteMessage',
    ]);
  });

  it('limits changes of groups and instances to a tag', () => {
    const limited = statements({ groupTag: { key: 'team', value: 'blue' } }).filter(
      ({ Condition }) => JSON.stringify(Condition)?.includes('aws:ResourceTag/team'),
    );
    const actions = actionsIn(limited);
    expect(actions).toContain('autoscaling:TerminateInstanceInAutoScalingGroup');
    expect(actions).toContain('ec2:RebootInstances');
    expect(actions).not.toContain('autoscaling:CreateAutoScalingGroup');
  });

  it('tags only what it creates', () => {
    const tagged = (createsGroups: boolean) =>
      statements({ createsGroups }).filter(({ Action }) =>
        (Action as readonly string[]).includes('ec2:CreateTags'),
      );
    const of = (...names: readonly string[]) => [
      {
        Sid: 'TagsOfTheCreated',
        Effect: 'Allow',
        Action: ['ec2:CreateTags'],
        Resource: '*',
        Condition: { StringEquals: { 'ec2:CreateAction': names } },
      },
    ];
    expect(tagged(true)).toEqual(of('RunInstances', 'CreateLaunchTemplate', 'CreateSecurityGroup'));
    expect(tagged(false)).toEqual(of('RunInstances'));
  });

  it('creates only groups that have the tag from the start', () => {
    const groupTag = { key: 'eks:cluster-name', value: 'c' };
    const creating = (more: Parameters<typeof statements>[0]) =>
      statements(more).filter(({ Action }) =>
        (Action as readonly string[]).includes('autoscaling:CreateAutoScalingGroup'),
      );
    expect(creating({ groupTag })).toMatchObject([
      { Condition: { StringEquals: { 'aws:RequestTag/eks:cluster-name': 'c' } } },
    ]);
    expect(creating({ groupTag, createsGroups: false })).toEqual([]);
  });

  it('passes node roles to EC2 alone', () => {
    expect(statements().at(-1)).toMatchObject({
      Resource: 'arn:aws:iam::111122223333:role/nodes-*',
      Condition: {
        StringEquals: { 'iam:PassedToService': ['ec2.amazonaws.com', 'ec2.amazonaws.com.cn'] },
      },
    });
  });
});

describe('the queue', () => {
  it('may have the longest name with which the rules fit', () => {
    const lengths = eventRules('q'.repeat(maxQueueName)).map(({ name }) => name.length);
    expect(Math.max(...lengths)).toBe(64);
  });

  it('gets only events that the controller reads', () => {
    for (const { pattern } of eventRules('q')) {
      for (const type of pattern['detail-type']) {
        const event = { source: pattern.source[0], 'detail-type': type, detail: {} };
        const notice = parseNotice(JSON.stringify(event));
        expect(notice.kind === 'foreign' && /^event /.test(JSON.stringify(notice))).toBe(false);
      }
    }
  });

  it('takes messages of its rules in this account, and of nobody else', () => {
    const [statement, ...more] = queuePolicy(place, 'q').Statement as readonly object[];
    expect(more).toEqual([]);
    expect(statement).toMatchObject({
      Principal: { Service: 'events.amazonaws.com' },
      Condition: {
        StringEquals: { 'aws:SourceAccount': '111122223333' },
        ArnEquals: {
          'aws:SourceArn': eventRules('q').map(
            ({ name }) => `arn:aws:events:eu-west-1:111122223333:rule/${name}`,
          ),
        },
      },
    });
  });
});

describe('the trust of a service account', () => {
  it('names the account and the audience', () => {
    const issuer = 'oidc.eks.eu-west-1.amazonaws.com/id/ABC';
    const [statement] = serviceAccountTrust(place, issuer).Statement as readonly object[];
    expect(objectOr(objectOr(objectOr(statement).Condition).StringEquals)).toEqual({
      [`${issuer}:aud`]: 'sts.amazonaws.com',
      [`${issuer}:sub`]: 'system:serviceaccount:kube-system:drover-controller',
    });
  });
});
