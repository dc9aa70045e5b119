// What operators do with versions of node groups: request another release or template version, in
// the spec or as an update, with any strategy; pause, resume, abort and roll back updates. Others
// change the same nodes and groups meanwhile; no update may undo those changes.

import type { WorldClient } from '../../../world/contracts.ts';
import type { World } from '../../../world/index.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { newUpdate } from '../../api/new-update.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  type NodeGroupUpdateSpec,
  updateStatusOf,
  updateStrategies,
} from '../../api/nodegroup-update.ts';
import { approvedAnnotation, approvedWaveAnnotation } from '../../api/update-pacing.ts';
import { AwsError } from '../../aws-wire/index.ts';
import { type ActionContext, nodeGroups, pickOf, tryAws } from './action.ts';
import { autoscalerAnnotation, scaleDownCall } from './autoscaler.ts';
import { liveNodes, nodes } from './node-causes.ts';
import { resources } from './open-work.ts';
import { drawSoak, drawUpdateConfig } from './update-config.ts';

type User = Pick<WorldClient, 'patch'>;

/** Limits the cost of a life: each update takes minutes, and they run one after the other. */
const maxOpen = 2;

const groupsOf = ({ world }: ActionContext): readonly NodeGroup[] =>
  [...world.kube.readAll(nodeGroups)].filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  ) as unknown as readonly NodeGroup[];

const updatesOf = (world: World): readonly NodeGroupUpdate[] =>
  [...world.kube.readAll(resources.updates)] as unknown as readonly NodeGroupUpdate[];

const openUpdates = (world: World): readonly NodeGroupUpdate[] =>
  updatesOf(world).filter(
    (one) => one.spec.type === 'VersionUpdate' && updateStatusOf(one) === 'InProgress',
  );

/** All releases that EKS has published for the AMI type and version of this group. */
const releasesFor = ({ world }: ActionContext, { spec }: NodeGroup): readonly string[] =>
  [...world.kernel.tables.open<JsonObject>('aws/ec2/images').entries()]
    .map(([, row]) => row)
    .filter((row) => row.family === spec.amiType && row.kubernetesVersion === spec.version)
    .map((row) => String(row.releaseVersion));

const instanceTypesInTemplate = ['m5.large', 'm5.xlarge'] as const;

/** Creates a launch template for a new group. */
export const ownTemplate = ({ world }: ActionContext): NonNullable<JsonObject> => {
  const LaunchTemplateName = `life-${Math.floor(world.kernel.now() / 1000)}`;
  const LaunchTemplateData = { InstanceType: instanceTypesInTemplate[0] };
  const input = { LaunchTemplateName, LaunchTemplateData };
  const made = world.aws.call('ec2', 'CreateLaunchTemplate', input, { userAgent: 'aws-cli' });
  const { LaunchTemplateId } = objectOr(objectOr(made).LaunchTemplate);
  return { id: String(LaunchTemplateId), version: '1' };
};

/**
 * Creates the next version of a template; undefined if AWS refuses. Instance types belong in the
 * template or in the group. If the group has them, one version in ten wrongly names one too.
 */
const nextTemplate = (
  { world, random }: ActionContext,
  { id }: { readonly id: string },
  { instanceTypes }: NodeGroup['spec'],
): { readonly id: string; readonly version: string } | undefined => {
  const InstanceType = pickOf(random, instanceTypesInTemplate) ?? instanceTypesInTemplate[0];
  const names = instanceTypes.length === 0 || random.next() < 0.1;
  const LaunchTemplateData = names ? { InstanceType } : { Monitoring: { Enabled: true } };
  const input = { LaunchTemplateId: id, LaunchTemplateData };
  try {
    const made = world.aws.call('ec2', 'CreateLaunchTemplateVersion', input, {
      userAgent: 'aws-cli',
    });
    const { VersionNumber } = objectOr(objectOr(made).LaunchTemplateVersion);
    return { id, version: String(VersionNumber) };
  } catch (error) {
    if (error instanceof AwsError) return undefined;
    throw error;
  }
};

/** A revision that differs from the requested one. */
const anotherRevision = (context: ActionContext, group: NodeGroup): JsonObject | undefined => {
  const { random } = context;
  const { launchTemplate, releaseVersion } = group.spec;
  if (launchTemplate !== undefined && random.next() < 0.7) {
    const next = nextTemplate(context, launchTemplate, group.spec);
    return next && { launchTemplate: { ...launchTemplate, ...next } };
  }
  if (random.next() < 0.04) return { releaseVersion: `${group.spec.version}.0-20200101` };
  const now = releaseVersion ?? group.status?.releaseVersion;
  const others = releasesFor(context, group).filter((release) => release !== now);
  const release = pickOf(random, others);
  return release === undefined ? undefined : { releaseVersion: release };
};

const soakOf = (context: ActionContext, strategy: string): JsonObject =>
  strategy === 'BLUE_GREEN' ? { policies: { blueGreen: drawSoak(context.random) } } : {};

/** Changes the update settings, often while an update with other settings is in progress. */
export const changeUpdateConfig = (context: ActionContext): void => {
  const group = pickOf(context.random, groupsOf(context));
  if (group === undefined) return;
  const body = { spec: { updateConfig: drawUpdateConfig(context) } };
  context.user.patch(nodeGroups, { name: group.metadata.name }, { type: 'merge', body });
};

/** Requests a version by `kubectl edit`, or as `drover update nodegroup` or EKS' API do. */
export const askForVersion = (context: ActionContext): void => {
  const { random, user, world } = context;
  const group = pickOf(random, groupsOf(context));
  if (group?.status === undefined) return;
  const { name } = group.metadata;
  const open = openUpdates(world).filter(({ spec }) => spec.nodeGroup === name);
  if (open.length >= maxOpen) return;
  const change = anotherRevision(context, group);
  if (change === undefined) return;
  const bySpec = random.next() < 0.5;
  const updateConfig = drawUpdateConfig(context);
  const isConfigured = random.next() < 0.6;
  if (bySpec || isConfigured) {
    const spec = {
      ...(bySpec ? change : {}),
      ...(isConfigured ? { updateConfig } : {}),
    };
    user.patch(nodeGroups, { name }, { type: 'merge', body: { spec } });
  }
  if (bySpec) return;
  const strategy = pickOf(random, updateStrategies) ?? 'SURGE';
  const id = `${name}-u${Math.floor(world.kernel.now() / 1000)}`;
  const asked = random.next() < 0.6 ? { strategy, ...soakOf(context, strategy) } : {};
  const spec: NodeGroupUpdateSpec = {
    nodeGroup: name,
    type: 'VersionUpdate',
    params: [],
    change,
    ...asked,
    ...(random.next() < 0.3 ? { force: true } : {}),
  };
  user.create(resources.updates, undefined, newUpdate({ name: id, spec }));
};

const patchUpdate = (user: User, { metadata }: NodeGroupUpdate, spec: JsonObject): void => {
  user.patch(resources.updates, { name: metadata.name }, { type: 'merge', body: { spec } });
};

/** Acts as `drover pause update` and `resume` do. */
export const pauseUpdate = ({ world, random, user }: ActionContext): void => {
  const update = pickOf(random, openUpdates(world));
  if (update === undefined) return;
  patchUpdate(user, update, { paused: update.spec.paused === true ? null : true });
};

/** Acts as `drover abort update` does, with and without rollback. */
export const abortUpdate = ({ world, random, user }: ActionContext): void => {
  const update = pickOf(random, openUpdates(world));
  if (update === undefined) return;
  patchUpdate(user, update, { abort: random.next() < 0.5 ? 'Stop' : 'RollBack' });
};

/** Approves as `drover approve update` does; the approval of a wave includes all earlier waves. */
const approve = (user: User, { metadata, status }: NodeGroupUpdate): void => {
  const annotations = Object.fromEntries(
    (status?.holds ?? []).flatMap(({ kind }) => {
      if (kind === 'Approval') return [[approvedAnnotation, 'true']];
      const wave = String(status?.wave?.number ?? 1);
      return kind === 'WaveApproval' ? [[approvedWaveAnnotation, wave]] : [];
    }),
  );
  if (Object.keys(annotations).length === 0) return;
  const body = { metadata: { annotations } };
  user.patch(resources.updates, { name: metadata.name }, { type: 'merge', body });
};

export const approveUpdate = ({ world, random, user }: ActionContext): void => {
  const update = pickOf(random, openUpdates(world));
  if (update !== undefined) approve(user, update);
};

/** An operator sets or removes the scale-down-disabled annotation of a node. */
export const annotateNode = (context: ActionContext): void => {
  const { random, user } = context;
  const node = pickOf(random, liveNodes(context));
  if (node === undefined) return;
  const roll = random.next();
  const value = roll < 0.4 ? 'true' : roll < 0.6 ? 'false' : null;
  const annotations = { [autoscalerAnnotation]: value };
  const body = { metadata: { annotations } };
  user.patch(nodes, { name: node.name }, { type: 'merge', body });
};

/**
 * The cluster autoscaler terminates an empty node without the annotation and decrements the size.
 */
export const scaleDown = (context: ActionContext): void => {
  const call = scaleDownCall(context.world);
  if (call !== undefined) tryAws(context, call.operation, call.input);
};

/** An operator suspends or resumes AZRebalance. */
export const suspendProcess = (context: ActionContext): void => {
  const answer = context.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {});
  const groups = objectOr(answer).AutoScalingGroups;
  const group = pickOf(context.random, Array.isArray(groups) ? groups : []);
  if (group === undefined) return;
  const operation = context.random.next() < 0.6 ? 'SuspendProcesses' : 'ResumeProcesses';
  tryAws(context, operation, {
    AutoScalingGroupName: String(objectOr(group).AutoScalingGroupName),
    ScalingProcesses: ['AZRebalance'],
  });
};

/**
 * At the end of a life, resumes paused updates and approves waiting ones. An update that its policy
 * pauses a second time is stopped. `resumed`: names of the updates that were resumed.
 */
export const endPauses = (world: World, user: User, resumed: Set<string>): void => {
  for (const update of openUpdates(world)) {
    approve(user, update);
    if (update.spec.paused !== true) continue;
    const { name } = update.metadata;
    const again = resumed.has(name) && update.spec.abort === undefined;
    patchUpdate(user, update, { paused: null, ...(again ? { abort: 'Stop' } : {}) });
    resumed.add(name);
  }
};
