// drover controller: the control plane as its own process, against any cluster and cloud. What runs
// is put together by main.
import { type Command, Option } from 'commander';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';

interface ControllerFlags {
  readonly queueUrl?: string;
  readonly compat: 'eks' | 'native';
  readonly leaderElect: boolean;
  readonly approveCertificates: boolean;
  readonly allowLoopbackWebhooks: boolean;
}

/** Undefined when absent. Throws CommandError for what cannot be a queue's address. */
export const checkQueueUrl = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new CommandError(
    exitCodes.usage,
    `--queue-url takes the address of an SQS queue (https://sqs.REGION.amazonaws.com/ACCOUNT/NAME), not ${text}`,
  );
};

export const addControllerCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('controller')
    .description('run the control plane against a cluster (kubeconfig or in-cluster) and a cloud')
    .addOption(
      new Option('--cloud <name>', 'where the instances live').choices(['aws']).default('aws'),
    )
    .option('--queue-url <url>', 'SQS queue with lifecycle and EC2 notices; polling alone without')
    .addOption(
      new Option('--compat <mode>', "marks and user agent: EKS's own, or Drover's")
        .choices(['eks', 'native'])
        .default('native'),
    )
    .option(
      '--leader-elect',
      'act only while holding the Lease kube-system/drover-controller',
      true,
    )
    .option('--no-leader-elect', 'the only controller there is: no Lease')
    .option(
      '--approve-certificates',
      "approve kubelets' certificate requests that name their own instance; on EKS the platform does",
      false,
    )
    .option(
      '--allow-loopback-webhooks',
      'hooks of updates may be webhooks on the machine this runs on, plain http too',
      false,
    )
    .addHelpText(
      'after',
      `
AWS credentials, region and endpoint come from the environment (AWS_*), as for every AWS client.
It installs its CustomResourceDefinitions, keeps trying while the API server does not answer, and
ends within seconds on SIGTERM; what was under way goes on with the next start or leader.

Examples:
  drover controller --queue-url https://sqs.eu-west-1.amazonaws.com/111111111111/drover-notices
  eval "$(drover env)"                  beside \`drover up --no-controller\`:
  drover controller --compat eks --queue-url "$AWS_ENDPOINT_URL/111111111111/drover-notices"

Exit codes: 0 told to stop, 1 cannot work (rights, definitions), 2 usage.`,
    )
    .action(async ({ queueUrl, ...flags }: ControllerFlags) => {
      const { compat, leaderElect, approveCertificates, allowLoopbackWebhooks } = flags;
      await context.controller({
        queueUrl: checkQueueUrl(queueUrl),
        compat,
        leaderElect,
        approveCertificates,
        allowLoopbackWebhooks,
        connection: connection(),
      });
    });
};
