// drover delete nodegroup|addon: eksctl's commands with the same flags. Nodes are drained within
// their budgets first: nodes of a managed group by its controller, others by drains that this
// command records. Only then is the stack deleted.
import type { Command } from 'commander';
import { durationMs, epochMs } from '../../api/brand.ts';
import type { StackState } from '../../api/cloud-provisioning.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import {
  autoScalingGroupNameOf,
  forceAnnotation,
  isRetained,
  type NodeGroup,
} from '../../api/nodegroup.ts';
import { clusterTag, groupTag, nodeGroupStackName } from '../../core/provisioning/index.ts';
import { roleWithoutPath } from '../../formats/index.ts';
import { type KubeApi, type ProvisioningApi, readNodeGroup } from '../../ports/index.ts';
import { rolesInUse } from '../aws-auth.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { tellNews, waitForStack } from '../create/stack-wait.ts';
import { drainForRemoval } from '../drain/removal.ts';
import { timeoutMs } from '../duration.ts';
import { listRepairs } from '../health/read.ts';
import { takeOut } from '../node-role.ts';
import { noOtherPlace, quarantineLines, readHolding } from '../nodegroup/deleting.ts';
import { plansOfDelete, printGroupPlan } from '../nodegroup/dry-run.ts';
import { outputOption } from '../output.ts';
import { type Progress, progressOf } from '../progress.ts';
import { accountOf, nameAccount, nameCluster } from '../where.ts';
import { requireCluster } from './create.ts';
import { collectNodeGroups } from './get.ts';
import { oneName } from './one-name.ts';

interface DeleteFlags {
  readonly cluster: string;
  readonly name?: string;
  readonly region?: string;
  readonly drain: boolean;
  readonly force: boolean;
  readonly wait: boolean;
  readonly timeout: string;
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

interface Deletion {
  readonly context: CliContext;
  readonly connection: Connection;
  readonly progress: Progress;
  readonly kube: KubeApi;
  readonly api: ProvisioningApi;
  readonly flags: DeleteFlags;
  readonly name: string;
  readonly deadline: number;
}

const lookEveryMs = durationMs(1_000);
/** EKS waits this long for budgets, then deletes the remaining pods. */
const forcedAfterMs = 15 * 60_000;

const nodeGroupNamed = async ({ kube, name, flags }: Deletion): Promise<NodeGroup | undefined> => {
  const group = await readNodeGroup(kube, name);
  return group?.spec.clusterName === flags.cluster ? group : undefined;
};

/** Drains the nodes of a self-managed group; throws when one of them could not be emptied. */
const drainNodes = async (deletion: Deletion) => {
  const { context, connection, kube, progress, name, flags, deadline } = deletion;
  const labelSelector = `${groupTag}=${name},${clusterTag}=${flags.cluster}`;
  const { items } = await kube.list<Node>(resourceTypes.nodes, { labelSelector });
  await drainForRemoval({
    context,
    kube,
    nodes: items,
    now: (await context.cluster(connection)).now,
    timeoutMs: flags.force ? forcedAfterMs : deadline - context.clock.now(),
    force: flags.force,
    reason: `drover delete nodegroup ${name}`,
    tell: (line) => progress.info(line),
    consequence: `node group ${name} stays unchanged (--no-drain deletes it without draining)`,
  });
};

/**
 * A role from the stack is deleted with the stack; a role that the user supplied may have other
 * nodes.
 */
const isOwnRole = (stackName: string, roleArn: string): boolean => {
  // CloudFormation truncates the stack's name where the role's name would be too long.
  const made = /^(.+)-NodeInstanceRole-[A-Za-z0-9]+$/.exec(roleArn.split('/').at(-1) ?? '');
  return made?.[1] !== undefined && stackName.startsWith(made[1]);
};

/**
 * Called after the stack is deleted: otherwise a failed deletion would leave nodes that are not
 * authorized.
 */
const dropIdentity = async (deletion: Deletion, stack: StackState): Promise<void> => {
  const { context, connection, kube, progress, name, flags } = deletion;
  const arn = stack.outputs.InstanceRoleARN;
  if (arn === undefined || !isOwnRole(stack.name, arn)) return;
  const cloud = await context.cloud(connection);
  const user = (await rolesInUse(kube, cloud)).get(roleWithoutPath(arn));
  if (user !== undefined) return progress.warning(`identity "${arn}" stays: ${user} uses it`);
  const access = {
    kube,
    cloud,
    clusterName: flags.cluster,
    now: epochMs(context.clock.now()),
    tell: progress.info,
    warn: progress.warning,
  };
  await takeOut(access, { arn, group: name });
};

const waitForObject = async (deletion: Deletion): Promise<void> => {
  const { kube, context, name, deadline, progress } = deletion;
  let held: ReadonlySet<string> = new Set();
  for (;;) {
    const found = await kube.get<NodeGroup>(resourceTypes.nodegroups, { name });
    if (found.kind === 'gone') return;
    if (context.clock.now() >= deadline || context.signal.aborted) {
      throw new CommandError(
        context.signal.aborted ? exitCodes.interrupted : exitCodes.timedOut,
        `node group ${name} is still being deleted (${found.object.status?.state ?? 'unknown'}); ` +
          `it continues: \`kubectl describe nodegroup ${name}\` shows what it waits for`,
      );
    }
    held = tellNews(progress, held, await readHolding(kube, name));
    await context.clock.sleep(lookEveryMs, context.signal).catch(() => undefined);
  }
};

/** Warns before the deletion: budgets of pods without another place block it forever. */
const warnOfNoPlace = async ({ kube, name, progress }: Deletion): Promise<void> => {
  const { items } = await kube.list<Node>(resourceTypes.nodes);
  const warning = noOtherPlace(items, name);
  if (warning !== undefined) progress.warning(warning);
};

/** Warns of instances in quarantine that the deletion terminates. A release keeps them. */
const warnOfQuarantine = async ({ kube, name, progress }: Deletion): Promise<void> => {
  for (const line of quarantineLines(await listRepairs(kube), name)) progress.warning(line);
};

const deleteStack = async (
  deletion: Deletion,
  stack: string,
  isManaged: boolean,
): Promise<void> => {
  const { api, context, progress, deadline, flags, kube, name } = deletion;
  progress.info(`will delete stack "${stack}"`);
  await api.deleteStack(stack);
  // A self-managed group's role is removed last, so the stack's deletion is awaited.
  if (!flags.wait && isManaged) return;
  const holding = isManaged ? { holding: () => readHolding(kube, name) } : {};
  const state = await waitForStack({ api, context, progress, deadline, ...holding }, stack);
  if (state === undefined) return;
  const [failure] = await api.stackFailures(stack);
  throw new CommandError(
    exitCodes.failed,
    `stack "${stack}" is ${state.status}: ${failure?.reason ?? state.statusReason ?? 'no reason'}`,
  );
};

/** Deletes only the NodeGroup. The group stays, and so does the stack that contains it, if any. */
const releaseNodeGroup = async (
  deletion: Deletion,
  group: NodeGroup,
  stack: StackState | undefined,
): Promise<void> => {
  const { progress, kube, flags, name } = deletion;
  const asg = autoScalingGroupNameOf(group);
  progress.info(
    `will release nodegroup ${name} of cluster "${flags.cluster}" (deletion policy Retain): Auto ` +
      `Scaling group ${asg} and its ${group.status?.instances ?? 0} instances stay`,
  );
  if (stack !== undefined) progress.info(`stack "${stack.name}" stays`);
  await kube.delete(resourceTypes.nodegroups, { name });
  if (flags.wait) await waitForObject(deletion);
  progress.done(
    flags.wait
      ? `released nodegroup ${name}: Drover no longer drains the instances of ${asg}`
      : `release of nodegroup ${name} has begun: \`kubectl get ng ${name}\` shows it until it ` +
          'is done',
  );
};

const unknown = async (deletion: Deletion, connection: Connection): Promise<CommandError> => {
  const { context, kube, flags, name } = deletion;
  const rows = await collectNodeGroups(kube, await context.cloud(connection), flags.cluster);
  const known = rows.map((row) => row.name).join(', ');
  return new CommandError(
    exitCodes.failed,
    `no node group ${name} in cluster ${flags.cluster}; there are: ${known || 'none'}`,
  );
};

const dryRunOf = async (deletion: Deletion, group: NodeGroup | undefined): Promise<void> => {
  const { context, connection, kube, flags, name } = deletion;
  if (group === undefined) {
    const message = `--dry-run is for managed groups: no controller looks after ${name}`;
    throw new CommandError(exitCodes.refused, message);
  }
  const cloud = await context.cloud(connection);
  const { now } = await context.cluster(connection);
  const sources = { kube, cloud, now };
  const annotations = { ...group.metadata.annotations, [forceAnnotation]: 'true' };
  const isForced = flags.force || !flags.drain;
  const asked = isForced ? { ...group, metadata: { ...group.metadata, annotations } } : group;
  const repairs = isRetained(group) ? [] : await listRepairs(kube);
  for (const line of quarantineLines(repairs, name)) context.err(line);
  const { now: first, ...more } = await plansOfDelete(sources, asked);
  printGroupPlan(context, flags.output, first, more);
};

const deleteNodeGroup = async (
  context: CliContext,
  connection: Connection,
  positional: string | undefined,
  flags: DeleteFlags,
): Promise<void> => {
  const name = oneName(positional, flags.name, 'nodegroup');
  if (name === undefined) {
    throw new CommandError(exitCodes.usage, 'name the node group: drover delete nodegroup NAME');
  }
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const api = await context.provisioning(there);
  const { arn } = await requireCluster(api, flags.cluster);
  const deletion: Deletion = {
    context,
    connection,
    api,
    flags,
    name,
    progress: progressOf(context),
    kube: await context.kube(connection),
    deadline: context.clock.now() + timeoutMs(flags.timeout),
  };
  const { progress, kube } = deletion;
  const group = await nodeGroupNamed(deletion);
  const stackName = nodeGroupStackName(flags.cluster, name);
  const stack = await api.describeStack(stackName);
  if (group === undefined && stack === undefined) throw await unknown(deletion, connection);
  if (flags.dryRun) return dryRunOf(deletion, group);
  const account = stack === undefined ? undefined : arn;
  await nameCluster(context, connection, 'deleting in', account);
  if (group !== undefined && isRetained(group)) return releaseNodeGroup(deletion, group, stack);
  if (group !== undefined) await warnOfQuarantine(deletion);
  progress.info(`will delete 1 nodegroup (${name}) from cluster "${flags.cluster}"`);
  if (flags.drain && !flags.force) await warnOfNoPlace(deletion);
  if (group === undefined && flags.drain) await drainNodes(deletion);
  if (group !== undefined && (flags.force || !flags.drain)) {
    const body = { metadata: { annotations: { [forceAnnotation]: 'true' } } };
    await kube.patch(resourceTypes.nodegroups, { name }, { type: 'merge', body });
  }
  if (stack !== undefined) await deleteStack(deletion, stackName, group !== undefined);
  else {
    await kube.delete(resourceTypes.nodegroups, { name });
    if (flags.wait) await waitForObject(deletion);
  }
  if (stack !== undefined && group === undefined) await dropIdentity(deletion, stack);
  progress.done(
    flags.wait || group === undefined
      ? `deleted 1 nodegroup(s) from cluster "${flags.cluster}"`
      : `deletion of nodegroup "${name}" has begun; its nodes are drained first` +
          (flags.force || !flags.drain ? ', for 15 minutes at most' : ''),
  );
};

interface AddonFlags {
  readonly cluster: string;
  readonly name: string;
  readonly region?: string;
}

const deleteAddon = async (context: CliContext, connection: Connection, flags: AddonFlags) => {
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const api = await context.provisioning(there);
  const { arn } = await requireCluster(api, flags.cluster);
  const progress = progressOf(context);
  await nameAccount(context, connection, 'deleting in', accountOf(arn));
  progress.info(`deleting addon: ${flags.name}`);
  if (await api.deleteAddon(flags.cluster, flags.name)) {
    return progress.done(`deleted addon: ${flags.name}`);
  }
  const known = (await api.listAddons(flags.cluster)).map((addon) => addon.name).join(', ');
  throw new CommandError(
    exitCodes.failed,
    `no addon ${flags.name} in cluster ${flags.cluster}; there are: ${known || 'none'}`,
  );
};

/** Adds `delete` to the program. */
export const addDeleteCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const remove = program.command('delete').description('delete node groups and add-ons');
  remove
    .command('nodegroup [name]')
    .alias('ng')
    .description('drain the nodes of a node group within their budgets, then delete it')
    .requiredOption('--cluster <name>', 'name of the cluster')
    .option('-n, --name <name>', 'name of the node group')
    .option('-r, --region <region>', 'AWS region')
    .option('--no-drain', 'delete without draining')
    .option('--force', 'like EKS, ignore budgets after 15 minutes', false)
    .option('-w, --wait', 'wait until the node group is deleted', false)
    .option('--timeout <duration>', 'how long to wait for drains and stack', '25m')
    .option('--dry-run', "print the controller's steps and change nothing", false)
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  drover delete nodegroup --cluster ironman-2022 --name blue --wait
  drover delete nodegroup blue --cluster ironman-2022 --force`,
    )
    .action((name: string | undefined, flags: DeleteFlags) =>
      deleteNodeGroup(context, connection(), name, flags),
    );
  remove
    .command('addon')
    .description('delete an EKS add-on')
    .requiredOption('--cluster <name>', 'name of the cluster')
    .requiredOption('--name <name>', 'name of the add-on')
    .option('-r, --region <region>', 'AWS region')
    .addHelpText(
      'after',
      '\nExamples:\n  drover delete addon --name eks-node-monitoring-agent --cluster ' +
        'test-cluster\n' +
        '  drover delete addon --name coredns --cluster ironman-2022',
    )
    .action((flags: AddonFlags) => deleteAddon(context, connection(), flags));
};
