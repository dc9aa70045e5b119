// drover agent: watches the node it runs on; `check` looks once and explains, `bundle` collects
// logs. What runs is put together by main.
import type { Command } from 'commander';
import { type AgentCheckResult, type AgentReport, reportDocument } from '../../api/agent-report.ts';
import { defined } from '../../api/defined.ts';
import type { Connection } from '../context.ts';
import { type CliContext, CommandError, exitCodes, type OutputFormat } from '../context.ts';
import { outputOption, printDocument } from '../output.ts';
import { renderTable } from '../table.ts';
import { visible } from '../visible.ts';

interface AgentFlags {
  readonly node?: string;
  readonly rules?: string;
  readonly hostRoot: string;
  readonly recordFile: string;
  readonly compat: boolean;
}

interface CheckFlags {
  readonly rules?: string;
  readonly hostRoot: string;
  readonly output: OutputFormat;
}

interface BundleFlags {
  readonly node?: string;
  readonly hostRoot: string;
  readonly file?: string;
}

const rootText = 'where the node’s root is mounted: /host in a container';
const rulesText = 'a rules file of the node, read again when it changes';

/** A cell is read at a glance; what does not fit is in -o json. */
const maxCell = 90;
const short = (text: string): string =>
  text.length <= maxCell ? text : `${text.slice(0, maxCell - 3)}...`;

const resultWord = ({ result, findings }: AgentCheckResult): string => {
  if (result === 'Healthy') return 'ok';
  return result === 'NotLooked' ? 'not looked' : `${findings.length} found`;
};

const printTable = (context: CliContext, { checks }: AgentReport): void => {
  const rows = checks.map((check) => [
    check.check,
    resultWord(check),
    short([...check.lacks, ...check.saw].join('; ')),
  ]);
  for (const line of renderTable(['CHECK', 'RESULT', 'SAW'], rows)) context.out(line);
  const findings = checks.flatMap((check) => check.findings);
  const explained = new Set<string>();
  for (const one of findings) {
    const { reason, severity, condition, message, at, times, meaning, remedy } = one;
    context.out('');
    context.out(`${reason} (${severity} of ${condition}${at === undefined ? '' : `, ${at}`})`);
    context.out(`  ${visible(message)}`);
    if (explained.has(reason)) continue;
    explained.add(reason);
    context.out(`  what it means: ${meaning}`);
    context.out(`  what to do:    ${remedy}`);
    if (times !== undefined) context.out(`  reported once it was seen ${times} times`);
  }
};

const addCheck = (agent: Command, context: CliContext): void => {
  agent
    .command('check')
    .description('run every check once, explain what it finds, and write nothing to a cluster')
    .option('--rules <file>', 'a rules file to judge with')
    .option('--host-root <dir>', rootText, '/')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  drover agent check                       on the node, as root
  drover agent check -o json | jq '.checks[].findings[].reason'
  drover agent check --rules new-rules.json   is this file right, and what would it find?

Exit codes: 0 nothing found, 2 usage or a wrong rules file, 3 findings.`,
    )
    .action(async ({ output, ...flags }: CheckFlags) => {
      const report = await context.agentCheck(flags);
      if (output === 'table') printTable(context, report);
      else printDocument(context, output, reportDocument(report));
      const count = report.checks.reduce((total, { findings }) => total + findings.length, 0);
      if (count > 0) throw new CommandError(exitCodes.refused, `${count} findings`);
    });
};

const addBundle = (agent: Command, context: CliContext): void => {
  agent
    .command('bundle')
    .description('collect the node’s logs and state in one archive, without secrets')
    .option('-f, --file <file>', 'where to; default drover-bundle-NODE-TIME.tar.gz here')
    .option('--node <name>', 'the node’s name for the manifest (default: NODE_NAME, the hostname)')
    .option('--host-root <dir>', rootText, '/')
    .addHelpText(
      'after',
      `
At most 50 MiB before it is packed. Tokens, keys and passwords are taken out; manifest.json names
each entry, its source, its size and what became of it. On Bottlerocket it holds logdog's archive,
as it is, besides.

Examples:
  drover agent bundle
  drover agent bundle --file /tmp/node.tar.gz && tar -tzf /tmp/node.tar.gz`,
    )
    .action(async (flags: BundleFlags) => {
      const { path, bytes, entries, missing } = await context.agentBundle(flags);
      context.out(`${path}: ${entries} entries, ${(bytes / 1024).toFixed(0)} KiB`);
      if (missing > 0)
        context.out(`${missing} sources do not exist here; manifest.json names them`);
    });
};

export const addAgentCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const agent = program
    .command('agent')
    .description('watch the node it runs on: conditions and Events about kernel, disks, network')
    .option('--node <name>', 'the Node’s name (default: NODE_NAME, then who the credentials are)')
    .option('--rules <file>', rulesText)
    .option('--host-root <dir>', rootText, '/')
    .option('--record-file <file>', 'where it keeps what it knew', '/var/lib/drover/agent.json')
    .option('--compat', 'report Events as eks-node-monitoring-agent', false)
    .addHelpText(
      'after',
      `
Runs as root on each node: as a systemd unit, or as the DaemonSet of deploy/agent. It writes the
conditions KernelReady, StorageReady, NetworkingReady, ContainerRuntimeReady,
AcceleratedHardwareReady and AgentHealthy of its own Node, Events about it, and nothing else.

Examples:
  drover agent --kubeconfig /var/lib/kubelet/kubeconfig
  drover agent --rules /etc/drover/rules.json
  drover agent check

Exit codes: 0 told to stop, 1 a part of it failed, 2 usage.`,
    )
    .action(async ({ node, rules, hostRoot, recordFile, compat }: AgentFlags) => {
      await context.agent({
        connection: connection(),
        hostRoot,
        recordFile,
        compat,
        ...defined({ node, rules }),
      });
    });
  addCheck(agent, context);
  addBundle(agent, context);
};
