// The command line as commander sees it: every command with its flags. Reads no argv; main does.
import type { Command } from 'commander';
import { baseProgram } from './base-program.ts';
import { addAdoptCommands } from './commands/adopt.ts';
import { addAgentCommand } from './commands/agent.ts';
import { addApproveCommand } from './commands/approve.ts';
import { addCompletionCommands } from './commands/completion.ts';
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
import { addNotifyCommands } from './commands/notify.ts';
import { addPlanCommand } from './commands/plan.ts';
import { addRepairCommand } from './commands/repair.ts';
import { addRollbackCommand } from './commands/rollback.ts';
import { addScaleCommand } from './commands/scale.ts';
import { addSequenceCommands } from './commands/sequence.ts';
import { addSetupCommands } from './commands/setup.ts';
import { addTopCommand } from './commands/top.ts';
import { addUndrainCommand } from './commands/undrain.ts';
import { addUninstallCommand } from './commands/uninstall.ts';
import { addUpdateCommand } from './commands/update.ts';
import { addUpdateControlCommands } from './commands/update-control.ts';
import { addUserDataCommands } from './commands/userdata.ts';
import { addWorldCommands } from './commands/world.ts';
import type { CliContext, Connection } from './context.ts';
import { addFamilyExamples } from './family-examples.ts';

type AddCommand = (program: Command, context: CliContext, connection: () => Connection) => void;

/** Every command, grouped by purpose in the help. */
export const buildProgram = (context: CliContext, version: string): Command => {
  const program = baseProgram();
  const connection = (): Connection => program.opts<Connection>();
  const add = (...commands: readonly AddCommand[]): void => {
    for (const addCommand of commands) addCommand(program, context, connection);
  };
  program.commandsGroup('See:');
  add(addGetCommands, addDescribeCommands, addExplainCommand, addTopCommand);
  program.commandsGroup('Plan:');
  add(addPlanCommand);
  program.commandsGroup('Change:');
  add(addCreateCommands, addDeleteCommands, addScaleCommand, addDrainCommand, addUndrainCommand);
  add(addUpdateCommand, addUpdateControlCommands, addRollbackCommand, addApproveCommand);
  add(addSequenceCommands, addRepairCommand, addIdentityCommands, addAdoptCommands);

  program.commandsGroup('Offline tools:');
  add(addLogsCommands, addNodeCommands);
  addUserDataCommands(program, context, version);
  program.commandsGroup('Run on a cluster:');
  add(addControllerCommand, addAgentCommand, addUninstallCommand);
  addSetupCommands(program, context);
  add(addNotifyCommands);
  program.commandsGroup('Embedded world:');
  add(addWorldCommands);
  program.commandsGroup('Other:');
  addCompletionCommands(program, context);
  // Not a flag of the program: commander would take `create addon --version 1.0.0` for that flag.
  program
    .command('version')
    .description('print the version')
    .addHelpText('after', '\nExamples:\n  drover version\n  drover --version')
    .action(() => context.out(version));
  addFamilyExamples(program);
  return program;
};
