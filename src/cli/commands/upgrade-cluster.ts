// drover upgrade (or update) cluster: eksctl's command and flags. Only plans unless told to apply;
// then it requests the next minor version from EKS and waits for the update.
import type { Command } from 'commander';
import { durationMs } from '../../api/brand.ts';
import type { ClusterFacts } from '../../api/cloud-provisioning.ts';
import { clusterSkewComplaint, nextMinor } from '../../core/nodegroup/index.ts';
import type { ProvisioningApi } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { patienceMs } from '../duration.ts';
import { type Progress, progressOf } from '../progress.ts';
import { accountOf, nameAccount } from '../where.ts';
import { oneName } from './one-name.ts';

interface UpgradeFlags {
  readonly name?: string;
  readonly version?: string;
  readonly approve: boolean;
  readonly force: boolean;
  readonly wait: boolean;
  readonly region?: string;
  readonly timeout: string;
}

/** Interval between two polls of the update. */
const lookEveryMs = durationMs(1_000);

const needCluster = async (
  api: ProvisioningApi,
  name: string | undefined,
): Promise<ClusterFacts> => {
  const known = name === undefined ? await api.listClusters() : [name];
  const [only] = known;
  if (only === undefined || known.length > 1) {
    const names = known.join(', ') || 'none';
    const usage = 'name the cluster: drover upgrade cluster NAME';
    throw new CommandError(exitCodes.usage, `${usage}; there are: ${names}`);
  }
  const cluster = await api.describeCluster(only);
  if (cluster !== undefined) return cluster;
  const names = (await api.listClusters()).join(', ') || 'none';
  throw new CommandError(exitCodes.failed, `no cluster ${only}; there are: ${names}`);
};

const minorNumber = (version: string): number => Number(version.split('.')[1]);

/** The target version; undefined where the cluster already has it. Refuses other steps. */
const targetOf = (cluster: ClusterFacts, wanted: string | undefined): string | undefined => {
  const next = nextMinor(cluster.version) ?? '';
  if (wanted === undefined) return next;
  if (wanted === cluster.version) return undefined;
  if (wanted === next) return next;
  const rule =
    minorNumber(wanted) < minorNumber(cluster.version)
      ? 'a cluster does not move back'
      : 'a cluster moves one minor version at a time';
  throw new CommandError(
    exitCodes.refused,
    `cluster "${cluster.name}" is at version ${cluster.version} and cannot move to ${wanted}: ` +
      `${rule}; ask for --version ${next}`,
  );
};

const refuseSkew = async (api: ProvisioningApi, cluster: ClusterFacts, to: string) => {
  const names = await api.listNodegroups(cluster.name);
  const groups = await Promise.all(names.map((name) => api.describeNodegroup(cluster.name, name)));
  const versions = groups.flatMap((group) => (group === undefined ? [] : [group]));
  const complaint = clusterSkewComplaint({ from: cluster.version, to }, versions);
  if (complaint === undefined) return;
  throw new CommandError(
    exitCodes.refused,
    `${complaint}: \`drover upgrade nodegroup NAME --kubernetes-version ` +
      `${cluster.version}\` does it`,
  );
};

const waitForUpdate = async (
  asked: {
    readonly api: ProvisioningApi;
    readonly context: CliContext;
    readonly giveUpAfterMs: number | undefined;
  },
  update: { readonly cluster: string; readonly id: string },
): Promise<void> => {
  const { api, context, giveUpAfterMs } = asked;
  const { cluster, id } = update;
  const look = `\`aws eks describe-update --name ${cluster} --update-id ${id}\` shows it`;
  const deadline = context.clock.now() + (giveUpAfterMs ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const { status, errors } = await api.describeClusterUpdate(cluster, id);
    if (status === 'Successful') return;
    if (status === 'Failed' || status === 'Cancelled') {
      const why = errors.map(({ code, message }) => `${code}: ${message}`).join('; ');
      const told = why === '' ? '' : `: ${why}`;
      throw new CommandError(exitCodes.failed, `update ${id} of the cluster is ${status}${told}`);
    }
    if (context.signal.aborted) {
      throw new CommandError(exitCodes.interrupted, `stopped watching; EKS continues: ${look}`);
    }
    if (context.clock.now() >= deadline) {
      const over = `timed out waiting for update ${id} of cluster "${cluster}" (${status})`;
      throw new CommandError(exitCodes.timedOut, `${over}; EKS continues: ${look}`);
    }
    await context.clock.sleep(lookEveryMs, context.signal).catch(() => undefined);
  }
};

const apply = async (
  asked: Parameters<typeof waitForUpdate>[0] & { readonly progress: Progress },
  cluster: ClusterFacts,
  to: string,
  flags: UpgradeFlags,
): Promise<void> => {
  const { api, progress } = asked;
  const request = { version: to, force: flags.force };
  const id = await api.updateClusterVersion(cluster.name, request);
  if (!flags.wait) {
    progress.info(`update ${id} of cluster "${cluster.name}" to version "${to}" has begun`);
    return;
  }
  progress.info(`waiting for update ${id} of cluster "${cluster.name}"`);
  await waitForUpdate(asked, { cluster: cluster.name, id });
  progress.done(`cluster "${cluster.name}" control plane has been upgraded to version "${to}"`);
  progress.info(
    'you will need to follow the upgrade procedure for all of nodegroups and add-ons: ' +
      `\`drover upgrade nodegroup NAME --cluster ${cluster.name} --kubernetes-version ${to}\``,
  );
};

const upgrade = async (
  context: CliContext,
  connection: Connection,
  positional: string | undefined,
  flags: UpgradeFlags,
): Promise<void> => {
  const giveUpAfterMs = patienceMs(flags.timeout);
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const api = await context.provisioning(there);
  const progress = progressOf(context);
  const cluster = await needCluster(api, oneName(positional, flags.name, undefined));
  const to = targetOf(cluster, flags.version);
  if (to === undefined) {
    progress.info('no cluster version update required');
    return;
  }
  await refuseSkew(api, cluster, to);
  const step =
    `upgrade cluster "${cluster.name}" control plane from current version ` +
    `"${cluster.version}" to "${to}"`;
  progress.info(`${flags.approve ? 'will' : '(plan) would'} ${step}`);
  if (!flags.approve) {
    progress.warning("no changes were applied, run again with '--approve' to apply the changes");
    return;
  }
  await nameAccount(context, connection, 'updating in', accountOf(cluster.arn));
  await apply({ api, context, progress, giveUpAfterMs }, cluster, to, flags);
};

/** Adds `cluster` to `update` and its alias `upgrade`. */
export const addUpgradeClusterCommand = (
  update: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  update
    .command('cluster [name]')
    .description('update the control plane of a cluster to its next minor version')
    .option('-n, --name <name>', 'name of the cluster (default: the only one)')
    .option('-r, --region <region>', 'AWS region')
    .option(
      '--version <version>',
      'Kubernetes version, e.g. 1.33 (default: the next minor version)',
    )
    .option('--approve', 'apply the change; without it the command prints the plan', false)
    .option('--force', "override EKS' readiness checks", false)
    .option('--no-wait', 'return once EKS has started')
    .option('--timeout <duration>', 'how long to wait; 0s means no limit', '65m')
    .addHelpText(
      'after',
      `
A cluster moves one minor version at a time, and its managed node groups may be at most three
minor versions behind. The nodes keep their version; \`drover upgrade nodegroup\` updates them.
^C ends the waiting, not the upgrade.

Examples:
  drover upgrade cluster --name ironman-2022
  drover upgrade cluster --name ironman-2022 --version 1.33 --approve

Exit codes: 0 done or planned, 1 Failed, 2 usage, 3 refused, 4 timed out, 130 interrupted (the
upgrade continues).`,
    )
    .action((name: string | undefined, flags: UpgradeFlags) =>
      upgrade(context, connection(), name, flags),
    );
};
