// The program with the commands below `agent` alone: what runs on every node takes no memory for
// the others. Help and errors of `agent` are those of the whole program.
import type { Command } from 'commander';
import { baseProgram } from './base-program.ts';
import { addAgentCommand } from './commands/agent.ts';
import type { CliContext, Connection } from './context.ts';

export const buildAgentProgram = (context: CliContext): Command => {
  const program = baseProgram();
  addAgentCommand(program, context, () => program.opts<Connection>());
  return program;
};
