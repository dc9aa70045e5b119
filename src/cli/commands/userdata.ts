// drover userdata: how a node would interpret its user data, before the node exists. Reads files
// only; calls no cluster and no cloud.
import { type Command, Option } from 'commander';
import { hasErrors, lint } from '../../core/bootstrap/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { outputOption, printDocument } from '../output.ts';
import { type NodeFlags, runDiff, runExplain } from '../userdata/explain.ts';
import { findingsDocument, findingsText, sarif, summaryOf } from '../userdata/findings.ts';
import {
  familyNamed,
  familyOption,
  kubernetesOption,
  typeGiven,
  typeOption,
  versionGiven,
} from '../userdata/options.ts';
import { type RenderFlags, runRender } from '../userdata/render.ts';

interface LintFlags {
  readonly family?: string;
  readonly kubernetes: string;
  readonly instanceType?: string;
  readonly managed?: boolean;
  readonly ownImage?: boolean;
  readonly prefixDelegation?: boolean;
  readonly windowsRole: readonly string[];
  readonly output: 'table' | 'json' | 'sarif';
}

const launchedBy = (flags: LintFlags): 'managed' | 'own-image' | undefined => {
  if (flags.managed === true) return 'managed';
  return flags.ownImage === true ? 'own-image' : undefined;
};

/** Number of files read in parallel. */
const filesAtOnce = 16;

const runLint = async (
  context: CliContext,
  version: string,
  names: readonly string[],
  flags: LintFlags,
): Promise<void> => {
  const options = {
    family: familyNamed(flags.family),
    kubernetesVersion: versionGiven(flags.kubernetes),
    instanceType: typeGiven(flags.instanceType),
    launchedBy: launchedBy(flags),
    isPrefixDelegation: flags.prefixDelegation === true,
    windowsRoles: flags.windowsRole,
  };
  const files = [];
  for (let i = 0; i < names.length; i += filesAtOnce) {
    const some = names.slice(i, i + filesAtOnce);
    const read = await Promise.all(some.map((name) => context.readBytes(name)));
    for (const [j, bytes] of read.entries()) {
      const name = some[j] ?? '';
      files.push({ name, result: lint({ name, bytes }, options) });
    }
  }
  if (flags.output === 'json') printDocument(context, 'json', findingsDocument(files));
  else if (flags.output === 'sarif') printDocument(context, 'json', sarif(files, version));
  else for (const line of findingsText(files)) context.out(line);
  if (files.some(({ result }) => hasErrors(result))) {
    throw new CommandError(exitCodes.refused, `refused: ${summaryOf(files)}`);
  }
};

const addLint = (userdata: Command, context: CliContext, version: string): void => {
  userdata
    .command('lint <file...>')
    .description('find mistakes in user data before a node boots with it')
    .addOption(familyOption())
    .addOption(kubernetesOption())
    .addOption(typeOption())
    .addOption(
      new Option(
        '--managed',
        'check for a managed node group, where EKS adds its own bootstrap',
      ).conflicts('ownImage'),
    )
    .option('--own-image', 'check for a custom image, where EKS adds no bootstrap')
    .option('--prefix-delegation', 'the VPC CNI assigns prefixes')
    .option(
      '--windows-role <arn>',
      'role of Windows nodes, for aws-auth (repeatable)',
      (one: string, before: readonly string[]) => [...before, one],
      [],
    )
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['table', 'json', 'sarif'])
        .default('table'),
    )
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  drover userdata lint user-data.txt',
        '  drover userdata lint --own-image --kubernetes 1.34 -t m5.large user-data.txt',
        '  drover userdata lint -o sarif template.yaml main.tf nodegroups.yaml',
      ].join('\n'),
    )
    .action((names: readonly string[], flags: LintFlags) =>
      runLint(context, version, names, flags),
    );
};

const addRender = (userdata: Command, context: CliContext): void => {
  userdata
    .command('render')
    .description('print the user data of a node group, or the files of its nodes')
    .requiredOption(
      '-f, --config-file <file>',
      'an eksctl ClusterConfig or a NodeGroup; - reads standard input',
    )
    .option('--group <name>', 'name of the node group, if the file has several')
    .addOption(familyOption())
    .option('--kubernetes <version>', 'Kubernetes version of the nodes (default: that of the file)')
    .addOption(typeOption())
    .option('--endpoint <url>', 'API server of the cluster')
    .option(
      '--certificate-authority <base64>',
      'certificate authority of the cluster, as describe-cluster returns it',
    )
    .option('--service-cidr <cidr>', 'service CIDR of the cluster')
    .option('--token <token>', 'cloud-init: bootstrap token for kubeadm join')
    .option('--user-data <file>', 'custom user data, merged by the family’s rules')
    .option('--upstream-reserved', 'leave kubeReserved to the image')
    .option('--files', 'print the files of the node')
    .addOption(
      new Option('--objects', 'print the objects that the cluster needs for such nodes').conflicts([
        'files',
        'encode',
      ]),
    )
    .option('--out <dir>', 'with --files: write them below this directory')
    .option('--encode', 'print base64 as EC2 takes it, compressed if too large')
    .addOption(outputOption())
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  drover userdata render -f cluster.yaml --group ng-1',
        '  drover userdata render -f group.yaml --files -t m5.large --kubernetes 1.34',
        '  drover userdata render -f group.yaml --user-data mine.txt --encode',
        '  drover userdata render -f group.yaml --family cloud-init --endpoint ' +
          'https://10.0.0.1:6443 \\',
        '    --certificate-authority "$(base64 -w0 ca.crt)" --token "$(kubeadm token create)"',
      ].join('\n'),
    )
    .action((flags: RenderFlags) => runRender(context, flags));
};

const addNodeFlags = (command: Command): Command =>
  command
    .addOption(familyOption())
    .addOption(kubernetesOption())
    .addOption(typeOption())
    .addOption(outputOption());

const addExplain = (userdata: Command, context: CliContext): void => {
  addNodeFlags(
    userdata
      .command('explain <file> <field>')
      .description('show the effective value of a field, what set it and what it overrides'),
  )
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  drover userdata explain user-data.txt maxPods',
        '  drover userdata explain user-data.txt labels.team -o json',
        '  drover userdata explain user-data.toml settings.kubernetes.max-pods',
      ].join('\n'),
    )
    .action((name: string, field: string, flags: NodeFlags) =>
      runExplain(context, name, field, flags),
    );
};

const addDiff = (userdata: Command, context: CliContext): void => {
  addNodeFlags(
    userdata
      .command('diff <before> <after>')
      .description('show what changes on the node, and whether nodes must be replaced'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  drover userdata diff old.txt new.txt\n  drover userdata diff old.txt ' +
        'new.txt -t m5.large',
    )
    .action((before: string, after: string, flags: NodeFlags) =>
      runDiff(context, { before, after }, flags),
    );
};

export const addUserDataCommands = (
  program: Command,
  context: CliContext,
  version: string,
): void => {
  const userdata = program
    .command('userdata')
    .description('check, render, explain and compare user data, offline');
  addRender(userdata, context);
  addLint(userdata, context, version);
  addExplain(userdata, context);
  addDiff(userdata, context);
};
