// drover create nodegroup|addon: eksctl's commands of the articles, with the same flags, and files
// in eksctl's ClusterConfig form.

import type { Command } from 'commander';
import { durationMs } from '../../api/brand.ts';
import type { ClusterFacts } from '../../api/cloud-provisioning.ts';
import { defined } from '../../api/defined.ts';
import { resourceTypes } from '../../api/kube.ts';
import { isManagedStack, nodeGroupStackName } from '../../core/provisioning/index.ts';
import type { KubeApi, ProvisioningApi } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { readClusterConfig } from '../create/cluster-file.ts';
import { addGroupFlags, type GroupFlags, groupOfFlags } from '../create/group-flags.ts';
import { choose, createNodeGroups } from '../create/nodegroups.ts';
import { timeoutMs } from '../duration.ts';
import { progressOf } from '../progress.ts';
import { accountOf, nameAccount, nameCluster } from '../where.ts';
import { addCreateClusterCommand } from './create-cluster.ts';

interface CreateFlags extends GroupFlags {
  readonly cluster?: string;
  readonly region?: string;
  readonly configFile?: string;
  readonly timeout: string;
}

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);
const refused = (message: string): CommandError => new CommandError(exitCodes.refused, message);

export const requireCluster = async (api: ProvisioningApi, name: string): Promise<ClusterFacts> => {
  const cluster = await api.describeCluster(name);
  if (cluster === undefined) {
    const known = await api.listClusters();
    throw new CommandError(
      exitCodes.failed,
      `no cluster ${name} here; ` +
        (known.length === 0
          ? '`drover create cluster` makes one'
          : `there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`),
    );
  }
  if (cluster.status === 'ACTIVE' || cluster.status === 'UPDATING') return cluster;
  throw new CommandError(
    exitCodes.refused,
    `cluster ${name} is ${cluster.status}; node groups join one that is ACTIVE`,
  );
};

/** Flags that conflict with a file: accepting both would ignore one of them. */
const withFile = (command: Command): readonly string[] =>
  command.options
    .filter(
      (option) =>
        !['configFile', 'timeout', 'region'].includes(option.attributeName()) &&
        command.getOptionValueSource(option.attributeName()) === 'cli',
    )
    .map((option) => option.long ?? option.flags);

const wanted = async (context: CliContext, flags: CreateFlags, command: Command) => {
  if (flags.configFile !== undefined) {
    const both = withFile(command);
    if (both.length > 0) throw usage(`${both.join(', ')} together with -f: say it in the file`);
    const config = await readClusterConfig(context, flags.configFile);
    if (config.groups.length === 0) throw usage(`${flags.configFile} names no node group`);
    return {
      clusterName: config.name,
      region: flags.region ?? config.region,
      groups: config.groups,
      subnets: config.subnets,
    };
  }
  if (flags.cluster === undefined) throw usage('name the cluster: --cluster NAME, or -f FILE');
  if (flags.name === undefined) throw usage('name the node group: --name NAME, or -f FILE');
  return {
    clusterName: flags.cluster,
    region: flags.region,
    groups: [groupOfFlags(flags, flags.name)],
    subnets: [],
  };
};

const createNodeGroup = async (
  context: CliContext,
  connection: Connection,
  flags: CreateFlags,
  command: Command,
): Promise<void> => {
  const deadline = context.clock.now() + timeoutMs(flags.timeout);
  const { clusterName, region, groups, subnets } = await wanted(context, flags, command);
  const there = region === undefined ? connection : { ...connection, region };
  const api = await context.provisioning(there);
  const cluster = await requireCluster(api, clusterName);
  const kube = await context.kube(connection);
  const progress = progressOf(context);
  const cloud = await context.cloud(there);
  const { embedded } = await context.cluster(connection);
  const creation = {
    context,
    progress,
    kube,
    api,
    cloud,
    cluster,
    namedSubnets: subnets,
    makesKeyPairs: embedded && flags.configFile !== undefined,
    deadline,
  };
  const chosen = await choose(creation, groups);
  const nothing = chosen.fresh.length === 0 && chosen.unfinished.length === 0;
  if (nothing && flags.configFile === undefined) {
    throw await existsAlready(api, kube, clusterName, groups[0]?.name ?? '');
  }
  if (!nothing) await nameCluster(context, connection, 'creating in', cluster.arn);
  await createNodeGroups(creation, chosen);
};

/**
 * The error for a name that is taken. Its advice depends on the state of the stack, and on whether
 * the managed group exists.
 */
export const existsAlready = async (
  api: Pick<ProvisioningApi, 'describeStack'>,
  kube: Pick<KubeApi, 'get'>,
  cluster: string,
  name: string,
): Promise<CommandError> => {
  const { status = '', tags = {} } =
    (await api.describeStack(nodeGroupStackName(cluster, name))) ?? {};
  const again = `\`drover delete nodegroup --cluster ${cluster} ${name} --wait\``;
  if (status === 'DELETE_IN_PROGRESS') {
    return refused(`node group ${name} is still being deleted; ${again} returns when it is gone`);
  }
  if (status.endsWith('_FAILED') || status === 'ROLLBACK_COMPLETE') {
    const what = `of node group ${name} is ${status}`;
    return refused(`the stack ${what}; ${again} deletes it and shows what blocks that`);
  }
  const isLeft =
    isManagedStack(tags) &&
    /^(CREATE|UPDATE)_COMPLETE$/.test(status) &&
    (await kube.get(resourceTypes.nodegroups, { name })).kind === 'gone';
  if (isLeft) {
    const what = `of node group ${name} is left, which was deleted in another way`;
    return refused(`the stack ${what}: ${again} takes it away`);
  }
  return refused(
    `node group ${name} exists already in cluster ${cluster}; ` +
      '`drover scale nodegroup` changes its size, `drover delete nodegroup` removes it',
  );
};

const addNodeGroup = (create: Command, context: CliContext, connection: () => Connection): void => {
  const command = create
    .command('nodegroup')
    .alias('ng')
    .description('create a managed or self-managed node group and wait for its nodes')
    .option('--cluster <name>', 'name of the cluster')
    .option(
      '-n, --name <name>',
      'name of the node group: up to 63 lowercase letters, digits and -; uppercase too with ' +
        '--managed=false',
    )
    .option('-r, --region <region>', 'AWS region')
    .option(
      '-f, --config-file <file>',
      'read node groups from an eksctl ClusterConfig; - reads standard input',
    )
    .option('--timeout <duration>', 'how long to wait for stack and nodes', '25m');
  addGroupFlags(command)
    .addHelpText(
      'after',
      `
Examples:
  drover create nodegroup --cluster ironman-2022 --name blue --nodes 3
  drover create nodegroup --cluster ironman-2022 --name own --nodes 1 --managed=false \\
    --ssh-access --ssh-public-key maowang
  drover create nodegroup -f cluster.yaml

Exit codes: 0 the nodes are Ready, 1 failed, 2 usage or a mistake in the file, 3 refused, 4 timed out.`,
    )
    .action((flags: CreateFlags) => createNodeGroup(context, connection(), flags, command));
};

interface AddonFlags {
  readonly cluster: string;
  readonly name: string;
  readonly version?: string;
  readonly region?: string;
  readonly force: boolean;
  readonly wait: boolean;
  readonly timeout: string;
}

const createAddon = async (
  context: CliContext,
  connection: Connection,
  flags: AddonFlags,
): Promise<void> => {
  const deadline = context.clock.now() + timeoutMs(flags.timeout);
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const api = await context.provisioning(there);
  const cluster = await requireCluster(api, flags.cluster);
  const progress = progressOf(context);
  await nameAccount(context, connection, 'creating in', accountOf(cluster.arn));
  progress.info(`creating addon "${flags.name}" in cluster "${cluster.name}"`);
  await api.createAddon(cluster.name, {
    name: flags.name,
    ...defined({ version: flags.version }),
    overwrite: flags.force,
  });
  await waitForAddon({ context, api, deadline, wait: flags.wait }, cluster.name, flags.name);
  progress.done(`created addon "${flags.name}"`);
};

const addonLookEveryMs = 1_000;

const waitForAddon = async (
  options: {
    readonly context: CliContext;
    readonly api: ProvisioningApi;
    readonly deadline: number;
    readonly wait: boolean;
  },
  cluster: string,
  name: string,
): Promise<void> => {
  const { context, api, deadline, wait } = options;
  while (wait) {
    const addon = (await api.listAddons(cluster)).find((one) => one.name === name);
    if (addon?.status === 'ACTIVE') return;
    if (addon === undefined || /FAILED|DEGRADED/.test(addon.status)) {
      const why = addon === undefined ? 'it is gone' : [addon.status, ...addon.issues].join(': ');
      throw new CommandError(exitCodes.failed, `addon ${name} did not become ACTIVE: ${why}`);
    }
    if (context.clock.now() >= deadline) {
      throw new CommandError(exitCodes.timedOut, `timed out: addon ${name} is ${addon.status}`);
    }
    if (context.signal.aborted) {
      throw new CommandError(
        exitCodes.interrupted,
        `stopped watching; EKS continues with addon ${name} (${addon.status})`,
      );
    }
    await context.clock.sleep(durationMs(addonLookEveryMs), context.signal).catch(() => undefined);
  }
};

const addAddon = (create: Command, context: CliContext, connection: () => Connection): void => {
  create
    .command('addon')
    .description('create an EKS add-on')
    .requiredOption('--cluster <name>', 'name of the cluster')
    .requiredOption('--name <name>', 'name of the add-on, e.g. eks-node-monitoring-agent')
    .option('--version <version>', 'version of the add-on (default: the newest for the cluster)')
    .option('-r, --region <region>', 'AWS region')
    .option('--force', 'take over existing components', false)
    .option('--no-wait', 'return once EKS has accepted the request')
    .option('--timeout <duration>', 'how long to wait until the add-on is ACTIVE', '25m')
    .addHelpText(
      'after',
      `
Examples:
  drover create addon --name eks-node-monitoring-agent --version 1.0.0 --cluster test-cluster
  drover create addon --name coredns --cluster ironman-2022 --force`,
    )
    .action((flags: AddonFlags) => createAddon(context, connection(), flags));
};

/** Adds `create` to the program. */
export const addCreateCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const create = program.command('create').description('create clusters, node groups and add-ons');
  addCreateClusterCommand(create, context, connection);
  addNodeGroup(create, context, connection);
  addAddon(create, context, connection);
};
