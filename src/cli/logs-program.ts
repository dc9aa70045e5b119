// The program with the commands below `logs` alone: reading a log is over before the other
// commands' modules would be loaded. Help and errors of `logs` are those of the whole program.
import type { Command } from 'commander';
import { baseProgram } from './base-program.ts';
import { addLogsCommands } from './commands/logs.ts';
import type { CliContext, Connection } from './context.ts';

export const buildLogsProgram = (context: CliContext): Command => {
  const program = baseProgram();
  addLogsCommands(program, context, () => program.opts<Connection>());
  return program;
};
