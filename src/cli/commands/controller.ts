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
import { addProbeOptions, checkPort } from '../probe-options.ts';

interface ControllerFlags {
  readonly queueUrl?: string;
  readonly compat: 'eks' | 'native';
  readonly leaderElect: boolean;
  readonly approveCertificates: boolean;
  readonly surge: boolean;
  readonly allowLoopbackWebhooks: boolean;
  readonly notificationsSecret?: NotificationOptions['secret'];
  readonly allowPrivateNotifications: boolean;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  readonly pagePort?: number;
  readonly pageActions: boolean;
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

const notes = `
AWS credentials, region and endpoint come from the environment (AWS_*), as for every AWS client.
The controller installs its CustomResourceDefinitions and retries while the API server does not
answer. It stops within seconds on SIGTERM; the next start or leader resumes running work.

Examples:
  drover controller --queue-url https://sqs.eu-west-1.amazonaws.com/111111111111/drover-notices
  eval "$(drover env)"                  # beside \`drover up --no-controller\`
  drover controller --compat eks --queue-url "$AWS_ENDPOINT_URL/111111111111/drover-notices"

The definitions are for Kubernetes 1.30 and later: a rule of NodeGroup uses \`optionalOldSelf\`.

Page: docs/page.md. Metrics: docs/metrics.md. Notifications: docs/notifications.md.

Exit codes: 0 stopped by a signal, 1 cannot work (rights, definitions), 2 usage.`;

/** Options for what is visible from outside the process: metrics, probes, notifications. */
const addOutsideOptions = (command: Command): Command =>
  command
    .option(
      '--notifications-secret <namespace/name>',
      'send a notification for each drain, repair and update to the receiver of this Secret',
      checkSecret,
    )
    .option('--allow-private-notifications', 'allow a receiver with a private address', false)
    .option(
      '--page-port <port>',
      'serve the page on this port of loopback (0: any free port; default: off)',
      checkPort,
    )
    .option('--page-actions', 'approve, pause and stop updates on the page, with a token', false);

const pageOf = ({ pagePort: port, pageActions: actions }: ControllerFlags) => {
  if (port !== undefined) return { port, actions };
  if (!actions) return undefined;
  throw new CommandError(exitCodes.usage, '--page-actions needs a page: add --page-port 8780');
};

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
      '--surge',
      'scale up Deployments labelled drover.dev/surge=true before their pods go',
      false,
    )
    .option(
      '--allow-loopback-webhooks',
      'allow webhook hooks on loopback addresses, plain HTTP included',
      false,
    )
    .addHelpText('after', notes);
  addProbeOptions(addOutsideOptions(command)).action(
    async ({ queueUrl, ...flags }: ControllerFlags) => {
      const { metricsPort: port, metricsHost: host, notificationsSecret: secret } = flags;
      const allowPrivate = flags.allowPrivateNotifications;
      const { compat, leaderElect, approveCertificates, surge, allowLoopbackWebhooks } = flags;
      await context.controller({
        queueUrl: checkQueueUrl(queueUrl),
        compat,
        leaderElect,
        approveCertificates,
        surge,
        allowLoopbackWebhooks,
        notifications: secret === undefined ? undefined : { secret, allowPrivate },
        page: pageOf(flags),
        probes: { host, port },
        connection: connection(),
      });
    },
  );
};
