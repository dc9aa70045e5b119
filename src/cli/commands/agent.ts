// drover agent: watches the node it runs on; `check` checks once and explains, `bundle` collects
// logs. main assembles the parts.
import type { Command } from 'commander';
import { type AgentCheckResult, type AgentReport, reportDocument } from '../../api/agent-report.ts';
import { defined } from '../../api/defined.ts';
import type { Connection } from '../context.ts';
import { type CliContext, CommandError, exitCodes, type OutputFormat } from '../context.ts';
import { outputOption, printDocument } from '../output.ts';
import { addProbeOptions } from '../probe-options.ts';
import { renderTable } from '../table.ts';
import { visible } from '../visible.ts';

interface AgentFlags {
  readonly node?: string;
  readonly rules?: string;
  readonly hostRoot: string;
  readonly recordFile: string;
  readonly bundleDirectory?: string;
  readonly compat: boolean;
  readonly metricsHost: string;
  readonly metricsPort?: number;
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

const rootText = 'mount point of the node’s root; /host in a container';
const rulesText = 'rules file, read again when it changes';

/** Keeps cells readable; -o json has the complete text. */
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
    .description('run every check once and explain the findings; writes nothing to a cluster')
    .option('--rules <file>', 'rules file to check with')
    .option('--host-root <dir>', rootText, '/')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  drover agent check                          # on the node, as root
  drover agent check -o json | jq '.checks[].findings[].reason'
  drover agent check --rules new-rules.json   # validate a rules file and try it

Exit codes: 0 nothing found, 2 usage or an invalid rules file, 3 findings.`,
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
    .description('collect logs and state of this node in one archive, without secrets')
    .option('-f, --file <file>', 'output file (default: drover-bundle-NODE-TIME.tar.gz)')
    .option('--node <name>', 'node name in the manifest (default: NODE_NAME, then the hostname)')
    .option('--host-root <dir>', rootText, '/')
    .addHelpText(
      'after',
      `
The archive holds at most 50 MiB before compression. Tokens, keys and passwords are removed;
manifest.json lists each entry with its source, size and state. On Bottlerocket the archive of
logdog is added.

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
    .description(
      'monitor this node: conditions and events about kernel, storage, network and runtime',
    )
    .option(
      '--node <name>',
      'name of the Node (default: NODE_NAME, then the name in the credentials)',
    )
    .option('--rules <file>', rulesText)
    .option('--host-root <dir>', rootText, '/')
    .option('--record-file <file>', 'file for the agent’s state', '/var/lib/drover/agent.json')
    .option(
      '--bundle-directory <dir>',
      'where log bundles that a repair asks for are stored (default: none are collected)',
    )
    .option('--compat', 'report events as eks-node-monitoring-agent', false)
    .addHelpText(
      'after',
      `
Runs as root on each node: as a systemd unit, or as the DaemonSet of deploy/agent. It writes the
conditions KernelReady, StorageReady, NetworkingReady, ContainerRuntimeReady,
AcceleratedHardwareReady and AgentHealthy of its own Node, LogBundleCollected where a repair asks
for logs, Events about it, and nothing else.

Examples:
  drover agent --kubeconfig /var/lib/kubelet/kubeconfig
  drover agent --rules /etc/drover/rules.json --metrics-port 9090
  drover agent --bundle-directory /mnt/shared/bundles
  drover agent check

Exit codes: 0 stopped by a signal, 1 failed, 2 usage.`,
    )
    .action(async ({ node, rules, metricsHost, metricsPort, ...flags }: AgentFlags) => {
      await context.agent({
        connection: connection(),
        ...flags,
        probes: { host: metricsHost, port: metricsPort },
        ...defined({ node, rules }),
      });
    });
  addProbeOptions(agent);
  addCheck(agent, context);
  addBundle(agent, context);
};
