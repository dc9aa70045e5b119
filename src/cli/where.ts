// The cluster and the AWS account that a command is about to change, in words, before it changes
// anything. Reads the kubeconfig, and ARNs that the command has read; calls nothing in AWS.
import type { CliContext, Connection } from './context.ts';

/** `context NAME (https://SERVER)`, and whether it is an embedded world. */
export const clusterText = async (context: CliContext, connection: Connection): Promise<string> => {
  const [{ embedded }, { context: name, server }] = await Promise.all([
    context.cluster(connection),
    context.target(connection),
  ]);
  return `${embedded ? 'the embedded world, ' : ''}context ${name} (${server})`;
};

/** `AWS account 111122223333, region eu-west-1`. */
export const accountText = (of: {
  readonly account: string | undefined;
  readonly region: string;
}): string => {
  const account = of.account === undefined ? 'an unknown AWS account' : `AWS account ${of.account}`;
  return of.region === '' ? account : `${account}, region ${of.region}`;
};

/** The account and region in an ARN. */
export const accountOf = (arn: string): string => {
  const [, , , region = '', account = ''] = arn.split(':');
  return accountText({ region, account: account === '' ? undefined : account });
};

/**
 * Names the cluster on stderr, such as `draining in context NAME (URL)`; call before a write.
 * `arn`: of something in the account, for a command that also writes to AWS.
 */
export const nameCluster = async (
  context: CliContext,
  connection: Connection,
  doing: string,
  arn?: string,
): Promise<void> => {
  const account = arn === undefined ? '' : `, ${accountOf(arn)}`;
  context.err(`${doing} ${await clusterText(context, connection)}${account}`);
};

/**
 * The same for a command that writes only to AWS, where the kubeconfig's cluster does not matter.
 */
export const nameAccount = async (
  context: CliContext,
  connection: Connection,
  doing: string,
  account: string,
): Promise<void> => {
  const { embedded } = await context.cluster(connection);
  context.err(`${doing} ${embedded ? 'the embedded world, ' : ''}${account}`);
};
