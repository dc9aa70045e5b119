// `drover setup aws --format terraform`: resources of the provider hashicorp/aws. Calls nothing.
import type { JsonObject } from '../../api/json.ts';
import { retentionSeconds } from '../../core/setup/index.ts';
import { resourcesOf, type SetupOptions } from './resources.ts';

const data = (path: string): string => `\${data.${path}}`;

const place = {
  partition: data('aws_partition.current.partition'),
  region: data('aws_region.current.name'),
  account: data('aws_caller_identity.current.account_id'),
};

/** A document as a heredoc, in which Terraform replaces references to data. */
const heredoc = (document: JsonObject): string => `<<-JSON
${JSON.stringify(document, null, 2)
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
  JSON`;

const listOf = (texts: readonly string[]): string =>
  `[${texts.map((text) => JSON.stringify(text)).join(', ')}]`;

const block = (head: string, lines: readonly string[]): string =>
  `${head} {\n${lines.map((line) => `  ${line}`).join('\n')}\n}`;

export const terraformText = (options: SetupOptions): string => {
  const { queue, role } = options;
  const { queuePolicy, rules, controllerPolicy, trust } = resourcesOf(options, place);
  return [
    '# Queue, rules and role of drover controller; provider hashicorp/aws.',
    'data "aws_partition" "current" {}\ndata "aws_region" "current" {}',
    'data "aws_caller_identity" "current" {}',
    block('resource "aws_sqs_queue" "drover"', [
      `name                      = "${queue}"`,
      `message_retention_seconds = ${retentionSeconds}`,
      'sqs_managed_sse_enabled   = true',
    ]),
    block('resource "aws_sqs_queue_policy" "drover"', [
      'queue_url = aws_sqs_queue.drover.id',
      `policy    = ${heredoc(queuePolicy)}`,
    ]),
    ...rules.flatMap(({ name, pattern }) => {
      // An identifier must not begin with a digit, which a queue's name may.
      const id = name.slice(queue.length + 1);
      return [
        block(`resource "aws_cloudwatch_event_rule" "${id}"`, [
          `name = "${name}"`,
          'event_pattern = jsonencode({',
          `  source        = ${listOf(pattern.source)}`,
          `  "detail-type" = ${listOf(pattern['detail-type'])}`,
          '})',
        ]),
        block(`resource "aws_cloudwatch_event_target" "${id}"`, [
          `rule = aws_cloudwatch_event_rule.${id}.name`,
          'arn  = aws_sqs_queue.drover.arn',
        ]),
      ];
    }),
    block('resource "aws_iam_role" "drover"', [
      `name               = "${role}"`,
      `assume_role_policy = ${heredoc(trust)}`,
    ]),
    block('resource "aws_iam_role_policy" "drover"', [
      'name   = "drover-controller"',
      'role   = aws_iam_role.drover.id',
      `policy = ${heredoc(controllerPolicy)}`,
    ]),
    'output "queue_url" { value = aws_sqs_queue.drover.id }',
    'output "role_arn" { value = aws_iam_role.drover.arn }',
  ].join('\n\n');
};
