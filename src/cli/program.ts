// The command line as commander sees it: every command with its flags. Reads no argv; main does.
import type { Command } from 'commander';
import { baseProgram } from './base-program.ts';
import { addAgentCommand } from './commands/agent.ts';
import { addApproveCommand } from './commands/approve.ts';
import { addControllerCommand } from './commands/controller.ts';
import { addCreateCommands } from './commands/create.ts';
import { addDeleteCommands } from './commands/delete.ts';
import { addDrainCommand } from './commands/drain.ts';
import { addExplainCommand } from './commands/explain.ts';
import { addGetCommands } from './commands/get.ts';
import { addDescribeCommands } from './commands/get-updates.ts';
import { addIdentityCommands } from './commands/identity.ts';
import { addLogsCommands } from './commands/logs.ts';
import { addNodeCommands } from './commands/node.ts';
import { addPlanCommand } from './commands/plan.ts';
import { addRepairCommand } from './commands/repair.ts';
import { addRollbackCommand } from './commands/rollback.ts';
import { addScaleCommand } from './commands/scale.ts';
import { addSequenceCommands } from './commands/sequence.ts';
import { addUndrainCommand } from './commands/undrain.ts';
import { addUpdateCommand } from './commands/update.ts';
import { addUpdateControlCommands } from './commands/update-control.ts';
import { addUserDataCommands } from './commands/userdata.ts';
import { addWorldCommands } from './commands/world.ts';
import type { CliContext, Connection } from './context.ts';

export const buildProgram = (context: CliContext, version: string): Command => {
  const program = baseProgram();
  // No flag of the program: commander would take `create addon --version 1.0.0` for it.
  program
    .command('version')
    .description('print the version; so does --version as the only word')
    .addHelpText('after', '\nExamples:\n  drover version')
    .action(() => context.out(version));
  const connection = (): Connection => program.opts<Connection>();
  addWorldCommands(program, context, connection);
  addGetCommands(program, context, connection);
  addCreateCommands(program, context, connection);
  addDeleteCommands(program, context, connection);
  addScaleCommand(program, context, connection);
  addDrainCommand(program, context, connection);
  addUndrainCommand(program, context, connection);
  addRepairCommand(program, context, connection);
  addExplainCommand(program, context, connection);
  addUpdateCommand(program, context, connection);
  addUpdateControlCommands(program, context, connection);
  addRollbackCommand(program, context, connection);
  addApproveCommand(program, context, connection);
  addDescribeCommands(program, context, connection);
  addSequenceCommands(program, context, connection);
  addPlanCommand(program, context, connection);
  addControllerCommand(program, context, connection);
  addAgentCommand(program, context, connection);
  addIdentityCommands(program, context, connection);
  addNodeCommands(program, context, connection);
  addUserDataCommands(program, context, version);
  addLogsCommands(program, context, connection);
  return program;
};
