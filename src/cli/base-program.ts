// The program before it has commands: its own flags and how help is laid out.
import { Command, Help, type Option } from 'commander';

/** A flag that is off unless given needs no `(default: false)`. */
const optionDescription = (option: Option): string =>
  option.defaultValue === false && option.isBoolean()
    ? option.description
    : Help.prototype.optionDescription(option);

export const baseProgram = (): Command =>
  new Command('drover')
    .description('The life that Amazon EKS gives its managed node groups, for any cluster')
    .option(
      '--data-dir <dir>',
      'the embedded world meant (default: the environment, then ./.drover)',
    )
    .option('--kubeconfig <file>', 'as in kubectl')
    .option('--context <name>', 'as in kubectl')
    .configureHelp({ sortSubcommands: true, optionDescription })
    .showHelpAfterError("(add --help for the command's options and examples)")
    .exitOverride();
