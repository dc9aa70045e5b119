// drover userdata: what a node makes of its user data, before there is a node. Reads files only; no
// cluster and no cloud is asked.
import { type Command, Option } from 'commander';
import { hasErrors, lint } from '../../core/bootstrap/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { printDocument } from '../output.ts';
import { findingsDocument, findingsText, sarif, summaryOf } from '../userdata/findings.ts';
import {
  familyNamed,
  familyOption,
  kubernetesOption,
  typeGiven,
  typeOption,
  versionGiven,
} from '../userdata/options.ts';

interface LintFlags {
  readonly family?: string;
  readonly kubernetes: string;
  readonly instanceType?: string;
  readonly managed?: boolean;
  readonly ownImage?: boolean;
  readonly prefixDelegation?: boolean;
  readonly output: 'table' | 'json' | 'sarif';
}

const launchedBy = (flags: LintFlags): 'managed' | 'own-image' | undefined => {
  if (flags.managed === true) return 'managed';
  return flags.ownImage === true ? 'own-image' : undefined;
};

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
  };
  const files = [];
  for (const name of names) {
    const bytes = await context.readBytes(name);
    files.push({ name, result: lint({ name, bytes }, options) });
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
    .description('find what keeps a node from joining, or makes another one than was meant')
    .addOption(familyOption())
    .addOption(kubernetesOption())
    .addOption(typeOption())
    .addOption(
      new Option('--managed', 'for a managed group: EKS adds its own bootstrap').conflicts(
        'ownImage',
      ),
    )
    .option('--own-image', 'for an image of your own: nobody adds a bootstrap')
    .option('--prefix-delegation', 'the VPC CNI gives prefixes, not addresses')
    .addOption(
      new Option('-o, --output <format>', 'how to print')
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

export const addUserDataCommands = (
  program: Command,
  context: CliContext,
  version: string,
): void => {
  const userdata = program
    .command('userdata')
    .description('what a node makes of its user data, offline');
  addLint(userdata, context, version);
};
