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

const prelude: readonly string[] = [
  'set -e',
  `REGION=${variable('AWS_REGION:-$AWS_DEFAULT_REGION')}`,
  '[ -n "$REGION" ] || REGION=$(aws configure get region) || true',
  'if [ -z "$REGION" ]; then',
  '  echo "No AWS region: export AWS_REGION, or run aws configure set region REGION" >&2',
  '  exit 1',
  'fi',
  '# The aws CLI 1 reads AWS_DEFAULT_REGION only.',
  'export AWS_REGION="$REGION" AWS_DEFAULT_REGION="$REGION"',
  'IDENTITY=$(aws sts get-caller-identity --query Arn --output text)',
  'PARTITION=$(echo "$IDENTITY" | cut -d: -f2)',
  'ACCOUNT=$(aws sts get-caller-identity --query Account --output text)',
  '# The aws CLI 1 reads AWS_ENDPOINT_URL for no SQS call.',
  `ENDPOINT=${variable('AWS_ENDPOINT_URL:+--endpoint-url $AWS_ENDPOINT_URL')}`,
  '',
];

/**
 * Prints the error of a failed call and ends, unless the error says that the resource does not
 * exist.
 */
const unlessAbsent: readonly string[] = [
  'unless_absent() {',
  '  OUT=$(aws "$@" 2>&1) && return',
  '  case "$OUT" in',
  '    *NoSuchEntity*|*ResourceNotFoundException*|*NonExistentQueue*|*QueueDoesNotExist*) OUT= ;;',
  '    *) echo "aws $*: $OUT" >&2; exit 1 ;;',
  '  esac',
  '}',
];

/** Deletes what `shellText` creates, by name. */
export const removalText = (options: SetupOptions): string => {
  const { queue, role } = options;
  const { rules } = resourcesOf(options, place);
  return [
    '# Deletes what `drover setup aws` created. Commands may be run again.',
    ...prelude,
    ...unlessAbsent,
    ...rules.flatMap(({ name }) => [
      `unless_absent events remove-targets --rule ${name} --ids drover`,
      `unless_absent events delete-rule --name ${name}`,
    ]),
    `unless_absent sqs get-queue-url $ENDPOINT --queue-name ${queue} --query QueueUrl --output text`,
    'QUEUE_URL=$(echo "$OUT" | tail -n 1)',
    '[ -z "$QUEUE_URL" ] || unless_absent sqs delete-queue $ENDPOINT --queue-url "$QUEUE_URL"',
    `unless_absent iam delete-role-policy --role-name ${role} --policy-name drover-controller`,
    `unless_absent iam delete-role --role-name ${role}`,
  ].join('\n');
};

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
    ...prelude,
    `QUEUE_URL=$(aws sqs create-queue $ENDPOINT --queue-name ${queue} --query QueueUrl --output text)`,
    `aws sqs set-queue-attributes $ENDPOINT --queue-url "$QUEUE_URL" \\`,
    `  --attributes ${quoted(attributes)}`,
    ...rules.flatMap(({ name, pattern }) => [
      `aws events put-rule --name ${name} --event-pattern '${JSON.stringify(pattern)}'`,
      `aws events put-targets --rule ${name} \\`,
      `  --targets "Id=drover,Arn=${queueArn(place, queue)}"`,
    ]),
    '',
    `TRUST=${quoted(trust)}`,
    `if aws iam get-role --role-name ${role} >/dev/null 2>&1; then`,
    `  aws iam update-assume-role-policy --role-name ${role} --policy-document "$TRUST"`,
    'else',
    `  aws iam create-role --role-name ${role} --assume-role-policy-document "$TRUST"`,
    'fi',
    `aws iam put-role-policy --role-name ${role} --policy-name drover-controller \\`,
    `  --policy-document ${quoted(controllerPolicy)}`,
    '',
    'echo "drover controller --queue-url $QUEUE_URL"',
  ];
  return lines.join('\n');
};
