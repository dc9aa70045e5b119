// drover rollback nodegroup: a version update to the revision before the last update that changed
// the group. It is recorded as a NodeGroupUpdate; the controller carries it out.

import type { Command } from 'commander';
import { defined } from '../../api/defined.ts';
import {
  type NodeGroupChange,
  type NodeGroupUpdate,
  type Revision,
  updateStatusOf,
} from '../../api/nodegroup-update.ts';
import { revisionText } from '../../core/overview/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { patienceMs } from '../duration.ts';
import { progressOf } from '../progress.ts';
import { listUpdates, needGroup } from '../update/read.ts';
import { requestUpdate } from '../update/request.ts';
import { nameCluster } from '../where.ts';
import { oneName } from './one-name.ts';
import { follow, waits } from './update.ts';

const refused = (message: string): CommandError => new CommandError(exitCodes.refused, message);

interface RollbackFlags {
  readonly cluster?: string;
  readonly name?: string;
  readonly force: boolean;
  readonly wait: boolean | string;
  readonly timeout: string;
}

/**
 * The image of an adopted group is unknown before its first update; then the releases are compared.
 */
const isSameImage = (a: Revision, b: Revision): boolean => {
  const isUnknown = a.imageId === '' || b.imageId === '';
  return a.imageId === b.imageId || (isUnknown && a.releaseVersion !== undefined);
};

const isSame = (a: Revision, b: Revision): boolean =>
  isSameImage(a, b) &&
  a.releaseVersion === b.releaseVersion &&
  a.launchTemplate?.version === b.launchTemplate?.version;

/** An update to the current version changes nothing that could be rolled back. */
const hasMoved = ({ spec, status }: NodeGroupUpdate): boolean => {
  const { from, target } = status ?? {};
  if (spec.type !== 'VersionUpdate' || from === undefined || target === undefined) return false;
  return !isSame(from, target);
};

/**
 * Refuses if a later update has already reverted the failed one: the group has that revision, and
 * an update would do nothing. `since`: the later updates, newest first.
 */
const refuseTakenBack = (
  name: string,
  from: Revision,
  {
    last,
    since,
    earlier,
  }: Readonly<Record<'since' | 'earlier', readonly NodeGroupUpdate[]>> & {
    readonly last: NodeGroupUpdate;
  },
): void => {
  const back = since.find(({ status }) => status?.target !== undefined);
  const { target } = back?.status ?? {};
  if (back === undefined || target === undefined || !isSame(target, from)) return;
  if (updateStatusOf(back) !== 'Successful') return;
  const id = last.metadata.name;
  const before = earlier
    .flatMap(({ status }) => status?.from ?? [])
    .find((one) => !isSame(one, from) && one.releaseVersion !== undefined)?.releaseVersion;
  const older =
    before === undefined
      ? `\`drover update nodegroup ${name} --release-version R\` goes to another release`
      : `what was there earlier: \`drover update nodegroup ${name} --release-version ${before}\``;
  throw refused(
    `node group ${name} is back at ${revisionText(from)} already: ${back.metadata.name} has ` +
      'taken back ' +
      `update ${id}, the last one that changed something; ${older}`,
  );
};

/** The revision before the last version update that changed something. `updates`: newest first. */
export const changeBack = (name: string, updates: readonly NodeGroupUpdate[]): NodeGroupChange => {
  const last = updates.find(hasMoved);
  const { from } = last?.status ?? {};
  if (last === undefined || from === undefined) {
    throw refused(`node group ${name} has had no update that changed it: nothing to go back to`);
  }
  if (updateStatusOf(last) === 'InProgress') {
    const id = last.metadata.name;
    const then =
      last.spec.abort === undefined
        ? `\`drover abort update ${id} --rollback\``
        : `it is being aborted (${last.spec.abort}), and \`drover get update ${id} --watch\` ` +
          'shows its end';
    throw refused(`update ${id} is in progress: ${then}`);
  }
  const index = updates.indexOf(last);
  const [since, earlier] = [updates.slice(0, index), updates.slice(index + 1)];
  refuseTakenBack(name, from, { last, since, earlier });
  const { version, releaseVersion, launchTemplate } = from;
  return {
    ...(releaseVersion === undefined ? {} : { version, releaseVersion }),
    ...defined({ launchTemplate }),
  };
};

const rollback = async (
  context: CliContext,
  connection: Connection,
  positional: string | undefined,
  flags: RollbackFlags,
): Promise<void> => {
  const name = oneName(positional, flags.name, 'nodegroup');
  if (name === undefined) {
    throw new CommandError(exitCodes.usage, 'name the node group: drover rollback nodegroup NAME');
  }
  const wait = waits(flags.wait);
  const giveUpAfterMs = patienceMs(flags.timeout);
  const kube = await context.kube(connection);
  const group = await needGroup(kube, name, flags.cluster);
  const change = changeBack(name, await listUpdates(kube, name));
  const request = { group, change, action: 'Rollback', force: flags.force } as const;
  await nameCluster(context, connection, 'rolling back in');
  const { metadata } = await requestUpdate({ kube }, request);
  const progress = progressOf(context);
  progress.info(
    `rollback ${metadata.name} of nodegroup "${name}" to ${revisionText(change)} recorded`,
  );
  await follow(context, connection, progress, { id: metadata.name, wait, giveUpAfterMs });
};

/** Adds `rollback` to the program. */
export const addRollbackCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('rollback')
    .description('return to the version before an update')
    .command('nodegroup [name]')
    .alias('ng')
    .description('return a node group to the version before its last update')
    .option('--cluster <name>', 'name of the cluster')
    .option('-n, --name <name>', 'name of the node group')
    .option('--force', 'like EKS, delete pods that budgets still protect after 15 minutes', false)
    .option('-w, --wait [bool]', 'watch until the end', true)
    .option('--no-wait', 'return once the rollback is recorded')
    .option('--timeout <duration>', 'how long to watch; 0s means no limit', '0s')
    .addHelpText(
      'after',
      `
A rollback is a version update of its own. While an update runs, use
\`drover abort update --rollback\` instead.

Examples:
  drover rollback nodegroup demo-ng
  drover rollback nodegroup demo-ng --cluster ironman-2022 --no-wait`,
    )
    .action((name: string | undefined, flags: RollbackFlags) =>
      rollback(context, connection(), name, flags),
    );
};
