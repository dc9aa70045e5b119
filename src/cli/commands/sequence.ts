// drover update, get, describe, pause, resume and abort sequence: updates of several groups, one
// after another. The command writes the request into the object; the controller carries it out.

import type { Command } from 'commander';
import { defined } from '../../api/defined.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { patienceMs } from '../duration.ts';
import { outputOption, print, printDocument } from '../output.ts';
import { progressOf } from '../progress.ts';
import { needGroup } from '../update/read.ts';
import {
  describeSequence,
  listSequences,
  needSequence,
  patchSequence,
  requestSequence,
  sequenceCells,
  sequenceDocument,
  sequenceHeader,
  sequenceListDocument,
  statusOf,
  watchSequence,
} from '../update/sequence.ts';
import { nameCluster } from '../where.ts';
import { waits } from './update.ts';

const refused = (message: string): CommandError => new CommandError(exitCodes.refused, message);

const watch = async (
  context: CliContext,
  connection: Connection,
  name: string,
  asked: { readonly timeout: string; readonly tell: (line: string) => void },
): Promise<void> => {
  const { clock, signal } = context;
  const { timeout, tell } = asked;
  const kube = await context.kube(connection);
  await watchSequence({ kube, clock, signal, tell }, name, patienceMs(timeout));
};

interface UpdateFlags {
  readonly name?: string;
  readonly kubernetesVersion?: string;
  readonly releaseVersion?: string;
  readonly force: boolean;
  readonly wait: boolean | string;
  readonly timeout: string;
}

const update = async (
  context: CliContext,
  connection: Connection,
  groups: readonly string[],
  flags: UpdateFlags,
): Promise<void> => {
  const wait = waits(flags.wait);
  const twice = groups.find((name, i) => groups.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new CommandError(exitCodes.usage, `${twice} is named twice: name each group once`);
  }
  const { kubernetesVersion: version, releaseVersion, force, timeout } = flags;
  const kube = await context.kube(connection);
  for (const group of groups) await needGroup(kube, group);
  const name = flags.name ?? `sequence-${context.clock.now().toString(36)}`;
  const target = {
    ...defined({ version, releaseVersion }),
  };
  await nameCluster(context, connection, 'updating in');
  await requestSequence(kube, name, {
    groups: groups.map((group) => ({ name: group })),
    ...(Object.keys(target).length === 0 ? {} : { target }),
    ...(force ? { force } : {}),
  });
  const progress = progressOf(context);
  progress.info(`update sequence ${name} of ${groups.join(', ')} recorded`);
  if (!wait) {
    progress.info(`\`drover get sequences ${name} --watch\` shows it`);
    return;
  }
  await watch(context, connection, name, { timeout, tell: (line) => progress.info(line) });
};

interface GetFlags {
  readonly watch: boolean;
  readonly timeout: string;
  readonly output: OutputFormat;
}

const get = async (
  context: CliContext,
  connection: Connection,
  name: string | undefined,
  flags: GetFlags,
): Promise<void> => {
  const { timeout, output } = flags;
  if (flags.watch) {
    if (name === undefined || output !== 'table') {
      const message = '--watch takes the name of a sequence, and prints lines: omit --output';
      throw new CommandError(exitCodes.usage, message);
    }
    return watch(context, connection, name, { timeout, tell: context.out });
  }
  const kube = await context.kube(connection);
  const all = name === undefined ? await listSequences(kube) : [await needSequence(kube, name)];
  if (all.length === 0 && output === 'table') return context.out('there are no update sequences');
  const rows = all.map(sequenceCells);
  print(context, output, sequenceListDocument(all), () => ({ header: sequenceHeader, rows }));
};

const describe = async (
  context: CliContext,
  connection: Connection,
  name: string,
  output: OutputFormat,
): Promise<void> => {
  const sequence = await needSequence(await context.kube(connection), name);
  if (output !== 'table') return printDocument(context, output, sequenceDocument(sequence));
  for (const line of describeSequence(sequence)) context.out(line);
};

const pause = async (context: CliContext, connection: Connection, name: string): Promise<void> => {
  const kube = await context.kube(connection);
  const sequence = await needSequence(kube, name);
  const status = statusOf(sequence);
  if (status !== 'InProgress') throw refused(`update sequence ${name} is over: ${status}`);
  if (sequence.spec.abort !== undefined) {
    throw refused(`update sequence ${name} is being stopped already`);
  }
  await nameCluster(context, connection, 'pausing in');
  await patchSequence(kube, name, { paused: true });
  const how = `\`drover resume sequence ${name}\` continues it`;
  context.out(
    `update sequence ${name} is paused: running drains finish, nothing further is started; ${how}`,
  );
};

const resume = async (context: CliContext, connection: Connection, name: string): Promise<void> => {
  const kube = await context.kube(connection);
  const sequence = await needSequence(kube, name);
  const status = statusOf(sequence);
  const { abort, paused = false } = sequence.spec;
  if (abort !== undefined) throw refused(`update sequence ${name} was aborted, which stays so`);
  if (status === 'Successful') throw refused(`update sequence ${name} is over: ${status}`);
  const isOver = status !== 'InProgress';
  if (!isOver && !paused) return context.out(`update sequence ${name} is not paused`);
  const again = isOver ? { resume: context.clock.now().toString(36) } : {};
  await nameCluster(context, connection, 'resuming in');
  await patchSequence(kube, name, { ...again, paused: null });
  const what = isOver ? ': groups that are done stay done, the others are tried again' : '';
  context.out(`update sequence ${name} continues${what}`);
};

const abort = async (
  context: CliContext,
  connection: Connection,
  name: string,
  isRollback: boolean,
): Promise<void> => {
  const kube = await context.kube(connection);
  const sequence = await needSequence(kube, name);
  const status = statusOf(sequence);
  if (status !== 'InProgress') throw refused(`update sequence ${name} is over: ${status}`);
  const wanted = isRollback ? 'RollBack' : 'Stop';
  const { abort: asked = wanted } = sequence.spec;
  if (asked !== wanted) {
    throw refused(`update sequence ${name} is being aborted already (${asked}), which stays so`);
  }
  await nameCluster(context, connection, 'aborting in');
  await patchSequence(kube, name, { abort: wanted });
  const how = isRollback ? 'updates that run go back' : 'updates that run are stopped';
  context.out(`update sequence ${name} is being aborted: ${how}; groups that are done stay so`);
};

/** The existing command of that name. */
const under = (program: Command, verb: string): Command => {
  const found = program.commands.find((command) => command.name() === verb);
  if (found === undefined) throw new Error(`the program has no command ${verb}`);
  return found;
};

const addReading = (program: Command, context: CliContext, connection: () => Connection): void => {
  under(program, 'get')
    .command('sequences [name]')
    .aliases(['sequence', 'ngus'])
    .description('list update sequences, newest first, or watch one of them')
    .option('--watch', 'print each change until the sequence ends', false)
    .option('--timeout <duration>', 'how long to watch; 0s means no limit', '0s')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  drover get sequences\n  drover get sequences december --watch',
    )
    .action((name: string | undefined, flags: GetFlags) => get(context, connection(), name, flags));
  under(program, 'describe')
    .command('sequence <name>')
    .alias('ngus')
    .description('show an update sequence: its groups, their updates and what it waits for')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  drover describe sequence december\n  drover describe sequence ' +
        'december -o yaml',
    )
    .action((name: string, { output }: { readonly output: OutputFormat }) =>
      describe(context, connection(), name, output),
    );
};

/** Adds `sequence` to the existing verbs. */
export const addSequenceCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  addReading(program, context, connection);
  under(program, 'update')
    .command('sequence <groups...>')
    .description(
      'update several node groups in this order, keeping pods off nodes that are replaced next',
    )
    .option('--name <name>', 'name of the sequence (default: generated)')
    .option(
      '--kubernetes-version <version>',
      "Kubernetes version of every group (default: each group's own)",
    )
    .option(
      '--release-version <release>',
      'release of the image (default: the newest of that version)',
    )
    .option('--force', 'like EKS, delete pods that budgets still protect after 15 minutes', false)
    .option('-w, --wait [bool]', 'watch until the end', true)
    .option('--no-wait', 'return once recorded')
    .option('--timeout <duration>', 'how long to watch; 0s means no limit', '0s')
    .addHelpText(
      'after',
      `
For parallel groups, a target per group or policies, apply a NodeGroupUpdateSequence in YAML.

Examples:
  drover update sequence canary web batch --kubernetes-version 1.33
  drover update sequence canary web --name december --no-wait

Exit codes: 0 Successful (or recorded), 1 Failed, 2 usage, 3 refused or Cancelled, 4 timed out,
130 interrupted (the sequence continues).`,
    )
    .action((groups: readonly string[], flags: UpdateFlags) =>
      update(context, connection(), groups, flags),
    );
  under(program, 'pause')
    .command('sequence <name>')
    .description('finish running drains; start no further node or group')
    .addHelpText(
      'after',
      '\nExamples:\n  drover pause sequence december\n  drover resume sequence december',
    )
    .action((name: string) => pause(context, connection(), name));
  under(program, 'resume')
    .command('sequence <name>')
    .description('resume a sequence that is paused or stopped at a failed update')
    .addHelpText(
      'after',
      '\nExamples:\n  drover resume sequence december\n  drover get sequences december --watch',
    )
    .action((name: string) => resume(context, connection(), name));
  under(program, 'abort')
    .command('sequence <name>')
    .description('start no further group, and stop running updates')
    .option('--rollback', 'roll back running updates; completed groups stay', false)
    .addHelpText(
      'after',
      '\nExamples:\n  drover abort sequence december\n  drover abort sequence december --rollback',
    )
    .action((name: string, { rollback }: { readonly rollback: boolean }) =>
      abort(context, connection(), name, rollback),
    );
};
