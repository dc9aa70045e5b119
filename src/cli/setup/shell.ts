// `drover setup aws --format commands`: calls of the AWS CLI for a POSIX shell. Account, region and
// partition are asked of AWS when the commands run. Runs nothing.
import type { JsonObject } from '../../api/json.ts';
import { queueArn, retentionSeconds } from '../../core/setup/index.ts';
import { resourcesOf, type SetupOptions } from './resources.ts';

/** In braces, since a colon may follow, which zsh takes for a modifier. */
const variable = (name: string): string => `\${${name}}`;

const place = {
  partition: variable('PARTITION'),
  region: variable('REGION'),
  account: variable('ACCOUNT'),
};

/** Double quotes, so that the shell fills in $ACCOUNT and the others. */
const quoted = (document: JsonObject): string =>
  `"${JSON.stringify(document).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

export const shellText = (options: SetupOptions): string => {
  const { queue, role } = options;
  const { queuePolicy, rules, controllerPolicy, trust } = resourcesOf(options, place);
  const attributes = {
    MessageRetentionPeriod: String(retentionSeconds),
    SqsManagedSseEnabled: 'true',
    Policy: JSON.stringify(queuePolicy),
  };
  const lines = [
    '# Creates what `drover controller` needs. Commands may be run again.',
    'set -e',
    `REGION=${variable('AWS_REGION:-$AWS_DEFAULT_REGION')}`,
    '[ -n "$REGION" ] || REGION=$(aws configure get region)',
    'IDENTITY=$(aws sts get-caller-identity --query Arn --output text)',
    'PARTITION=$(echo "$IDENTITY" | cut -d: -f2)',
    'ACCOUNT=$(aws sts get-caller-identity --query Account --output text)',
    '# The aws CLI 1 reads AWS_ENDPOINT_URL for no SQS call.',
    `ENDPOINT=${variable('AWS_ENDPOINT_URL:+--endpoint-url $AWS_ENDPOINT_URL')}`,
    '',
    `QUEUE_URL=$(aws sqs create-queue $ENDPOINT --queue-name ${queue} --query QueueUrl --output text)`,
    `aws sqs set-queue-attributes $ENDPOINT --queue-url "$QUEUE_URL" \\`,
    `  --attributes ${quoted(attributes)}`,
    ...rules.flatMap(({ name, pattern }) => [
      `aws events put-rule --name ${name} --event-pattern '${JSON.stringify(pattern)}'`,
      `aws events put-targets --rule ${name} \\`,
      `  --targets "Id=drover,Arn=${queueArn(place, queue)}"`,
    ]),
    '',
    `aws iam get-role --role-name ${role} >/dev/null 2>&1 ||`,
    `  aws iam create-role --role-name ${role} --assume-role-policy-document ${quoted(trust)}`,
    `aws iam put-role-policy --role-name ${role} --policy-name drover-controller \\`,
    `  --policy-document ${quoted(controllerPolicy)}`,
    '',
    'echo "drover controller --queue-url $QUEUE_URL"',
  ];
  return lines.join('\n');
};
