// drover node: a single machine from within. `show` reads what a simulated one was booted from.
import { type Command, Option } from 'commander';
import type { CliContext, Connection } from '../context.ts';
import { runShow, type ShowFlags } from '../node/show.ts';
import { outputOption } from '../output.ts';
import { familyOption } from '../userdata/options.ts';

const addShow = (node: Command, context: CliContext, connection: () => Connection): void => {
  node
    .command('show <node>')
    .description('show what a simulated node was booted with: labels, arguments, files')
    .addOption(
      new Option('--kubelet-args', 'print the kubelet’s command line, as `ps` shows it').conflicts([
        'file',
        'files',
      ]),
    )
    .addOption(new Option('--file <path>', 'print this file, as `cat` does').conflicts('files'))
    .option('--files', 'print every file')
    .addOption(familyOption())
    .option('--kubernetes <version>', 'as an image of that version would have it')
    .addOption(outputOption())
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  drover node show $NODE',
        '  drover node show $NODE --kubelet-args',
        '  drover node show $NODE --file /etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf',
        '  drover node show i-0123456789abcdef0 --files',
      ].join('\n'),
    )
    .action((name: string, flags: ShowFlags) => runShow(context, connection(), name, flags));
};

export const addNodeCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const node = program.command('node').description('a single machine from within');
  addShow(node, context, connection);
};
