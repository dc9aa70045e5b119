// What owners of node groups do to them: create, scale, relabel, delete, change the drain settings.
// Also operators' edits of the aws-auth ConfigMap.

import { worldAccount } from '../../../world/index.ts';
import { objectOr } from '../../api/json.ts';
import { AwsError } from '../../aws-wire/index.ts';
import { addNodeRole, removeNodeRole } from '../../formats/index.ts';
import { type ActionContext, nodeGroups, pickOf } from './action.ts';
import { drainPolicies, drawDrainPolicy } from './drain-policies.ts';
import { ownTemplate } from './version-actions.ts';

const configMaps = { group: '', resource: 'configmaps' } as const;
const awsAuth = { namespace: 'kube-system', name: 'aws-auth' } as const;

const groupNames = ({ world }: ActionContext): readonly string[] =>
  [...world.kube.readAll(nodeGroups)]
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name);

/** Limits the cost of a life: more groups prove no more. */
const maxGroups = 4;

/** Creates a NodeGroup like an existing one with `kubectl apply`; all its resources are new. */
export const createGroup = (context: ActionContext): void => {
  const { world, random, user } = context;
  const all = [...world.kube.readAll(nodeGroups)];
  const [known] = all;
  if (known === undefined || all.length >= maxGroups) return;
  const {
    autoScalingGroupName: _,
    scaling: __,
    drain: ___,
    launchTemplate: ____,
    ...spec
  } = objectOr(known.spec);
  const isOfTemplate = context.updates && random.next() < 0.4;
  user.create(nodeGroups, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroup',
    metadata: { name: `n${Math.floor(world.kernel.now() / 1000)}` },
    spec: {
      ...spec,
      ...(random.next() < 0.6 ? { nodeRole: ownRole(context) } : {}),
      ...(isOfTemplate ? { launchTemplate: ownTemplate(context), instanceTypes: [] } : {}),
      scaling: { minSize: 0, maxSize: 3, desired: random.below(3) },
    },
  });
};

/** One of two roles that the initial groups do not use; several groups may share it. */
const ownRole = ({ world, random }: ActionContext): string => {
  const RoleName = `life-role-${random.below(2)}`;
  const AssumeRolePolicyDocument = '{"Version":"2012-10-17","Statement":[]}';
  try {
    world.aws.call('iam', 'CreateRole', { RoleName, AssumeRolePolicyDocument });
  } catch (error) {
    if (!(error instanceof AwsError) || error.code !== 'EntityAlreadyExists') throw error;
  }
  return `arn:aws:iam::${worldAccount}:role/some/path/${RoleName}`;
};

/** Scales as `kubectl scale nodegroup` does; sometimes with new bounds. */
export const scaleGroup = (context: ActionContext): void => {
  const { random, user, world } = context;
  const name = pickOf(random, groupNames(context));
  const group = name === undefined ? undefined : world.kube.read(nodeGroups, { name });
  if (name === undefined || group === undefined) return;
  const maxSize = Number(objectOr(objectOr(group.spec).scaling).maxSize);
  const desired = random.below(Math.min(maxSize, 5) + 1);
  const bounds = random.next() < 0.2 ? { minSize: 0, maxSize: Math.max(1, desired) } : {};
  const body = { spec: { scaling: { desired, ...bounds } } };
  user.patch(nodeGroups, { name }, { type: 'merge', body });
};

export const relabelGroup = (context: ActionContext): void => {
  const { random, user } = context;
  const name = pickOf(random, groupNames(context));
  if (name === undefined) return;
  const tier = random.next() < 0.7 ? `t${random.below(3)}` : null;
  const taints = random.next() < 0.3 ? [{ key: 'soft', effect: 'PreferNoSchedule' }] : [];
  const body = { spec: { labels: { tier }, taints } };
  user.patch(nodeGroups, { name }, { type: 'merge', body });
};

/** Deletes groups that this life created; initial groups only rarely. */
export const deleteGroup = (context: ActionContext): void => {
  const { random, user } = context;
  const made = groupNames(context).filter((name) => name.startsWith('n'));
  const name = pickOf(random, random.next() < 0.9 ? made : groupNames(context));
  if (name !== undefined) user.delete(nodeGroups, { name });
};

/** An operator changes the drain settings, often while drains are in progress. */
export const changeDrain = (context: ActionContext): void => {
  const { random, user, world } = context;
  const name = pickOf(random, groupNames(context));
  if (name === undefined) return;
  const timeoutSeconds = pickOf(random, [60, 300, 900, 2400]) ?? null;
  // Not `fail`: with the default hooks such a drain may last two days, too long for a life.
  const times = { timeoutSeconds, ...(random.next() < 0.5 ? { onDeadline: 'force' } : {}) };
  const drain = { ...times, ...drawDrainPolicy(world.kernel.random(drainPolicies)) };
  user.patch(nodeGroups, { name }, { type: 'merge', body: { spec: { drain } } });
};

/** Adds or removes a role as `kubectl edit` does, whatever other clients write meanwhile. */
export const editAwsAuth = ({ world, random, user }: ActionContext): void => {
  const map = world.kube.read(configMaps, awsAuth);
  const mapRoles = objectOr(map?.data).mapRoles;
  if (typeof mapRoles !== 'string') return;
  const role = `arn:aws:iam::${worldAccount}:role/colleague-${random.below(3)}`;
  const change = (random.next() < 0.7 ? addNodeRole : removeNodeRole)({ mapRoles }, role);
  if (change.kind !== 'changed') return;
  user.patch(configMaps, awsAuth, { type: 'merge', body: { data: { ...change.data } } });
};
