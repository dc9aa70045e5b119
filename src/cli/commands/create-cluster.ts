// drover create cluster: eksctl's command with the same flags, or a ClusterConfig.
import type { Command } from 'commander';
import type { ClusterConfig } from '../../formats/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { createCluster } from '../create/cluster.ts';
import { readClusterConfig } from '../create/cluster-file.ts';
import { addGroupFlags, type GroupFlags, groupOfFlags } from '../create/group-flags.ts';
import { timeoutMs } from '../duration.ts';
import { progressOf } from '../progress.ts';

interface ClusterFlags extends GroupFlags {
  readonly name?: string;
  readonly region?: string;
  readonly version?: string;
  readonly configFile?: string;
  readonly zones?: string;
  readonly nodegroupName?: string;
  readonly withoutNodegroup: boolean;
  readonly withOidc: boolean;
  readonly timeout: string;
}

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);
const defaultRegion = 'eu-west-1';

export const configOfFlags = (flags: ClusterFlags): ClusterConfig => {
  const { name, version } = flags;
  if (name === undefined) throw usage('name the cluster: --name NAME, or -f FILE');
  if (!/^[0-9A-Za-z][A-Za-z0-9-]{0,99}$/.test(name)) {
    throw usage(
      `${name} is no name of a cluster: up to 100 letters, digits and -, beginning with a ` +
        'letter or digit',
    );
  }
  if (version !== undefined && !/^1\.\d{1,2}$/.test(version)) {
    throw usage(`--version takes a version such as 1.32, not ${version}`);
  }
  return {
    name,
    version,
    region: flags.region ?? defaultRegion,
    tags: {},
    vpcId: undefined,
    vpcCidr: '192.168.0.0/16',
    serviceCidr: undefined,
    subnets: [],
    zones: (flags.zones ?? '').split(',').filter((zone) => zone !== ''),
    publicAccess: true,
    privateAccess: false,
    withOidc: flags.withOidc,
    logTypes: [],
    authenticationMode: 'API_AND_CONFIG_MAP',
    addons: [],
    groups: flags.withoutNodegroup ? [] : [groupOfFlags(flags, flags.nodegroupName ?? 'ng-1')],
  };
};

const run = async (
  context: CliContext,
  connection: Connection,
  flags: ClusterFlags,
): Promise<void> => {
  const deadline = context.clock.now() + timeoutMs(flags.timeout);
  if (flags.configFile !== undefined && flags.name !== undefined) {
    throw usage('--name together with -f: say it in the file');
  }
  const config =
    flags.configFile === undefined
      ? configOfFlags(flags)
      : await readClusterConfig(context, flags.configFile);
  const there = { ...connection, region: config.region };
  const { embedded } = await context.cluster(connection);
  await createCluster({
    context,
    connection: there,
    progress: progressOf(context),
    api: await context.provisioning(there),
    config,
    embedded,
    deadline,
  });
};

/** Adds `create cluster` to `create`. */
export const addCreateClusterCommand = (
  create: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const command = create
    .command('cluster')
    .description('create a cluster with its network, node groups and add-ons')
    .option('-n, --name <name>', 'name of the cluster')
    .option('-r, --region <region>', 'AWS region (default: eu-west-1)')
    .option('--version <version>', 'Kubernetes version, e.g. 1.32')
    .option('-f, --config-file <file>', 'read an eksctl ClusterConfig; - reads standard input')
    .option('--zones <zones>', 'availability zones, separated by commas')
    .option('--nodegroup-name <name>', 'name of the first node group (default: ng-1)')
    .option('--without-nodegroup', 'create no node group', false)
    .option('--with-oidc', "associate the cluster's OIDC issuer with IAM", false)
    .option('--timeout <duration>', 'how long to wait for everything', '25m');
  addGroupFlags(command)
    .addHelpText(
      'after',
      `
Examples:
  drover create cluster -f cluster.yaml
  drover create cluster --name test --nodes 3 --node-type m5.large

An embedded world has one Kubernetes API and refuses a second cluster.`,
    )
    .action((flags: ClusterFlags) => run(context, connection(), flags));
};
