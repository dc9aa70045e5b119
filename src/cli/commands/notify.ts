// drover notify test: sends one test event to the receivers of notifications and prints what each
// answered. Reads their Secrets with the caller's own rights; writes nothing to the cluster and
// prints no value of a Secret.
import type { Command } from 'commander';
import { notificationNames } from '../../api/controller-rights.ts';
import type { Json } from '../../api/json.ts';
import { type KubeObject, resourceTypes } from '../../api/kube.ts';
import {
  type Receiver,
  receiverOf,
  renderNotification,
  testTransition,
} from '../../core/notify/index.ts';
import { type Http, HttpError, type KubeApi } from '../../ports/index.ts';
import type { CliContext, Connection } from '../context.ts';
import { CommandError, exitCodes, type OutputFormat } from '../context.ts';
import { outputOption, print } from '../output.ts';

const timeoutMs = 10_000;
const usualSecret = `${notificationNames.namespace}/${notificationNames.secret}`;

interface TestFlags {
  readonly allowPrivateNotifications: boolean;
  readonly allowLoopbackWebhooks: boolean;
  readonly output: OutputFormat;
}

interface Tested {
  readonly secret: string;
  readonly format: string;
  readonly outcome: 'Accepted' | 'NotAccepted' | 'NotDelivered' | 'Misconfigured';
  readonly message: string;
}

const nameOf = (text: string): { readonly namespace: string; readonly name: string } => {
  const [, namespace, name] = /^([a-z0-9-]+)\/([a-z0-9.-]+)$/.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined) return { namespace, name };
  throw new CommandError(
    exitCodes.usage,
    `notify test takes NAMESPACE/NAME of a Secret, such as ${usualSecret}, not ${text}`,
  );
};

const send = async (
  { format, url, signingKey, routingKey }: Receiver,
  http: Http,
  more: { readonly context: CliContext; readonly allowPrivate: boolean },
): Promise<Pick<Tested, 'outcome' | 'message'>> => {
  const { context, allowPrivate } = more;
  const event = testTransition(context.clock.now());
  // The test event is sent whatever `types` selects.
  const receiver = { format, url, ...(routingKey === undefined ? {} : { routingKey }) };
  const rendered = renderNotification(event, receiver);
  if (rendered === undefined) throw new Error(`${format} has no form of the test event`);
  try {
    const { status } = await http.post(url, {
      ...rendered,
      idempotencyKey: event.id,
      ...(signingKey === undefined ? {} : { signingKey }),
      ...(allowPrivate ? {} : { isPublicOnly: true }),
      timeoutMs,
      signal: context.signal,
    });
    const isAccepted = status >= 200 && status < 300;
    return { outcome: isAccepted ? 'Accepted' : 'NotAccepted', message: `status ${status}` };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const outcome = error.code === 'NotAllowed' ? 'Misconfigured' : 'NotDelivered';
    return { outcome, message: error.message };
  }
};

const testOne = async (
  secret: string,
  kube: KubeApi,
  send: (receiver: Receiver) => Promise<Pick<Tested, 'outcome' | 'message'>>,
): Promise<Tested> => {
  type Secret = KubeObject & { readonly data?: Json };
  const found = await kube.get<Secret>(resourceTypes.secrets, nameOf(secret));
  const parsed = receiverOf(found.kind === 'gone' ? undefined : found.object);
  if (parsed.kind !== 'ok') {
    return { secret, format: '-', outcome: 'Misconfigured', message: parsed.why };
  }
  return { secret, format: parsed.receiver.format, ...(await send(parsed.receiver)) };
};

export const addNotifyCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('notify')
    .description('try the receivers of notifications')
    .command('test')
    .description('send one test event to each receiver and print what it answered')
    .argument('[secrets...]', `Secrets that name receivers (default: ${usualSecret})`)
    .option('--allow-private-notifications', 'also to private addresses', false)
    .option('--allow-loopback-webhooks', 'also to this machine, plain http included', false)
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
The event is sent from here, not from the controller's pod: its network may differ. Its type is
notification.test. PagerDuty gets the resolution of an incident that does not exist.

Examples:
  drover notify test
  drover notify test kube-system/drover-receiver monitoring/pager -o json

Exit codes: 0 each receiver accepted it, 1 one did not, 2 usage.`,
    )
    .action(async (given: readonly string[], flags: TestFlags) => {
      const secrets = given.length === 0 ? [usualSecret] : given;
      for (const secret of secrets) nameOf(secret);
      const kube = await context.kube(connection());
      const http = await context.http({ allowLoopback: flags.allowLoopbackWebhooks });
      const more = { context, allowPrivate: flags.allowPrivateNotifications };
      const tested: Tested[] = [];
      for (const secret of secrets) {
        tested.push(await testOne(secret, kube, (receiver) => send(receiver, http, more)));
      }
      const apiVersion = 'cli.drover.dev/v1';
      const document = { apiVersion, kind: 'NotificationTest', receivers: tested };
      print(context, flags.output, document, () => ({
        header: ['SECRET', 'FORMAT', 'OUTCOME', 'MESSAGE'],
        rows: tested.map((one) => [one.secret, one.format, one.outcome, one.message]),
      }));
      const failed = tested.filter(({ outcome }) => outcome !== 'Accepted');
      if (failed.length === 0) return;
      const names = failed.map(({ secret }) => secret).join(', ');
      throw new CommandError(exitCodes.failed, `the test event was not accepted: ${names}`);
    });
};
