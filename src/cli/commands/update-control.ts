// drover pause, resume, complete and abort update: requests to a running update. They are written
// into the objects; the controller carries them out.

import type { Command } from 'commander';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import { soakOverAnnotation } from '../../api/update-pacing.ts';
import {
  abortVerdict,
  type ControlVerdict,
  notRunning,
  pauseVerdict,
} from '../../core/update/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { needUpdate } from '../update/read.ts';
import { nameCluster } from '../where.ts';

const refused = (message: string): CommandError => new CommandError(exitCodes.refused, message);

/** The version update in progress that the command refers to. */
export const needRunning = async (
  kube: KubeApi,
  id: string | undefined,
  nodeGroup: string | undefined,
): Promise<NodeGroupUpdate> => {
  const update = await needUpdate(kube, { id, nodeGroup });
  const why = notRunning(update);
  if (why !== undefined) throw refused(why);
  return update;
};

export const patchUpdate = async (kube: KubeApi, name: string, body: JsonObject): Promise<void> => {
  const type = resourceTypes.nodegroupupdates;
  const patched = await kube.patch(type, { name }, { type: 'merge', body });
  if (patched.kind === 'gone') {
    throw new CommandError(exitCodes.failed, `update ${name} was deleted just now`);
  }
};

/**
 * Writes the changes that the verdict contains; throws CommandError if the verdict is a refusal.
 */
const carryOut = async (
  asked: {
    readonly context: CliContext;
    readonly connection: Connection;
    readonly kube: KubeApi;
    readonly doing: string;
  },
  { metadata }: NodeGroupUpdate,
  verdict: ControlVerdict,
): Promise<void> => {
  const { context, connection, kube, doing } = asked;
  if (verdict.kind === 'refused') throw refused(verdict.text);
  if (verdict.kind === 'patch') {
    await nameCluster(context, connection, doing);
    await patchUpdate(kube, metadata.name, verdict.patch);
  }
  context.out(verdict.text);
};

const setPaused = async (
  context: CliContext,
  connection: Connection,
  id: string | undefined,
  asked: { readonly nodeGroup: string | undefined; readonly paused: boolean },
): Promise<void> => {
  const kube = await context.kube(connection);
  const update = await needRunning(kube, id, asked.nodeGroup);
  const doing = asked.paused ? 'pausing in' : 'resuming in';
  const verdict = pauseVerdict(update, asked.paused);
  await carryOut({ context, connection, kube, doing }, update, verdict);
};

/** As GKE's complete-upgrade: ends the soak early. */
const complete = async (
  context: CliContext,
  connection: Connection,
  id: string | undefined,
  nodeGroup: string | undefined,
): Promise<void> => {
  const kube = await context.kube(connection);
  const { metadata, spec, status } = await needRunning(kube, id, nodeGroup);
  const { name } = metadata;
  if (status?.phase !== 'Soaking') {
    const is = status?.phase ?? 'not begun';
    throw refused(`update ${name} is ${is}: only the soak of BLUE_GREEN can be ended (Soaking)`);
  }
  if (spec.abort !== undefined) throw refused(`update ${name} is being stopped already`);
  await nameCluster(context, connection, 'completing in');
  await patchUpdate(kube, name, { metadata: { annotations: { [soakOverAnnotation]: 'true' } } });
  const others = (status.holds ?? []).filter(({ kind }) => kind !== 'Soak');
  context.out(
    others.length === 0
      ? `the soak of update ${name} is over: the old nodes go`
      : `the soak of update ${name} is over: the old nodes go when nothing else holds it (${others
          .map(({ kind }) => kind)
          .join(', ')})`,
  );
};

interface AbortFlags {
  readonly nodegroup?: string;
  readonly rollback: boolean;
}

const abort = async (
  context: CliContext,
  connection: Connection,
  id: string | undefined,
  { nodegroup, rollback }: AbortFlags,
): Promise<void> => {
  const kube = await context.kube(connection);
  const update = await needRunning(kube, id, nodegroup);
  const verdict = abortVerdict(update, rollback);
  await carryOut({ context, connection, kube, doing: 'aborting in' }, update, verdict);
};

/** Help text that distinguishes pause, approve and complete. */
export const whichOne = `
pause    stops starting further nodes until \`drover resume\`.
approve  continues an update that waits for an approval, or its next wave.
complete ends the soak of BLUE_GREEN early and terminates the old nodes.
Each does only its own job: an approval neither resumes a paused update nor ends a soak.`;

const withExamples = (verb: string): string =>
  `${whichOne}\n\nExamples:\n  drover ${verb} update --nodegroup demo-ng\n  drover ${verb} ` +
  'update ID';

type Reach = () => Connection;

const group = '--nodegroup <name>';
const groupHelp = 'the active update of this node group, else its newest one';

const addSetPaused = (program: Command, context: CliContext, connection: Reach): void => {
  for (const paused of [true, false]) {
    const verb = paused ? 'pause' : 'resume';
    program
      .command(verb)
      .description(paused ? 'pause a running update' : 'resume a paused update')
      .command('update [id]', { isDefault: true })
      .description(
        paused
          ? 'finish running drains; start no further node until `drover resume`'
          : 'continue with the next nodes',
      )
      .option(group, groupHelp)
      .addHelpText('after', withExamples(verb))
      .action((id: string | undefined, flags: { readonly nodegroup?: string }) =>
        setPaused(context, connection(), id, { nodeGroup: flags.nodegroup, paused }),
      );
  }
};

const addComplete = (program: Command, context: CliContext, connection: Reach): void => {
  program
    .command('complete')
    .description('end the soak of a BLUE_GREEN update early')
    .command('update [id]', { isDefault: true })
    .description('terminate the old nodes of a BLUE_GREEN update now; this ends the fast rollback')
    .option(group, groupHelp)
    .addHelpText('after', withExamples('complete'))
    .action((id: string | undefined, flags: { readonly nodegroup?: string }) =>
      complete(context, connection(), id, flags.nodegroup),
    );
};

const addAbort = (program: Command, context: CliContext, connection: Reach): void => {
  program
    .command('abort')
    .description('stop an update early')
    .command('update [id]', { isDefault: true })
    .description('stop an update where it is, or roll it back')
    .option(group, groupHelp)
    .option('--rollback', 'replace updated nodes by nodes of the previous version', false)
    .addHelpText(
      'after',
      `
Running drains finish, waiting nodes are uncordoned, and the group gets its sizes back. It keeps
nodes of both versions, and the update is Cancelled.

Examples:
  drover abort update --nodegroup demo-ng
  drover abort update 7c9e6679 --rollback`,
    )
    .action((id: string | undefined, flags: AbortFlags) => abort(context, connection(), id, flags));
};

/** Adds `pause`, `resume`, `complete` and `abort` to the program. */
export const addUpdateControlCommands = (
  program: Command,
  context: CliContext,
  connection: Reach,
): void => {
  addSetPaused(program, context, connection);
  addComplete(program, context, connection);
  addAbort(program, context, connection);
};
