// drover controller: the control plane as its own process, for any cluster and cloud. main
// assembles the parts.
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type NotificationOptions,
} from '../context.ts';

interface ControllerFlags {
  readonly queueUrl?: string;
  readonly compat: 'eks' | 'native';
  readonly leaderElect: boolean;
  readonly approveCertificates: boolean;
  readonly allowLoopbackWebhooks: boolean;
  readonly notificationsSecret?: NotificationOptions['secret'];
  readonly allowPrivateNotifications: boolean;
  readonly metricsPort?: number;
  readonly metricsHost: string;
}

/** Undefined when absent. Throws CommandError for a text that cannot be a queue's URL. */
export const checkQueueUrl = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new CommandError(
    exitCodes.usage,
    `--queue-url takes the address of an SQS queue (https://sqs.REGION.amazonaws.com/ACCOUNT/NAME), not ${text}`,
  );
};

const namePattern = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/;

const checkSecret = (text: string): NotificationOptions['secret'] => {
  const [, namespace, name] = namePattern.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined) return { namespace, name };
  throw new InvalidArgumentError(`a Secret is named NAMESPACE/NAME, not ${text}`);
};

const checkPort = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError(`a port is a number from 0 to 65535, not ${text}`);
};

const notes = `
AWS credentials, region and endpoint come from the environment (AWS_*), as for every AWS client.
The controller installs its CustomResourceDefinitions and retries while the API server does not
answer. It stops within seconds on SIGTERM; the next start or leader resumes running work.

Examples:
  drover controller --queue-url https://sqs.eu-west-1.amazonaws.com/111111111111/drover-notices
  eval "$(drover env)"                  # beside \`drover up --no-controller\`
  drover controller --compat eks --queue-url "$AWS_ENDPOINT_URL/111111111111/drover-notices"

The definitions are for Kubernetes 1.30 and later: a rule of NodeGroup uses \`optionalOldSelf\`.

Metrics: docs/metrics.md. Notifications: docs/notifications.md.

Exit codes: 0 stopped by a signal, 1 cannot work (rights, definitions), 2 usage.`;

/** What others see of the process. */
const addOutsideOptions = (command: Command): Command =>
  command
    .option(
      '--notifications-secret <namespace/name>',
      'send a notification for each drain, repair and update to the receiver of this Secret',
      checkSecret,
    )
    .option('--allow-private-notifications', 'allow a receiver with a private address', false)
    .option(
      '--metrics-port <port>',
      'serve /metrics and the health probes on this port (0: any free port; default: off)',
      checkPort,
    )
    .option('--metrics-host <address>', 'IP address of that listener', '127.0.0.1');

export const addControllerCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const command = program
    .command('controller')
    .description('run the controllers against a cluster (kubeconfig or in-cluster)')
    .addOption(new Option('--cloud <name>', 'cloud provider').choices(['aws']).default('aws'))
    .option('--queue-url <url>', 'SQS queue with lifecycle and EC2 notices (default: poll only)')
    .addOption(
      new Option('--compat <mode>', 'labels, taints and user agent of EKS or of Drover')
        .choices(['eks', 'native'])
        .default('native'),
    )
    .option(
      '--leader-elect',
      'act only while holding the Lease kube-system/drover-controller',
      true,
    )
    .option('--no-leader-elect', 'run without a Lease, as the only replica')
    .option(
      '--approve-certificates',
      'approve certificate requests of kubelets that name their own instance; EKS does this itself',
      false,
    )
    .option(
      '--allow-loopback-webhooks',
      'allow webhook hooks on loopback addresses, plain HTTP included',
      false,
    )
    .addHelpText('after', notes);
  addOutsideOptions(command).action(async ({ queueUrl, ...flags }: ControllerFlags) => {
    const { metricsPort: port, metricsHost: host, notificationsSecret: secret } = flags;
    const allowPrivate = flags.allowPrivateNotifications;
    const { compat, leaderElect, approveCertificates, allowLoopbackWebhooks } = flags;
    await context.controller({
      queueUrl: checkQueueUrl(queueUrl),
      compat,
      leaderElect,
      approveCertificates,
      allowLoopbackWebhooks,
      notifications: secret === undefined ? undefined : { secret, allowPrivate },
      probes: { host, port },
      connection: connection(),
    });
  });
};
