// drover pause, resume, complete and abort update: requests to a running update. They are written
// into the objects; the controller carries them out.

import type { Command } from 'commander';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import { updateStatusOf } from '../../api/nodegroup-update.ts';
import { soakOverAnnotation } from '../../api/update-pacing.ts';
import type { KubeApi } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { needUpdate } from '../update/read.ts';

const refused = (message: string): CommandError => new CommandError(exitCodes.refused, message);

/** The version update in progress that the command refers to. */
export const needRunning = async (
  kube: KubeApi,
  id: string | undefined,
  nodeGroup: string | undefined,
): Promise<NodeGroupUpdate> => {
  const update = await needUpdate(kube, { id, nodeGroup });
  const { name } = update.metadata;
  const status = updateStatusOf(update);
  if (status !== 'InProgress') throw refused(`update ${name} is over: ${status}`);
  if (update.spec.type === 'VersionUpdate') return update;
  throw refused(`update ${name} is a ${update.spec.type}: only version updates take long enough`);
};

export const patchUpdate = async (kube: KubeApi, name: string, body: JsonObject): Promise<void> => {
  const type = resourceTypes.nodegroupupdates;
  const patched = await kube.patch(type, { name }, { type: 'merge', body });
  if (patched.kind === 'gone') {
    throw new CommandError(exitCodes.failed, `update ${name} was deleted just now`);
  }
};

/**
 * Refuses a pause in phase Restoring: no further node is started then, and a pause does not hold
 * the rest.
 */
export const refuseLatePause = ({ metadata, status }: NodeGroupUpdate): void => {
  if (status?.phase !== 'Restoring') return;
  const what =
    status.ending === undefined
      ? 'has replaced all nodes and only sets back what it had set apart for that'
      : `is being set back already, and ends as ${status.ending}`;
  throw refused(`update ${metadata.name} ${what}: nothing is left to hold`);
};

const setPaused = async (
  context: CliContext,
  connection: Connection,
  id: string | undefined,
  asked: { readonly nodeGroup: string | undefined; readonly paused: boolean },
): Promise<void> => {
  const { nodeGroup, paused } = asked;
  const kube = await context.kube(connection);
  const update = await needRunning(kube, id, nodeGroup);
  const { metadata, spec } = update;
  const { name } = metadata;
  if (spec.abort !== undefined) throw refused(`update ${name} is being stopped already`);
  if (paused) refuseLatePause(update);
  if ((spec.paused ?? false) === paused) {
    context.out(`update ${name} ${paused ? 'is paused' : 'is not paused'} already`);
    return;
  }
  await patchUpdate(kube, name, { spec: { paused } });
  context.out(
    paused
      ? `update ${name} is paused: drains under way end, no node is begun; ` +
          `\`drover resume update ${name}\` goes on`
      : `update ${name} goes on`,
  );
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

/** For an update in phase Restoring: the request only affects what follows it. */
const endingText = ({ metadata, spec, status }: NodeGroupUpdate, rollback: boolean): string => {
  const { name } = metadata;
  const { ending } = status ?? {};
  if (ending !== undefined) {
    const then = rollback ? '; then a rollback takes back what it has done' : '';
    return `update ${name} is being set back already, and ends as ${ending}${then}`;
  }
  const what = `update ${name} has replaced all nodes and only sets back what it had set apart for that`;
  if (rollback) return `${what}: it ends as Successful; then a rollback replaces them again`;
  throw refused(
    `${what}: nothing is left to stop. \`drover rollback nodegroup ${spec.nodeGroup}\` goes ` +
      'back when it is over',
  );
};

/**
 * The effect on the group, by the phase in which the update is stopped. Throws CommandError where
 * it is too late.
 */
export const abortText = (update: NodeGroupUpdate, rollback: boolean): string => {
  const { metadata, status } = update;
  const { phase, strategy, progress, phases = [] } = status ?? {};
  const verb = rollback ? 'rolled back' : 'stopped';
  const what = `update ${metadata.name} is being ${verb}`;
  if (phase === undefined || phase === 'Pending') {
    return `${what}: it had not begun, and the group stays as it is`;
  }
  if (phase === 'Restoring') return endingText(update, rollback);
  // A rollback where no new node is left.
  const asked = rollback ? '; then a rollback sets back what the group asks for' : '';
  const isLast = phases.some((one) => one.phase === 'ScalingDown');
  if (strategy === 'BLUE_GREEN' && !isLast) {
    return (
      `${what}: the group goes back to its old nodes, all of them; the new ones are drained ` +
      `and retire${asked}`
    );
  }
  if (isLast) {
    const again = rollback ? '; then a rollback replaces the new ones' : '';
    const go =
      strategy === 'BLUE_GREEN'
        ? 'old nodes that were asked to go still go'
        : 'the surplus still goes';
    return `${what}: all new nodes are there; ${go}${again}`;
  }
  const { done = 0, draining = 0 } = progress ?? {};
  if (done + draining === 0) {
    return (
      `${what}: no node was replaced, and the group keeps its old ones; what was made for it ` +
      `goes${asked}`
    );
  }
  if (rollback) return `${what}: drains under way end; nodes already updated are replaced again`;
  const ends = 'drains under way end, waiting nodes are given back';
  return `${what}: ${ends}; the group keeps nodes of both revisions`;
};

const abort = async (
  context: CliContext,
  connection: Connection,
  id: string | undefined,
  { nodegroup, rollback }: AbortFlags,
): Promise<void> => {
  const kube = await context.kube(connection);
  const update = await needRunning(kube, id, nodegroup);
  const { metadata, spec } = update;
  const { name } = metadata;
  const wanted = rollback ? 'RollBack' : 'Stop';
  if (spec.abort !== undefined && spec.abort !== wanted) {
    throw refused(`update ${name} is being aborted already (${spec.abort}), which stays so`);
  }
  const text = abortText(update, rollback);
  if (spec.abort === undefined) await patchUpdate(kube, name, { spec: { abort: wanted } });
  context.out(text);
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
