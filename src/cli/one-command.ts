// Builds the program with a single command: a short command ends before the modules of the others
// would be loaded, and a long-running one saves their memory. Help and errors of the command are
// those of the whole program. Commands that share a verb with others need the whole program.
import type { Command } from 'commander';
import { baseProgram } from './base-program.ts';
import type { CliContext, Connection } from './context.ts';
import { addFamilyExamples } from './family-examples.ts';

type Add = (program: Command, context: CliContext, connection: () => Connection) => void;
type Load = () => Promise<Add>;

const world: Load = async () => (await import('./commands/world.ts')).addWorldCommands;

export const commandsAlone: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['up', world],
  ['world', world],
  ['env', world],
  ['down', world],
  ['controller', async () => (await import('./commands/controller.ts')).addControllerCommand],
  ['agent', async () => (await import('./commands/agent.ts')).addAgentCommand],
  ['logs', async () => (await import('./commands/logs.ts')).addLogsCommands],
  ['node', async () => (await import('./commands/node.ts')).addNodeCommands],
  ['identity', async () => (await import('./commands/identity.ts')).addIdentityCommands],
  ['create', async () => (await import('./commands/create.ts')).addCreateCommands],
  ['drain', async () => (await import('./commands/drain.ts')).addDrainCommand],
  ['undrain', async () => (await import('./commands/undrain.ts')).addUndrainCommand],
  ['explain', async () => (await import('./commands/explain.ts')).addExplainCommand],
  ['plan', async () => (await import('./commands/plan.ts')).addPlanCommand],
]);

/** Undefined for a word that needs the whole program. */
export const buildOneCommand = async (
  word: string | undefined,
  context: CliContext,
): Promise<Command | undefined> => {
  const load = commandsAlone.get(word ?? '');
  if (load === undefined) return undefined;
  const program = baseProgram();
  (await load())(program, context, () => program.opts<Connection>());
  addFamilyExamples(program);
  return program;
};
