// The program without commands: its own flags and the layout of its help.
import { Command, Help, type Option } from 'commander';

/** A flag that is off by default needs no `(default: false)`. */
const optionDescription = (option: Option): string =>
  (option.defaultValue === false && option.isBoolean()) ||
  (Array.isArray(option.defaultValue) && option.defaultValue.length === 0)
    ? option.description
    : Help.prototype.optionDescription(option);

export const baseProgram = (): Command =>
  new Command('drover')
    .description('Manage the nodes of a Kubernetes cluster on EC2 the way EKS manages node groups')
    .option(
      '--data-dir <dir>',
      'directory of the embedded world (default: DROVER_URL, then ./.drover)',
    )
    .option('--kubeconfig <file>', 'kubeconfig of the cluster, as in kubectl')
    .option('--context <name>', 'context of the kubeconfig, as in kubectl')
    .option(
      '--allow-mixed-endpoints',
      'allow a real cluster with the AWS endpoint of an embedded world, or the reverse',
    )
    .configureHelp({ sortSubcommands: true, optionDescription })
    .addHelpText(
      'after',
      `
Drover works on nodes in EC2 Auto Scaling groups. A command uses --data-dir or --kubeconfig, else
the environment (KUBECONFIG, DROVER_URL), else the embedded world in ./.drover, else ~/.kube/config.

Examples:
  drover up --demo
  drover get nodes
  drover plan update demo-ng
  drover drain NODE --dry-run

\`drover COMMAND --help\` shows flags and examples of a command.`,
    )
    .showHelpAfterError("(add --help for the command's options and examples)")
    .exitOverride();
