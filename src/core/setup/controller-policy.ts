// The IAM policy of `drover controller`, from the table of the AWS operations that it calls. Every
// operation of the table is in it, and nothing besides but what AWS checks on top of a call. Pure.
import { cloudOperations } from '../../api/aws-operations.ts';
import type { JsonObject } from '../../api/json.ts';
import { type Place, queueArn } from './notices.ts';

/** Calls that only groups need which Drover creates; adopted groups exist already. */
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
 * What AWS checks besides the call itself: to give a group a launch template, its caller must be
 * allowed to run that template's instances
 * (https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-launch-template-permissions.html).
 */
export const checkedBesides: readonly string[] = ['ec2:CreateTags', 'ec2:RunInstances'];

const reads = /^(?:Describe|List|Get)/;

export interface PolicyOptions {
  readonly place: Place;
  readonly queue: string;
  /** Whether Drover also creates and deletes node groups, or only manages adopted ones. */
  readonly createsGroups: boolean;
  /** Changes are allowed to Auto Scaling groups and instances with this tag only. */
  readonly groupTag: { readonly key: string; readonly value: string } | undefined;
  /** Name or pattern of the nodes' roles, which the instances of a template get. */
  readonly nodeRole: string;
}

/** `service:Operation` of every call of the controller; for adopted groups alone, fewer. */
export const controllerActions = (createsGroups: boolean): readonly string[] =>
  Object.entries(cloudOperations)
    .flatMap(([service, names]) => names.map((name) => `${service}:${name}`))
    .filter((action) => createsGroups || !creating.has(action))
    .toSorted();

const statement = (sid: string, actions: readonly string[], more: JsonObject): JsonObject => ({
  Sid: sid,
  Effect: 'Allow',
  Action: actions,
  ...more,
});

/** Changes of groups and instances; a tag limits them where it can be checked. */
const changed = /^(?:autoscaling:|ec2:RebootInstances$)/;
/** Made before the group or its tag exists. */
const untaggedYet: ReadonlySet<string> = new Set(['autoscaling:CreateAutoScalingGroup']);

export const controllerPolicy = (options: PolicyOptions): JsonObject => {
  const { place, queue, createsGroups, groupTag, nodeRole } = options;
  const all = controllerActions(createsGroups);
  const isRead = (action: string): boolean => reads.test(action.split(':')[1] ?? '');
  const queueActions = all.filter((action) => action.startsWith('sqs:'));
  const groupActions = all.filter(
    (action) => !isRead(action) && changed.test(action) && !untaggedYet.has(action),
  );
  const others = all.filter(
    (action) => !isRead(action) && !queueActions.includes(action) && !groupActions.includes(action),
  );
  const condition =
    groupTag === undefined
      ? {}
      : { Condition: { StringEquals: { [`aws:ResourceTag/${groupTag.key}`]: groupTag.value } } };
  const role = `arn:${place.partition}:iam::${place.account}:role/${nodeRole}`;
  const passed = { StringEquals: { 'iam:PassedToService': 'ec2.amazonaws.com' } };
  return {
    Version: '2012-10-17',
    Statement: [
      statement('Read', all.filter(isRead), { Resource: '*' }),
      statement('Notices', queueActions, { Resource: queueArn(place, queue) }),
      statement('GroupsAndInstances', groupActions, { Resource: '*', ...condition }),
      statement('Templates', [...others, ...checkedBesides].toSorted(), { Resource: '*' }),
      statement('NodeRoles', ['iam:PassRole'], { Resource: role, Condition: passed }),
    ],
  };
};
