// drover node: a single machine from within. `show` prints what a simulated machine was booted
// from; `init` writes the boot configuration of this one.
import { type Command, Option } from 'commander';
import type { CliContext, Connection } from '../context.ts';
import { type InitFlags, runInit } from '../node/init.ts';
import { runShow, type ShowFlags } from '../node/show.ts';
import { outputOption } from '../output.ts';
import { familyOption } from '../userdata/options.ts';

const addShow = (node: Command, context: CliContext, connection: () => Connection): void => {
  node
    .command('show <node>')
    .description('show what a simulated node booted with: labels, arguments, files')
    .addOption(
      new Option('--kubelet-args', 'print the kubelet’s command line as `ps` shows it').conflicts([
        'file',
        'files',
      ]),
    )
    .addOption(new Option('--file <path>', 'print this file').conflicts('files'))
    .option('--files', 'print every file')
    .addOption(familyOption())
    .option('--kubernetes <version>', 'show what an image of this version would have')
    .addOption(outputOption())
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  drover node show $NODE',
        '  drover node show $NODE --kubelet-args',
        '  drover node show $NODE --file ' +
          '/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf',
        '  drover node show i-0123456789abcdef0 --files',
      ].join('\n'),
    )
    .action((name: string, flags: ShowFlags) => runShow(context, connection(), name, flags));
};

const collect = (one: string, before: readonly string[]): readonly string[] => [...before, one];

const addInit = (node: Command, context: CliContext): void => {
  node
    .command('init')
    .description('write this machine’s node configuration from its user data')
    .option(
      '--config-source <source>',
      'source of the user data: imds, file:PATH or config-drive:PATH',
      'imds',
    )
    .option('--root <dir>', 'root directory of the node’s files', '/')
    .option('--dry-run', 'print the files and write nothing')
    .option('--start', 'start the kubelet through systemd')
    .option('--replace', 'overwrite files made from other user data')
    .addOption(familyOption())
    .option('--kubernetes <version>', 'version of the kubelet (default: that of /usr/bin/kubelet)')
    .option('--fact <name=value>', 'fact about the instance (repeatable)', collect, [])
    .option('--endpoint <url>', 'API server of the cluster, if user data does not name it')
    .option(
      '--certificate-authority <base64>',
      'certificate authority of the cluster, as describe-cluster returns it',
    )
    .option('--service-cidr <cidr>', 'service CIDR of the cluster')
    .option('--imds-endpoint <url>', 'metadata service (default: http://169.254.169.254)')
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
  const node = program.command('node').description('inspect or bootstrap a single machine');
  addInit(node, context);
  addShow(node, context, connection);
};
