// drover get updates, get update --watch and describe update: the state of updates. Read only.
import type { Command } from 'commander';
import type { EpochMs } from '../../api/brand.ts';
import { updateView } from '../../core/overview/index.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { patienceMs } from '../duration.ts';
import { outputOption, print, printDocument } from '../output.ts';
import { resultLines } from '../update/changes.ts';
import {
  describeLines,
  updateCells,
  updateDocument,
  updateHeader,
  updateListDocument,
} from '../update/document.ts';
import {
  listGroups,
  listUpdates,
  needGroup,
  needUpdate,
  openUpdates,
  readFacts,
  withOldNodes,
} from '../update/read.ts';
import { headerLines } from '../update/screen.ts';
import { exitCodeOf, UpdateWatch, type WatchResult } from '../update/watch.ts';
import { addDescribeNodeGroup } from './describe-nodegroup.ts';

/** Reads the cluster's time on every call: an embedded world may run faster than the wall clock. */
export const clusterTime =
  (context: CliContext, connection: Connection) => async (): Promise<EpochMs> =>
    (await context.cluster(connection)).now;

const howItStands: Readonly<Record<Exclude<WatchResult['how'], 'ended'>, string>> = {
  gone: 'was deleted by another client',
  timedOut: 'has not ended; it continues',
  interrupted: 'is no longer watched; it continues',
};

/** Throws CommandError unless the update ends successfully. */
export const watchToEnd = async (
  context: CliContext,
  watch: {
    readonly connection: Connection;
    readonly id: string;
    readonly giveUpAfterMs: number | undefined;
    readonly tell: (line: string) => void;
  },
): Promise<void> => {
  const { connection, id, giveUpAfterMs, tell } = watch;
  const kube = await context.kube(connection);
  const deps = {
    kube,
    clock: context.clock,
    signal: context.signal,
    now: clusterTime(context, connection),
    tell,
    screen: context.isTerminal ? context.screen : undefined,
  };
  const result = await new UpdateWatch(deps, id).run(giveUpAfterMs);
  const code = exitCodeOf(result);
  if (result.how !== 'ended' || result.view === undefined) {
    const how = result.how === 'ended' ? 'gone' : result.how;
    const again = how === 'gone' ? '' : `: \`drover get update ${id} --watch\``;
    throw new CommandError(code, `update ${id} ${howItStands[how]}${again}`);
  }
  if (context.isTerminal) {
    // Prints the final header, because the screen is cleared.
    for (const line of headerLines(result.view, await deps.now())) context.out(line);
  }
  const [first = '', ...errors] = resultLines(result.view);
  if (code !== exitCodes.done) throw new CommandError(code, [first, ...errors].join('; '));
  tell(first);
};

interface GetFlags {
  readonly nodegroup?: string;
  readonly output: OutputFormat;
  readonly watch: boolean;
  readonly timeout: string;
}

const getUpdates = async (
  context: CliContext,
  connection: Connection,
  id: string | undefined,
  flags: GetFlags,
): Promise<void> => {
  const kube = await context.kube(connection);
  if (flags.watch) {
    if (flags.output !== 'table') {
      throw new CommandError(
        exitCodes.usage,
        '--watch draws a screen or prints lines: omit --output',
      );
    }
    const { metadata } = await needUpdate(kube, { id, nodeGroup: flags.nodegroup });
    const giveUpAfterMs = patienceMs(flags.timeout);
    const tell = context.out;
    return watchToEnd(context, { connection, id: metadata.name, giveUpAfterMs, tell });
  }
  if (flags.nodegroup !== undefined) await needGroup(kube, flags.nodegroup);
  const all =
    id === undefined
      ? await listUpdates(kube, flags.nodegroup)
      : [await needUpdate(kube, { id, nodeGroup: flags.nodegroup })];
  const groups = await listGroups(kube);
  const views = all.map((update) =>
    updateView({
      update,
      group: groups.find(({ metadata }) => metadata.name === update.spec.nodeGroup),
      disruptions: [],
    }),
  );
  if (views.length === 0 && flags.output === 'table') {
    const of = flags.nodegroup === undefined ? '' : ` of node group ${flags.nodegroup}`;
    context.out(`there are no updates${of}`);
    return;
  }
  print(context, flags.output, updateListDocument(views), () => ({
    header: updateHeader,
    rows: views.map(updateCells),
  }));
};

/** Adds `get updates` to `get`. */
export const addGetUpdatesCommand = (
  get: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  get
    .command('updates [id]')
    .aliases(['update', 'ngu'])
    .description('list updates of node groups, newest first, or watch one of them')
    .option(
      '--nodegroup <name>',
      'only this node group; with --watch its active update, else its newest one',
    )
    .option('--watch', 'show the update until it ends', false)
    .option('--timeout <duration>', 'how long to watch; 0s means no limit', '0s')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Name an update by its id, by a unique prefix of the id, or by its node group. On a terminal --watch
counts completed and waiting nodes, and shows active nodes with the pods and budgets that delay
them. Elsewhere it prints one line per change.

Examples:
  drover get updates --nodegroup demo-ng
  drover get update --nodegroup demo-ng --watch
  drover get updates -o json | jq '.items[] | select(.status == "Failed") | .errors'

Exit codes with --watch: 0 Successful, 1 Failed, 3 Cancelled, 4 timed out, 130 interrupted (the
update continues).`,
    )
    .action((id: string | undefined, flags: GetFlags) =>
      getUpdates(context, connection(), id, flags),
    );
};

interface DescribeFlags {
  readonly nodegroup?: string;
  readonly output: OutputFormat;
}

/** Prints everything about one update. Throws CommandError when it is not found. */
export const describeUpdate = async (
  context: CliContext,
  connection: Connection,
  id: string | undefined,
  flags: DescribeFlags,
): Promise<void> => {
  const kube = await context.kube(connection);
  const { metadata } = await needUpdate(kube, { id, nodeGroup: flags.nodegroup });
  const facts = await readFacts(kube, metadata.name);
  if (facts === undefined) {
    throw new CommandError(exitCodes.failed, `update ${metadata.name} was deleted just now`);
  }
  const view = updateView(await withOldNodes(kube, facts));
  if (flags.output !== 'table') return printDocument(context, flags.output, updateDocument(view));
  const { now } = await context.cluster(connection);
  for (const line of describeLines(view, now)) context.out(line);
  const { nodegroup } = flags;
  const open =
    id !== undefined || nodegroup === undefined ? [] : await openUpdates(kube, nodegroup);
  const others = open.filter((one) => one.metadata.name !== metadata.name);
  if (others.length === 0) return;
  const names = others.map((one) => one.metadata.name).join(', ');
  context.out(
    `behind it: ${names}; \`drover describe update ID\` shows another than the one that goes first`,
  );
};

/** Adds `describe update`. */
export const addDescribeCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const describe = program.command('describe').description('show everything about one object');
  addDescribeNodeGroup(describe, context, connection);
  describe
    .command('update [id]')
    .alias('ngu')
    .description('show an update: request, phases, each node and what delays it')
    .option('--nodegroup <name>', 'the active update of this node group, else its newest one')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  drover describe update --nodegroup demo-ng\n  drover describe update ' +
        '7c9e6679 -o yaml',
    )
    .action((id: string | undefined, flags: DescribeFlags) =>
      describeUpdate(context, connection(), id, flags),
    );
};
