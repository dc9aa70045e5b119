// drover logs: what happened, read from audit logs.
import { type Command, Option } from 'commander';
import type { CliContext, Connection } from '../context.ts';
import { runCloudQuery } from '../logs/cloud-query.ts';
import { type QueryFlags, runQuery } from '../logs/query.ts';
import { runStory, type StoryFlags } from '../logs/story.ts';

const addQuery = (logs: Command, context: CliContext, connection: () => Connection): void => {
  logs
    .command('query <query> [file...]')
    .description("run a CloudWatch Logs Insights query over audit logs (default: the world's)")
    .option('--start <moment>', 'events of then or later: 2022-09-25T13:58:43Z, epoch, or 30m ago')
    .option('--end <moment>', 'events of then or earlier')
    .option('--limit <rows>', 'rows where the query has no limit (default: 10000)')
    .option(
      '--field-cap <fields>',
      'fields of an event that have names, as CloudWatch with 200 (default: none, all have)',
    )
    .option(
      '--log-group <name>',
      'run it in CloudWatch Logs on this group (name or ARN, up to 50 times)',
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .option(
      '--lookup-table <name=file>',
      'a CSV file with a header line, for the command lookup (may be repeated)',
      (pair: string, before: readonly string[] = []) => [...before, pair],
    )
    .option('-r, --region <region>', 'AWS region of the log group (default: AWS_REGION)')
    .addOption(
      new Option('-o, --output <format>', 'how to print')
        .choices(['table', 'json', 'csv'])
        .default('table'),
    )
    .addHelpText(
      'after',
      [
        '',
        'Files may be compressed (gzip, zstd); `-` is standard input. docs/insights.md tells the language.',
        '',
        'Examples:',
        '  drover logs query \'filter verb = "patch" and objectRef.resource = "nodes"\'',
        "  drover logs query 'stats count(*) by userAgent, verb' audit.log audit-1.log.gz",
        '  drover logs query \'filter verb = "delete"\' --log-group /aws/eks/prod/cluster --start 3h',
        "  zcat *.gz | drover logs query 'filter responseStatus.code >= 400' - -o json",
      ].join('\n'),
    )
    .action((query: string, files: readonly string[], flags: QueryFlags) => {
      const request = { query, files, flags };
      return flags.logGroup === undefined
        ? runQuery(context, connection(), request)
        : runCloudQuery(context, connection(), { ...request, groups: flags.logGroup });
    });
};

const addStory = (logs: Command, context: CliContext, connection: () => Connection): void => {
  logs
    .command('story [file...]')
    .description("tell what happened to a node, from audit logs (default: the world's)")
    .option('--node <name>', 'the node meant')
    .option('--nodegroup <name>', 'every node of that group')
    .addOption(
      new Option('-o, --output <format>', 'how to print')
        .choices(['text', 'json', 'html'])
        .default('text'),
    )
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  drover logs story --node ip-192-168-83-56.eu-west-1.compute.internal',
        '  drover logs story --nodegroup demo-ng -o html > story.html',
        '  drover logs story --node n1 audit.log.gz -o json',
      ].join('\n'),
    )
    .action((files: readonly string[], flags: StoryFlags) =>
      runStory(context, connection(), { files, flags }),
    );
};

export const addLogsCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const logs = program.command('logs').description('what happened, read from audit logs');
  addQuery(logs, context, connection);
  addStory(logs, context, connection);
};
