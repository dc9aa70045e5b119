// drover logs: queries and stories from audit logs.
import { type Command, Option } from 'commander';
import type { CliContext, Connection } from '../context.ts';
import { runCloudQuery } from '../logs/cloud-query.ts';
import { type QueryFlags, runQuery } from '../logs/query.ts';
import { runStory, type StoryFlags } from '../logs/story.ts';
import { targetsOf } from '../target.ts';

const addQuery = (logs: Command, context: CliContext, connection: () => Connection): void => {
  logs
    .command('query <query> [file...]')
    .description(
      "run a CloudWatch Logs Insights query over audit logs (default: the embedded world's)",
    )
    .option(
      '--start <moment>',
      'first event time: 2022-09-25T13:58:43Z, epoch seconds, or 30m (ago)',
    )
    .option('--end <moment>', 'last event time')
    .option('--limit <rows>', 'maximum rows if the query sets no limit (default: 10000)')
    .option(
      '--field-cap <fields>',
      'maximum named fields per event, 200 in CloudWatch (default: no maximum)',
    )
    .option(
      '--log-group <name>',
      'run the query in CloudWatch Logs on this log group (name or ARN, up to 50 times)',
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .option(
      '--lookup-table <name=file>',
      'CSV file with a header line for the command lookup (repeatable)',
      (pair: string, before: readonly string[] = []) => [...before, pair],
    )
    .option('-r, --region <region>', 'AWS region of the log group (default: AWS_REGION)')
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['table', 'json', 'csv'])
        .default('table'),
    )
    .addHelpText(
      'after',
      [
        '',
        'Files may be compressed (gzip, zstd); `-` is standard input. docs/insights.md ' +
          'describes the language.',
        '',
        'Examples:',
        '  drover logs query \'filter verb = "patch" and objectRef.resource = "nodes"\'',
        "  drover logs query 'stats count(*) by userAgent, verb' audit.log audit-1.log.gz",
        '  drover logs query \'filter verb = "delete"\' --log-group /aws/eks/prod/cluster ' +
          '--start 3h',
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

/** Without --node and --nodegroup, the first words name the subject of the story. */
const storyAsked = (words: readonly string[], flags: StoryFlags) => {
  if (flags.node !== undefined || flags.nodegroup !== undefined) return { files: words, flags };
  const [first = '', second] = words;
  const [named] = second === undefined ? targetsOf([first]) : targetsOf([first, second]);
  if (named === undefined || named.name === '') return { files: words, flags };
  const count = named.name === second ? 2 : 1;
  const { kind, name } = named;
  const about = kind === 'nodegroup' ? { nodegroup: name } : { node: name };
  return { files: words.slice(count), flags: { ...flags, ...about } };
};

const addStory = (logs: Command, context: CliContext, connection: () => Connection): void => {
  logs
    .command('story [target-or-file...]')
    .description("show what happened to a node, from audit logs (default: the embedded world's)")
    .option('--node <name>', 'the node meant')
    .option('--nodegroup <name>', 'every node of this node group')
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['text', 'json', 'html'])
        .default('text'),
    )
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  drover logs story node ip-192-168-83-56.eu-west-1.compute.internal',
        '  drover logs story nodegroup demo-ng -o html > story.html',
        '  drover logs story --node n1 audit.log.gz -o json',
      ].join('\n'),
    )
    .action((words: readonly string[], flags: StoryFlags) =>
      runStory(context, connection(), storyAsked(words, flags)),
    );
};

export const addLogsCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const logs = program.command('logs').description('read audit logs');
  addQuery(logs, context, connection);
  addStory(logs, context, connection);
};
