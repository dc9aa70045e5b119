// drover scale nodegroup: eksctl's command. A managed group's sizes are a request on its NodeGroup,
// which the controller carries out within the budgets. A self-managed group is scaled out directly,
// and scaled in only after the surplus nodes have been drained.

import type { Command } from 'commander';
import { completeNodeGroup } from '../../api/adopted.ts';
import { durationMs, instanceIdOfProviderId } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { isReady } from '../../api/conditions.ts';
import { defined } from '../../api/defined.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { classifyPods } from '../../core/drain/index.ts';
import { chooseForScaleIn } from '../../core/nodegroup/index.ts';
import { clusterTag, groupTag } from '../../core/provisioning/index.ts';
import { type CloudApi, type KubeApi, readNodeGroup } from '../../ports/index.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { podsOn } from '../drain/read.ts';
import { drainForRemoval } from '../drain/removal.ts';
import { timeoutMs } from '../duration.ts';
import { planOf, printGroupPlan } from '../nodegroup/dry-run.ts';
import { askedOnly, type RequestedSizes, sizesWanted } from '../nodegroup/sizes.ts';
import { outputOption } from '../output.ts';
import { type Progress, progressOf } from '../progress.ts';
import { nameCluster } from '../where.ts';
import { collectNodeGroups } from './get.ts';
import { oneName } from './one-name.ts';

interface ScaleFlags {
  /** The group's cluster where the flag is absent. */
  readonly cluster?: string;
  readonly name?: string;
  readonly nodes?: string;
  readonly nodesMin?: string;
  readonly nodesMax?: string;
  readonly region?: string;
  readonly wait: boolean;
  readonly timeout: string;
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

interface Scaling {
  readonly context: CliContext;
  readonly connection: Connection;
  readonly progress: Progress;
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly name: string;
  readonly cluster: string;
  readonly flags: ScaleFlags;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

/** The input for scaling a managed group. */
type ManagedScaling = Pick<Scaling, 'kube' | 'name'> & {
  readonly progress: Pick<Progress, 'info'>;
};

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);
const lookEveryMs = durationMs(1_000);

const number = (flag: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw usage(`${flag} takes a whole number, not ${text}`);
};

const askedOf = (flags: ScaleFlags): RequestedSizes => {
  const desired = number('--nodes', flags.nodes);
  const minSize = number('--nodes-min', flags.nodesMin);
  const maxSize = number('--nodes-max', flags.nodesMax);
  if (desired === undefined && minSize === undefined && maxSize === undefined) {
    throw usage('name a size: --nodes N, --nodes-min N or --nodes-max N');
  }
  return {
    ...defined({ desired, minSize, maxSize }),
  };
};

/** Throws CommandError for a group that is being deleted: its nodes are terminated anyway. */
export const scaleManaged = async (
  scaling: ManagedScaling,
  group: NodeGroup,
  asked: RequestedSizes,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
) => {
  const { kube, name, progress } = scaling;
  const { status, spec, metadata } = group;
  if (metadata.deletionTimestamp !== undefined) {
    throw new CommandError(
      exitCodes.refused,
      `Nodegroup cannot be updated as it is currently not in Active State: ${name} is being ` +
        `deleted; \`drover get ng ${name}\` says how far that is`,
    );
  }
  const wanted = sizesWanted(asked, {
    minSize: spec.scaling.minSize,
    maxSize: spec.scaling.maxSize,
    desired: spec.scaling.desired ?? status?.desired ?? 0,
  });
  const patched = await kube.patch<NodeGroup>(
    resourceTypes.nodegroups,
    { name },
    { type: 'merge', body: { spec: { scaling: askedOnly(asked, wanted, spec.scaling.desired) } } },
    dryRun ? { dryRun } : {},
  );
  if (!dryRun) progress.info('initiated scaling of nodegroup');
  if (patched.kind === 'gone') throw new CommandError(exitCodes.failed, `${name} is gone`);
  return completeNodeGroup(patched.object);
};

const reached = (group: NodeGroup, wanted: NodeGroup): boolean => {
  const { status } = group;
  const seen = (status?.observedGeneration ?? 0) >= (wanted.metadata.generation ?? 0);
  const size = wanted.spec.scaling.desired;
  return seen && status?.instances === size && status?.ready === size;
};

const waitForManaged = async (scaling: Scaling, wanted: NodeGroup): Promise<void> => {
  const { kube, context, name, deadline } = scaling;
  for (;;) {
    const group = await readNodeGroup(kube, name);
    if (group === undefined) throw new CommandError(exitCodes.failed, `${name} is gone`);
    const { status } = group;
    if (reached(group, wanted)) return;
    const failure = status?.failure;
    if (failure !== undefined && failure.generation >= (wanted.metadata.generation ?? 0)) {
      throw new CommandError(exitCodes.failed, `${name}: ${failure.code}: ${failure.message}`);
    }
    await pause(
      context,
      deadline,
      `${name} has ${status?.ready ?? 0} ready node(s) of ${wanted.spec.scaling.desired}`,
    );
  }
};

const pause = async (context: CliContext, deadline: number, where: string): Promise<void> => {
  if (context.signal.aborted) {
    throw new CommandError(exitCodes.interrupted, `stopped watching; it continues: ${where}`);
  }
  if (context.clock.now() >= deadline) {
    throw new CommandError(exitCodes.timedOut, `timed out; it continues: ${where}`);
  }
  await context.clock.sleep(lookEveryMs, context.signal).catch(() => undefined);
};

const readyOf = (node: Node | undefined): boolean => node !== undefined && isReady(node);

/** Names of nodes without pods that need another node. */
const emptyOf = async (kube: KubeApi, nodes: readonly Node[]): Promise<ReadonlySet<string>> => {
  const names = nodes.map(({ metadata }) => metadata.name);
  const empty: string[] = [];
  for (const name of names) {
    if (classifyPods(await podsOn(kube, name)).evict.length === 0) empty.push(name);
  }
  return new Set(empty);
};

/** Drains the surplus nodes; returns the instances that may be terminated. */
const drainSurplus = async (
  scaling: Scaling,
  group: ScalingGroup,
  count: number,
): Promise<readonly string[]> => {
  const { kube, context, connection, progress, name, cluster, deadline } = scaling;
  const labelSelector = `${groupTag}=${name},${clusterTag}=${cluster}`;
  const { items } = await kube.list<Node>(resourceTypes.nodes, { labelSelector });
  const nodes = new Map<string, Node>(
    items.map((node) => [instanceIdOfProviderId(node.spec.providerID) ?? '', node]),
  );
  const empty = await emptyOf(kube, [...nodes.values()]);
  const victims = chooseForScaleIn(
    group.instances.map((one) => {
      const node = nodes.get(one.instanceId);
      return {
        instanceId: one.instanceId,
        zone: one.availabilityZone,
        isProtected: one.protectedFromScaleIn,
        isEmpty: node === undefined || empty.has(node.metadata.name),
        isHealthy: one.lifecycleState === 'InService' && readyOf(node),
        isDraining: node?.spec.unschedulable === true,
        templateVersion: 1,
        startedAt: node?.metadata.creationTimestamp ?? '',
      };
    }),
    count,
  );
  if (victims.length < count) {
    throw new CommandError(
      exitCodes.refused,
      `${name}: only ${victims.length} of ${count} instances may go; the others are protected ` +
        'from scale-in',
    );
  }
  for (const { instanceId, why } of victims) {
    const node = nodes.get(instanceId)?.metadata.name ?? 'no node';
    progress.info(`${instanceId} (${node}) goes${why === '' ? '' : `: ${why}`}`);
  }
  const leaving = victims.flatMap(({ instanceId }) => nodes.get(instanceId) ?? []);
  await drainForRemoval({
    context,
    kube,
    nodes: leaving,
    now: (await context.cluster(connection)).now,
    timeoutMs: deadline - context.clock.now(),
    reason: `drover scale nodegroup ${name}`,
    tell: (line) => progress.info(line),
    consequence: `node group ${name} keeps its size`,
  });
  return victims.map(({ instanceId }) => instanceId);
};

const scaleUnmanaged = async (scaling: Scaling, group: ScalingGroup, asked: RequestedSizes) => {
  const { cloud, progress, context, deadline, flags } = scaling;
  const wanted = sizesWanted(asked, { ...group, desired: group.desiredCapacity });
  const surplus = group.desiredCapacity - wanted.desired;
  const change = { name: group.name, minSize: wanted.minSize };
  if (surplus > 0) {
    const victims = await drainSurplus(scaling, group, surplus);
    // The minimum first, or a decrement would be refused; the maximum last, or AWS would choose
    // instances.
    await cloud.updateGroup(change);
    for (const id of victims) await cloud.terminateInGroup(id, { decrementDesired: true });
    await cloud.updateGroup({ name: group.name, maxSize: wanted.maxSize });
  } else {
    await cloud.updateGroup({
      ...change,
      maxSize: wanted.maxSize,
      desiredCapacity: wanted.desired,
    });
  }
  progress.info('initiated scaling of nodegroup');
  for (;;) {
    if (!flags.wait) return;
    const [now] = await cloud.describeGroups([group.name]);
    const serving = (now?.instances ?? []).filter((one) => one.lifecycleState === 'InService');
    if (serving.length === wanted.desired && now?.instances.length === wanted.desired) return;
    await pause(context, deadline, `${serving.length} of ${wanted.desired} instance(s) in service`);
  }
};

interface FoundGroup {
  /** Set for a managed group. */
  readonly group?: NodeGroup;
  /** Set for a self-managed group. */
  readonly row?: ScalingGroup;
  readonly cluster: string;
}

/** The group of that name. If several clusters have one, the cluster must be specified. */
const groupOf = async (
  { kube, cloud }: Pick<Scaling, 'kube' | 'cloud'>,
  name: string,
  cluster: string | undefined,
): Promise<FoundGroup> => {
  const group = await readNodeGroup(kube, name);
  if (group !== undefined) {
    const { clusterName } = group.spec;
    if (cluster === undefined || cluster === clusterName) return { group, cluster: clusterName };
  }
  const rows = await collectNodeGroups(kube, cloud, cluster);
  const own = rows.filter((one) => one.name === name);
  const clusters = [...new Set(own.map((one) => one.cluster))];
  if (clusters.length > 1) {
    throw usage(`node group ${name} is in ${clusters.join(' and ')}: name one with --cluster`);
  }
  const [row] = own;
  const [scaling] = row === undefined ? [] : await cloud.describeGroups([row.autoScalingGroupName]);
  if (row !== undefined && scaling !== undefined) return { row: scaling, cluster: row.cluster };
  const known = rows.map((one) => one.name).join(', ');
  const where = cluster === undefined ? '' : ` in cluster ${cluster}`;
  throw new CommandError(
    exitCodes.failed,
    `no node group ${name}${where}; there are: ${known || 'none'}`,
  );
};

/** The API server checks the request and returns the resulting group. */
const dryRunOf = async (
  scaling: Scaling,
  group: NodeGroup | undefined,
  asked: RequestedSizes,
): Promise<void> => {
  const { context, connection, kube, cloud, name, flags } = scaling;
  if (group === undefined) {
    const message = `--dry-run is for managed groups: no controller looks after ${name}`;
    throw new CommandError(exitCodes.refused, message);
  }
  const changed = await scaleManaged(scaling, group, asked, { dryRun: true });
  const { now } = await context.cluster(connection);
  printGroupPlan(context, flags.output, await planOf({ kube, cloud, now }, changed));
};

const scale = async (
  context: CliContext,
  connection: Connection,
  positional: string | undefined,
  flags: ScaleFlags,
): Promise<void> => {
  const name = oneName(positional, flags.name, 'nodegroup');
  if (name === undefined) throw usage('name the node group: drover scale nodegroup NAME');
  const asked = askedOf(flags);
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const kube = await context.kube(connection);
  const cloud = await context.cloud(there);
  const progress = progressOf(context);
  const deadline = context.clock.now() + timeoutMs(flags.timeout);
  const { group, row, cluster } = await groupOf({ kube, cloud }, name, flags.cluster);
  const scaling = { context, connection, progress, kube, cloud, name, cluster, flags, deadline };
  if (flags.dryRun) return dryRunOf(scaling, group, asked);
  await nameCluster(context, connection, 'scaling in', row?.arn);
  progress.info(`scaling nodegroup "${name}" in cluster ${cluster}`);
  if (group !== undefined) {
    const asGiven = await scaleManaged(scaling, group, asked);
    if (flags.wait) await waitForManaged(scaling, asGiven);
  } else if (row !== undefined) await scaleUnmanaged(scaling, row, asked);
  if (flags.wait) progress.done('nodegroup successfully scaled');
  else progress.info(`\`drover get ng --cluster ${cluster} ${name}\` says how far it is`);
};

/** Adds `scale` to the program. */
export const addScaleCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('scale')
    .description('change the size of a node group')
    .command('nodegroup [name]')
    .alias('ng')
    .description('change the size of a node group; drains removed nodes within their budgets')
    .option('--cluster <name>', 'name of the cluster (default: that of the group)')
    .option('-n, --name <name>', 'name of the node group')
    .option('-N, --nodes <number>', 'desired number of nodes')
    .option('-m, --nodes-min <number>', 'minimum size')
    .option('-M, --nodes-max <number>', 'maximum size')
    .option('-r, --region <region>', 'AWS region')
    .option('-w, --wait', 'wait until the group has its size', false)
    .option('--timeout <duration>', 'how long to wait', '25m')
    .option('--dry-run', "print the controller's steps and change nothing", false)
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  drover scale ng demo-ng --nodes 3 --dry-run
  drover scale nodegroup --cluster ironman-2022 --name demo-ng --nodes 3 --wait
  drover scale ng demo-self-ng --cluster ironman-2022 --nodes 2 --nodes-max 4
  kubectl scale nodegroup demo-ng --replicas=3`,
    )
    .action((name: string | undefined, flags: ScaleFlags) =>
      scale(context, connection(), name, flags),
    );
};
