// The IAM policy of `drover controller`, from the table of the AWS operations that it calls.
// Contains every operation of the table and, besides these, only what AWS checks together with
// them. Pure.
import { cloudOperations } from '../../api/aws-operations.ts';
import type { JsonObject } from '../../api/json.ts';
import { type Place, queueArn } from './notices.ts';

/** Calls that only groups created by Drover need; adopted groups already exist. */
const creating: ReadonlySet<string> = new Set([
  'autoscaling:CreateAutoScalingGroup',
  'autoscaling:DeleteAutoScalingGroup',
  'autoscaling:DeleteWarmPool',
  'ec2:AuthorizeSecurityGroupIngress',
  'ec2:CreateLaunchTemplate',
  'ec2:CreateSecurityGroup',
  'ec2:DeleteLaunchTemplate',
  'ec2:DeleteSecurityGroup',
  'eks:CreateAccessEntry',
  'eks:DeleteAccessEntry',
  'iam:AddRoleToInstanceProfile',
  'iam:CreateInstanceProfile',
  'iam:DeleteInstanceProfile',
  'iam:RemoveRoleFromInstanceProfile',
]);

/**
 * Rights that AWS checks in addition to the call itself: a principal that gives a group a launch
 * template must be allowed to run instances from it
 * (https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-launch-template-permissions.html).
 * A principal that creates an instance profile with tags must be allowed to tag it.
 */
export const checkedBesides = (createsGroups: boolean): readonly string[] => [
  'ec2:CreateTags',
  'ec2:RunInstances',
  ...(createsGroups ? ['iam:TagInstanceProfile'] : []),
];

/**
 * Calls that may tag what they create; no other tagging is allowed
 * (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html).
 */
const tagging = ['RunInstances', 'CreateLaunchTemplate', 'CreateSecurityGroup'] as const;

const reads = /^(?:Describe|List|Get)/;

export interface PolicyOptions {
  readonly place: Place;
  readonly queue: string;
  /** Whether Drover also creates and deletes node groups, or only manages adopted ones. */
  readonly createsGroups: boolean;
  /** Only Auto Scaling groups and instances with this tag may be changed. */
  readonly groupTag: { readonly key: string; readonly value: string } | undefined;
  /** Name or pattern of the nodes' IAM roles, which new instances receive. */
  readonly nodeRole: string;
}

/** The prefix of a service's actions in IAM, if it differs from the name of the model. */
const prefixes: Readonly<Record<string, string>> = { elbv2: 'elasticloadbalancing' };

/** `service:Operation` of every call of the controller; fewer if it only manages adopted groups. */
export const controllerActions = (createsGroups: boolean): readonly string[] =>
  Object.entries(cloudOperations)
    .flatMap(([service, names]) => names.map((name) => `${prefixes[service] ?? service}:${name}`))
    .filter((action) => createsGroups || !creating.has(action))
    .toSorted();

const statement = (sid: string, actions: readonly string[], more: JsonObject): JsonObject => ({
  Sid: sid,
  Effect: 'Allow',
  Action: actions,
  ...more,
});

/** Actions that change groups and instances. A tag condition limits them where AWS supports it. */
const changed = /^(?:autoscaling:|ec2:(?:Reboot|Terminate)Instances$)/;
/** The condition checks the tags in the request, because a new group has no tags yet. */
const createGroup = 'autoscaling:CreateAutoScalingGroup';
/** The second one is for the partition aws-cn. */
const ec2Principals = ['ec2.amazonaws.com', 'ec2.amazonaws.com.cn'] as const;

export const controllerPolicy = (options: PolicyOptions): JsonObject => {
  const { place, queue, createsGroups, groupTag, nodeRole } = options;
  const all = controllerActions(createsGroups);
  const isRead = (action: string): boolean => reads.test(action.split(':')[1] ?? '');
  const queueActions = all.filter((action) => action.startsWith('sqs:'));
  const groupActions = all.filter(
    (action) => !isRead(action) && changed.test(action) && action !== createGroup,
  );
  const others = all.filter(
    (action) =>
      !isRead(action) &&
      action !== createGroup &&
      !queueActions.includes(action) &&
      !groupActions.includes(action),
  );
  const tagged = (tags: 'RequestTag' | 'ResourceTag'): JsonObject =>
    groupTag === undefined
      ? {}
      : { Condition: { StringEquals: { [`aws:${tags}/${groupTag.key}`]: groupTag.value } } };
  const besides = checkedBesides(createsGroups).filter((action) => action !== 'ec2:CreateTags');
  const creations = tagging.filter(
    (name) => name === 'RunInstances' || all.includes(`ec2:${name}`),
  );
  const created = { StringEquals: { 'ec2:CreateAction': creations } };
  const role = `arn:${place.partition}:iam::${place.account}:role/${nodeRole}`;
  const passed = { StringEquals: { 'iam:PassedToService': ec2Principals } };
  return {
    Version: '2012-10-17',
    Statement: [
      statement('Read', all.filter(isRead), { Resource: '*' }),
      statement('Notices', queueActions, { Resource: queueArn(place, queue) }),
      statement('GroupsAndInstances', groupActions, { Resource: '*', ...tagged('ResourceTag') }),
      ...(createsGroups
        ? [statement('NewGroups', [createGroup], { Resource: '*', ...tagged('RequestTag') })]
        : []),
      statement('Templates', [...others, ...besides].toSorted(), { Resource: '*' }),
      statement('TagsOfTheCreated', ['ec2:CreateTags'], { Resource: '*', Condition: created }),
      statement('NodeRoles', ['iam:PassRole'], { Resource: role, Condition: passed }),
    ],
  };
};
