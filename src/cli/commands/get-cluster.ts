// drover get cluster and get addon, in eksctl's columns. Reads only.
import type { Command } from 'commander';
import type { AddonFacts, ClusterFacts } from '../../api/cloud-provisioning.ts';
import { clusterStackName } from '../../core/provisioning/index.ts';
import type { ProvisioningApi } from '../../ports/index.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { outputOption, print } from '../output.ts';
import { requireCluster } from './create.ts';
import { oneName } from './one-name.ts';

/** One row; the json and yaml form of `drover get cluster`, version 1. */
interface ClusterRow {
  readonly name: string;
  readonly region: string;
  /** Whether a stack of eksctl or Drover contains it. */
  readonly eksctlCreated: boolean;
  readonly status: string;
  readonly version: string;
  readonly created: string;
  readonly logTypes: readonly string[];
}

const regionOf = ({ arn }: ClusterFacts): string => arn.split(':')[3] ?? '';

const clusterRow = async (api: ProvisioningApi, cluster: ClusterFacts): Promise<ClusterRow> => ({
  name: cluster.name,
  region: regionOf(cluster),
  eksctlCreated: (await api.describeStack(clusterStackName(cluster.name))) !== undefined,
  status: cluster.status,
  version: cluster.version,
  created: cluster.createdAt.replace(/\.\d+/, ''),
  logTypes: cluster.logTypes,
});

interface ClusterFlags {
  readonly name?: string;
  readonly region?: string;
  readonly output: OutputFormat;
}

const getCluster = async (
  context: CliContext,
  connection: Connection,
  positional: string | undefined,
  flags: ClusterFlags,
): Promise<void> => {
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const api = await context.provisioning(there);
  const name = oneName(positional, flags.name, undefined);
  const names = name === undefined ? await api.listClusters() : [name];
  const rows: ClusterRow[] = [];
  for (const one of names) {
    const cluster = await api.describeCluster(one);
    if (cluster !== undefined) rows.push(await clusterRow(api, cluster));
    else if (name !== undefined) {
      const known = (await api.listClusters()).join(', ');
      throw new CommandError(exitCodes.failed, `no cluster ${one}; there are: ${known || 'none'}`);
    }
  }
  print(context, flags.output, rows, () => ({
    header: ['NAME', 'REGION', 'EKSCTL CREATED'],
    rows: rows.map((row) => [row.name, row.region, row.eksctlCreated ? 'True' : 'False']),
  }));
};

interface AddonFlags {
  readonly cluster: string;
  readonly name?: string;
  readonly region?: string;
  readonly output: OutputFormat;
}

const addonHeader = [
  'NAME',
  'VERSION',
  'STATUS',
  'ISSUES',
  'IAMROLE',
  'CONFIGURATION VALUES',
] as const;

const addonCells = (addon: AddonFacts): readonly string[] => [
  addon.name,
  addon.version,
  addon.status,
  String(addon.issues.length),
  addon.roleArn,
  addon.configurationValues,
];

const getAddon = async (
  context: CliContext,
  connection: Connection,
  flags: AddonFlags,
): Promise<void> => {
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const api = await context.provisioning(there);
  await requireCluster(api, flags.cluster);
  const all = await api.listAddons(flags.cluster);
  const rows = all.filter((addon) => flags.name === undefined || addon.name === flags.name);
  if (rows.length === 0 && flags.name !== undefined) {
    const known = all.map((addon) => addon.name).join(', ');
    throw new CommandError(
      exitCodes.failed,
      `no addon ${flags.name} in cluster ${flags.cluster}; there are: ${known || 'none'}`,
    );
  }
  print(context, flags.output, rows, () => ({ header: addonHeader, rows: rows.map(addonCells) }));
};

/** Adds `get cluster` and `get addon` to `get`. */
export const addGetClusterCommands = (
  get: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  get
    .command('cluster [name]')
    .alias('clusters')
    .description('list EKS clusters')
    .option('-n, --name <name>', 'only this cluster')
    .option('-r, --region <region>', 'AWS region')
    .addOption(outputOption())
    .addHelpText('after', '\nExamples:\n  drover get cluster\n  drover get cluster test -o yaml')
    .action((name: string | undefined, flags: ClusterFlags) =>
      getCluster(context, connection(), name, flags),
    );
  get
    .command('addon')
    .alias('addons')
    .description('list the EKS add-ons of a cluster')
    .requiredOption('--cluster <name>', 'name of the cluster')
    .option('-n, --name <name>', 'only this add-on')
    .option('-r, --region <region>', 'AWS region')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  drover get addon --cluster ironman-2022\n  drover get addon --cluster ' +
        'ironman-2022 -o yaml',
    )
    .action((flags: AddonFlags) => getAddon(context, connection(), flags));
};
