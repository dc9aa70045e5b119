// drover uninstall: removes Drover from a cluster, and first says what it removes and what each
// node group does without it. Changes nothing without --yes, and no instance with it.
import type { Command } from 'commander';
import { epochMs } from '../../api/brand.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { timeoutMs } from '../duration.ts';
import { uninstallLines } from '../uninstall/describe.ts';
import { readInstallation } from '../uninstall/read.ts';
import { removeAll } from '../uninstall/remove.ts';
import { clusterText, nameCluster } from '../where.ts';

interface UninstallFlags {
  readonly yes: boolean;
  readonly crds: boolean;
  readonly leaderElect: boolean;
  readonly timeout: string;
}

const uninstall = async (
  context: CliContext,
  connection: Connection,
  { yes, crds, leaderElect, timeout }: UninstallFlags,
): Promise<void> => {
  const kube = await context.kube(connection);
  const { now: then } = await context.cluster(connection);
  const started = context.clock.now();
  const now = () => epochMs(then + context.clock.now() - started);
  const found = await readInstallation(kube, now());
  for (const line of uninstallLines(found, { crds })) context.out(line);
  const where = await clusterText(context, connection);
  if (!yes) {
    context.err(`nothing was changed in ${where}: add --yes to uninstall`);
    return;
  }
  const needsController = found.groups.length + found.openDrains.length > 0;
  if (needsController && found.leader === undefined && leaderElect) {
    throw new CommandError(
      exitCodes.refused,
      `nothing was changed in ${where}: no controller runs (Lease kube-system/drover-controller), ` +
        'and only a controller removes lifecycle hooks, tags and marks; start one, then uninstall. ' +
        'One without a Lease, as in `drover up`: --no-leader-elect',
    );
  }
  await nameCluster(context, connection, 'uninstalling from');
  const deadline = context.clock.now() + timeoutMs(timeout);
  await removeAll({ context, kube, found, now, deadline, crds });
  context.err('uninstalled');
};

export const addUninstallCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('uninstall')
    .description('release every node group, then remove Drover from the cluster')
    .option('--yes', 'uninstall; without it, only print what would be removed', false)
    .option('--crds', 'also delete the definitions of drover.dev', false)
    .option('--no-leader-elect', 'the controller that runs has no Lease, as in `drover up`')
    .option('--timeout <duration>', 'how long to wait for groups, drains and the controller', '30m')
    .addHelpText(
      'after',
      '\nNo instance is terminated and no Auto Scaling group is deleted, also of groups that Drover ' +
        'created. Groups are released while the controller still runs.\n\nExamples:\n' +
        '  drover uninstall\n  drover uninstall --yes --crds\n\n' +
        'Exit codes: 0 printed or uninstalled, 3 no controller runs, 4 timed out.',
    )
    .action((flags: UninstallFlags) => uninstall(context, connection(), flags));
};
