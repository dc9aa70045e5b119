// drover node: a single machine from within. `show` reads what a simulated one was booted from;
// `init` writes what this one is to boot as.
import { type Command, Option } from 'commander';
import type { CliContext, Connection } from '../context.ts';
import { type InitFlags, runInit } from '../node/init.ts';
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

const collect = (one: string, before: readonly string[]): readonly string[] => [...before, one];

const addInit = (node: Command, context: CliContext): void => {
  node
    .command('init')
    .description('write a node’s configuration from its user data, on the node, once')
    .option(
      '--config-source <source>',
      'where the user data is: imds, file:PATH or config-drive:PATH',
      'imds',
    )
    .option('--root <dir>', 'the root of the node’s files', '/')
    .option('--dry-run', 'print what would be written, and write nothing')
    .option('--start', 'start the kubelet through systemd')
    .option('--replace', 'write over what was made from other user data')
    .addOption(familyOption())
    .option('--kubernetes <version>', 'version of the kubelet; default: /usr/bin/kubelet’s')
    .option('--fact <name=value>', 'a fact of the instance; several may be given', collect, [])
    .option('--endpoint <url>', 'the cluster’s API server, where user data does not say it')
    .option('--certificate-authority <base64>', 'likewise, as describe-cluster gives it')
    .option('--service-cidr <cidr>', 'likewise')
    .option('--imds-endpoint <url>', 'the metadata service; default: http://169.254.169.254')
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  drover node init --start',
        '  drover node init --config-source file:user-data.txt --dry-run',
        '  drover node init --config-source config-drive:/mnt --root /target --kubernetes 1.33',
      ].join('\n'),
    )
    .action((flags: InitFlags) => runInit(context, flags));
};

export const addNodeCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const node = program.command('node').description('a single machine from within');
  addInit(node, context);
  addShow(node, context, connection);
};
