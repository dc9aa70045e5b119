// `create nodegroup`, and the node groups of `create cluster`: deploys the stacks in parallel,
// authorizes the roles of self-managed groups, and waits for nodes. Reports each step in eksctl's
// words; errors that only a call can detect are left to the called service.

import { durationMs, epochMs } from '../../api/brand.ts';
import type { ClusterFacts, StackState } from '../../api/cloud-provisioning.ts';
import { isReady } from '../../api/conditions.ts';
import type { Node } from '../../api/kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import { marksComplaint, nameComplaint } from '../../core/nodegroup/index.ts';
import {
  architectureOf,
  clusterTag,
  defaultFamily,
  familyNamed,
  groupTag,
  type NodeGroupStack,
  nodeGroupStack,
  nodeGroupStackName,
} from '../../core/provisioning/index.ts';
import { type GroupConfig, type SubnetConfig, sizesOf } from '../../formats/index.ts';
import type { CloudApi, KubeApi, ProvisioningApi } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { checkAccess, isLetIn, letIn, type NodeRoleAccess } from '../node-role.ts';
import type { Progress } from '../progress.ts';
import { failStack, type StackWait, waitForStack } from './stack-wait.ts';

export interface Creation {
  readonly context: CliContext;
  readonly progress: Progress;
  readonly kube: KubeApi;
  readonly api: ProvisioningApi;
  readonly cloud: CloudApi;
  readonly cluster: ClusterFacts;
  /** Subnets in a ClusterConfig; empty with flags only. */
  readonly namedSubnets: readonly SubnetConfig[];
  /** An embedded world creates missing key pairs, because logging in is impossible there. */
  readonly makesKeyPairs: boolean;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

const refused = (message: string): CommandError => new CommandError(exitCodes.refused, message);

const countOf = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The subnets in which a group may launch instances, chosen like eksctl. */
const subnetsOf = async (creation: Creation, group: GroupConfig): Promise<readonly string[]> => {
  const { api, cluster, namedSubnets } = creation;
  const named = group.subnets.map(
    (name) => namedSubnets.find((subnet) => subnet.name === name)?.id ?? name,
  );
  if (named.length > 0) {
    const found = await api.describeSubnets({ ids: named });
    const missing = named.filter((id) => !found.some((subnet) => subnet.id === id));
    if (missing.length === 0) return named;
    throw refused(
      `node group ${group.name}: no subnet ${missing.join(', ')} in this account; ` +
        '`aws ec2 describe-subnets` lists those that are there',
    );
  }
  const all = await api.describeSubnets({ ids: cluster.subnetIds });
  const fitting = all.filter(
    (subnet) =>
      subnet.isPublic !== group.privateNetworking &&
      (group.zones.length === 0 || group.zones.includes(subnet.zone)),
  );
  if (fitting.length > 0) return fitting.map((subnet) => subnet.id);
  const kind = group.privateNetworking ? 'private' : 'public';
  const where = group.zones.length === 0 ? '' : ` in ${group.zones.join(', ')}`;
  throw refused(
    `node group ${group.name}: cluster ${cluster.name} has no ${kind} subnet${where}; name subnets`,
  );
};

const familyOf = (creation: Creation, group: GroupConfig): string =>
  group.amiFamily ?? defaultFamily(creation.cluster.version);

/**
 * Why neither EKS nor the publisher of the images has an image for this group; undefined if one may
 * exist.
 */
export const imageComplaint = (
  group: GroupConfig,
  version: string | undefined,
): string | undefined => {
  if (group.ami !== undefined) return undefined;
  const name = group.amiFamily ?? defaultFamily(version ?? '1.32');
  const family = familyNamed(name);
  const architecture = architectureOf(group.instanceTypes[0] ?? '');
  const published = group.kind === 'managed' ? family?.amiType?.[architecture] : family?.parameter;
  if (published !== undefined) return undefined;
  const whose = group.kind === 'managed' ? 'EKS has' : 'this program knows';
  return `${whose} no ${name} image for ${architecture}; name one with --node-ami (ami in a file)`;
};

/** The image of a self-managed group; undefined where EKS chooses. */
const imageOf = async (creation: Creation, group: GroupConfig): Promise<string | undefined> => {
  if (group.ami !== undefined) return group.ami;
  const name = familyOf(creation, group);
  const family = familyNamed(name);
  const architecture = architectureOf(group.instanceTypes[0] ?? '');
  if (group.kind === 'managed') {
    const complaint = imageComplaint(group, creation.cluster.version);
    if (complaint === undefined) return undefined;
    throw refused(`node group ${group.name}: ${complaint}`);
  }
  const parameter = family?.parameter?.(creation.cluster.version, architecture);
  const image = parameter && (await creation.api.imageParameter(parameter));
  if (image !== undefined && image !== '') return image;
  throw refused(
    `node group ${group.name}: no ${name} image of Kubernetes ${creation.cluster.version} for ` +
      `${architecture}${parameter === undefined ? '' : ` (SSM parameter ${parameter})`}; ` +
      'name one ' +
      'with --node-ami (ami in a file)',
  );
};

interface Prepared {
  readonly group: GroupConfig;
  readonly stack: NodeGroupStack;
}

const prepare = async (creation: Creation, group: GroupConfig): Promise<Prepared> => {
  const { api, cluster, progress } = creation;
  const family = familyOf(creation, group);
  // A self-managed group has no object.
  const misnamed = group.kind === 'managed' ? nameComplaint(group.name) : undefined;
  const wrong = misnamed ?? marksComplaint(group);
  if (wrong !== undefined) throw refused(`node group ${group.name}: ${wrong}`);
  const imageId = await imageOf(creation, group);
  progress.info(
    `nodegroup "${group.name}" will use "${imageId ?? ''}" [${family}/${cluster.version}]`,
  );
  if (group.sshKeyName !== undefined) {
    const exists = await api.keyPairExists(group.sshKeyName);
    if (!exists && creation.makesKeyPairs) await api.createKeyPair(group.sshKeyName);
    else if (!exists) {
      throw refused(
        `node group ${group.name}: no EC2 key pair ${group.sshKeyName}; ` +
          `\`aws ec2 create-key-pair --key-name ${group.sshKeyName}\` makes one`,
      );
    }
    progress.info(`using EC2 key pair "${group.sshKeyName}"`);
  }
  const stack = nodeGroupStack(
    {
      cluster: cluster.name,
      endpoint: cluster.endpoint,
      certificateAuthority: cluster.certificateAuthority,
      serviceCidr: cluster.serviceCidr,
      vpcId: cluster.vpcId,
      clusterSecurityGroupId: cluster.securityGroupId,
      subnetIds: await subnetsOf(creation, group),
      family,
      imageId,
    },
    group,
  );
  return { group, stack };
};

/** Names in use, of both kinds: EKS' node groups and eksctl's stacks. */
const existingGroups = async (
  { api, cloud, cluster }: Creation,
  wanted: readonly GroupConfig[],
): Promise<{ readonly existing: readonly string[]; readonly taken: readonly string[] }> => {
  const managed = await api.listNodegroups(cluster.name);
  const stacks = (await cloud.listStacks()).filter(({ tags }) => tags[clusterTag] === cluster.name);
  const known = new Set([...managed, ...stacks.flatMap(({ tags }) => tags[groupTag] ?? [])]);
  const taken: string[] = [];
  for (const { name } of wanted) {
    const stack = await api.describeStack(nodeGroupStackName(cluster.name, name));
    if (known.has(name) || stack !== undefined) taken.push(name);
  }
  return { existing: [...known].filter((name) => !wanted.some((one) => one.name === name)), taken };
};

export interface Chosen {
  readonly fresh: readonly GroupConfig[];
  /** Started by an earlier command that was interrupted or timed out. */
  readonly unfinished: readonly GroupConfig[];
}

/** The groups to create. Like eksctl with a file, it skips groups that already exist. */
export const choose = async (
  creation: Creation,
  wanted: readonly GroupConfig[],
): Promise<Chosen> => {
  const { progress, cluster } = creation;
  progress.info(
    `will use version ${cluster.version} for new nodegroup(s) based on control plane version`,
  );
  const { existing, taken } = await existingGroups(creation, wanted);
  const unfinished: GroupConfig[] = [];
  for (const group of wanted) {
    if (taken.includes(group.name) && (await isUnfinished(creation, group))) unfinished.push(group);
  }
  const left = taken.filter((name) => !unfinished.some((group) => group.name === name));
  const excluded = [...existing, ...left];
  if (excluded.length > 0) {
    progress.info(
      `${excluded.length} existing nodegroup(s) (${excluded.join(',')}) will be excluded`,
    );
  }
  const fresh = wanted.filter((group) => !taken.includes(group.name));
  if (fresh.length > 0) {
    progress.info(
      `${countOf(fresh.length, 'nodegroup')} (${fresh.map(({ name }) => name).join(', ')}) ` +
        `${fresh.length === 1 ? 'was' : 'were'} included (based on the include/exclude rules)`,
    );
  }
  return { fresh, unfinished };
};

const deploy = async (creation: Creation, { group, stack }: Prepared): Promise<void> => {
  const { api, progress, context, deadline } = creation;
  const kind = group.kind === 'managed' ? 'managed nodegroup' : 'nodegroup';
  progress.info(`building ${kind} stack "${stack.name}"`);
  for (const { flag, value } of sizesOf(group.sizes).automatic) {
    progress.info(`${flag}=${value} was set automatically for nodegroup ${group.name}`);
  }
  for (const note of group.nodeRepair?.notes ?? []) progress.warning(`${group.name}: ${note}`);
  progress.info(`deploying stack "${stack.name}"`);
  await api.createStack(stack);
  const wait: StackWait = { api, context, progress, deadline };
  const state = await waitForStack(wait, stack.name);
  if (state?.status !== 'CREATE_COMPLETE') return failStack(wait, state, stack.name);
  await admit(creation, group, state);
};

const accessOf = ({ kube, cloud, cluster, context, progress }: Creation): NodeRoleAccess => ({
  kube,
  cloud,
  clusterName: cluster.name,
  now: epochMs(context.clock.now()),
  tell: progress.info,
  warn: progress.warning,
});

/**
 * Authorizes the role of a self-managed group. EKS, or the group's controller, authorizes the roles
 * of managed groups.
 */
const admit = async (
  creation: Creation,
  group: GroupConfig,
  { outputs }: StackState,
): Promise<void> => {
  const arn = outputs.InstanceRoleARN;
  if (group.kind === 'managed' || arn === undefined) return;
  const system = familyOf(creation, group).startsWith('Windows') ? 'windows' : 'linux';
  await letIn(accessOf(creation), { arn, system, group: group.name });
};

/**
 * A self-managed group whose creation was interrupted: its stack exists or is being created, but
 * its role is not authorized.
 */
const isUnfinished = async (creation: Creation, group: GroupConfig): Promise<boolean> => {
  const { api, cluster } = creation;
  if (group.kind === 'managed') return false;
  const stack = await api.describeStack(nodeGroupStackName(cluster.name, group.name));
  if (stack === undefined || !/^CREATE_(IN_PROGRESS|COMPLETE)$/.test(stack.status)) return false;
  const role = stack.outputs.InstanceRoleARN;
  return role === undefined || !(await isLetIn(accessOf(creation), role));
};

const finish = async (creation: Creation, group: GroupConfig): Promise<void> => {
  const { api, progress, context, deadline, cluster } = creation;
  const name = nodeGroupStackName(cluster.name, group.name);
  progress.info(`nodegroup "${group.name}" was begun before: what is missing is made now`);
  const wait: StackWait = { api, context, progress, deadline };
  const state = await waitForStack(wait, name);
  if (state?.status !== 'CREATE_COMPLETE') return failStack(wait, state, name);
  await admit(creation, group, state);
};

const lookEveryMs = durationMs(1_000);

const waitForNodes = async (creation: Creation, group: GroupConfig): Promise<void> => {
  const { kube, progress, context, cluster, deadline } = creation;
  const wanted = sizesOf(group.sizes).min;
  const labelSelector = `${groupTag}=${group.name},${clusterTag}=${cluster.name}`;
  const look = async (): Promise<readonly Node[]> =>
    (await kube.list<Node>(resourceTypes.nodes, { labelSelector })).items;
  const tell = (nodes: readonly Node[]): void => {
    progress.info(`nodegroup "${group.name}" has ${nodes.length} node(s)`);
    for (const node of nodes) {
      progress.info(`node "${node.metadata.name}" is ${isReady(node) ? 'ready' : 'not ready'}`);
    }
  };
  let nodes = await look();
  tell(nodes);
  if (nodes.filter(isReady).length >= wanted) return;
  progress.info(`waiting for at least ${wanted} node(s) to become ready in "${group.name}"`);
  while (nodes.filter(isReady).length < wanted) {
    if (context.clock.now() >= deadline) {
      throw new CommandError(
        exitCodes.timedOut,
        `timed out waiting for ${wanted} ready node(s) in "${group.name}"; the group exists and ` +
          `keeps trying: \`drover get ng --cluster ${cluster.name}\` shows it`,
      );
    }
    if (context.signal.aborted) {
      throw new CommandError(exitCodes.interrupted, 'stopped watching; the nodes still come');
    }
    await context.clock.sleep(lookEveryMs, context.signal).catch(() => undefined);
    nodes = await look();
  }
  tell(nodes);
};

/** Creates all groups; tries each, reports each failure, and throws the first one at the end. */
export const createNodeGroups = async (
  creation: Creation,
  { fresh: groups, unfinished }: Chosen,
): Promise<void> => {
  const { progress, cluster } = creation;
  const every = [...groups, ...unfinished];
  if (every.some(({ kind }) => kind === 'self-managed')) await checkAccess(accessOf(creation));
  const prepared: Prepared[] = [];
  // Everything that can be refused is refused before the first stack.
  for (const group of groups) prepared.push(await prepare(creation, group));
  const managed = groups.filter(({ kind }) => kind === 'managed').length;
  const others = groups.length - managed;
  for (const [count, noun] of [
    [others, 'nodegroup'],
    [managed, 'managed nodegroup'],
  ] as const) {
    if (count === 0) continue;
    progress.info(
      `will create a CloudFormation stack for each of ${count} ${noun}s in cluster ` +
        `"${cluster.name}"`,
    );
  }
  const results = await Promise.allSettled(
    every.map(async (group, i) => {
      const one = prepared[i];
      await (one === undefined ? finish(creation, group) : deploy(creation, one));
      await waitForNodes(creation, group);
    }),
  );
  const made = (kind: GroupConfig['kind']): number =>
    every.filter((group, i) => group.kind === kind && results[i]?.status === 'fulfilled').length;
  const failed = results.flatMap((result, i) =>
    result.status === 'rejected' ? [{ name: every[i]?.name, reason: result.reason }] : [],
  );
  for (const { name, reason } of failed) {
    progress.failed(`nodegroup "${name}": ${reason instanceof Error ? reason.message : reason}`);
  }
  for (const [kind, noun] of [
    ['self-managed', 'nodegroup'],
    ['managed', 'managed nodegroup'],
  ] as const) {
    // eksctl prints both numbers; after a failure a check mark for zero groups would be wrong.
    if (failed.length > 0 && made(kind) === 0) continue;
    progress.done(`created ${made(kind)} ${noun}(s) in cluster "${cluster.name}"`);
  }
  const [first] = failed;
  if (first !== undefined) throw first.reason;
};
