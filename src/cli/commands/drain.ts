// drover drain: records a request to drain nodes, and shows the progress. It never touches a node
// or a pod; the controller does, whether or not this command keeps watching.
import { type Command, Option } from 'commander';
import type { Node } from '../../api/kube.ts';
import { explainWaiting } from '../../core/explain/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import {
  type CliContext,
  type ClusterFacts,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { type NodePreview, previewDrains } from '../drain/preview.ts';
import { readBudgets, readDaemonSets, readNodes } from '../drain/read.ts';
import { type DrainRequest, manualCause, type Recorded, recordDrain } from '../drain/record.ts';
import { previewDocument, previewLines, resultDocument } from '../drain/render.ts';
import { exitCodeOf, undrainDecision, worstOf } from '../drain/state.ts';
import { DrainWait, type WaitResult } from '../drain/wait.ts';
import { parseDuration } from '../duration.ts';
import { resolveNodes } from '../nodes.ts';
import { outputOption, printDocument } from '../output.ts';
import { nameCluster } from '../where.ts';

interface DrainFlags {
  readonly selector?: string;
  readonly timeout?: string;
  readonly forceAtDeadline: boolean;
  readonly reason?: string;
  readonly dryRun: boolean;
  readonly compat?: 'eks' | 'native';
  readonly wait: boolean;
  readonly preflight: boolean;
  readonly output: OutputFormat;
}

/** Time after the deadline in which a drain must be reported as ended. */
const afterDeadlineMs = 30_000;
/** Kubernetes bounds the size of an object; this bounds the requester's note. */
const maxReasonLength = 256;

/** Seconds, or undefined for no limit; 0s means no limit, as in kubectl. Throws CommandError. */
export const timeoutSeconds = (flags: {
  readonly timeout?: string;
  readonly forceAtDeadline: boolean;
}): number | undefined => {
  const { timeout, forceAtDeadline } = flags;
  const seconds = timeout === undefined ? 0 : parseDuration(timeout);
  if (seconds === undefined) {
    throw new CommandError(
      exitCodes.usage,
      `--timeout takes a duration such as 90s, 15m or 2h, not ${timeout}`,
    );
  }
  if (seconds === 0 && forceAtDeadline) {
    throw new CommandError(
      exitCodes.usage,
      '--force-at-deadline needs a deadline: add --timeout, for example --timeout 15m',
    );
  }
  return seconds === 0 ? undefined : seconds;
};

const requestOf = (context: CliContext, facts: ClusterFacts, flags: DrainFlags): DrainRequest => {
  if ((flags.reason?.length ?? 0) > maxReasonLength) {
    throw new CommandError(exitCodes.usage, `--reason takes at most ${maxReasonLength} characters`);
  }
  return {
    now: facts.now,
    userName: context.userName,
    timeoutSeconds: timeoutSeconds(flags),
    onDeadline: flags.forceAtDeadline ? 'force' : 'fail',
    reason: flags.reason,
  };
};

const readPreview = async (
  kube: KubeApi,
  nodes: readonly Node[],
  request: DrainRequest,
  compat: 'eks' | 'native',
): Promise<readonly NodePreview[]> => {
  const [reads, budgets, daemonSets] = await Promise.all([
    readNodes(kube, nodes, () => manualCause(request)),
    readBudgets(kube),
    readDaemonSets(kube),
  ]);
  return previewDrains({ reads, budgets, daemonSets, now: request.now, compat });
};

const refusalText = (previews: readonly NodePreview[]): string | undefined => {
  const reasons = previews.flatMap(({ node, refusals }) =>
    refusals.map((waiting) => `  ${node}: ${explainWaiting(waiting)}`),
  );
  if (reasons.length === 0) return undefined;
  return (
    `the drain could never end:\n${reasons.join('\n')}\n` +
    'Change the budget, or give the drain an end: --timeout 15m makes it fail then, ' +
    '--timeout 15m --force-at-deadline deletes what is left; --no-preflight records it all the same'
  );
};

const printPreview = (
  context: CliContext,
  format: OutputFormat,
  previews: readonly NodePreview[],
): void => {
  if (format !== 'table') {
    printDocument(context, format, previewDocument(previews));
    return;
  }
  previews.forEach((preview, i) => {
    if (i > 0) context.out('');
    for (const line of previewLines(preview)) context.out(line);
  });
  context.out('Dry run: nothing was written.');
};

const joined = (recorded: readonly Recorded[]): string =>
  recorded.map(({ node }) => node).join(' ');

/** Names instances that other causes terminate: withdrawing the manual drain does not keep them. */
const interruptedText = (result: WaitResult, recorded: readonly Recorded[]): string => {
  const leaving = recorded.filter(({ name }) => {
    const state = result.states.get(name);
    return state?.kind === 'working' && undrainDecision(state.disruption).kind === 'refused';
  });
  const ours = recorded.filter((one) => !leaving.includes(one));
  const hints = [
    ...(ours.length > 0 ? [`\`drover undrain ${joined(ours)}\` stops it`] : []),
    ...(leaving.length > 0 ? [`${joined(leaving)}: leaving for another cause as well`] : []),
    `\`drover explain ${recorded[0]?.node ?? 'NODE'}\` shows its state`,
  ];
  return `stopped watching; the drain continues. ${hints.join(', ')}`;
};

/** The error for the result of the wait, which ends the command; undefined on success. */
const failureOf = (result: WaitResult, recorded: readonly Recorded[]): CommandError | undefined => {
  if (result.how === 'interrupted') {
    return new CommandError(exitCodes.interrupted, interruptedText(result, recorded));
  }
  const open = recorded.filter(({ name }) => {
    const kind = result.states.get(name)?.kind;
    return kind !== 'ended' && kind !== 'gone';
  });
  if (open.length > 0) {
    return new CommandError(
      exitCodes.timedOut,
      `timed out waiting for ${joined(open)}: \`drover explain ${open[0]?.node}\` says what ` +
        'holds it',
    );
  }
  const code = worstOf([...result.states.values()].map(exitCodeOf));
  if (code === exitCodes.done) return undefined;
  const failed = recorded.filter(({ name }) => {
    const state = result.states.get(name);
    return state !== undefined && exitCodeOf(state) !== exitCodes.done;
  });
  return new CommandError(
    code,
    `not drained: ${joined(failed)}. The node stays cordoned until \`drover undrain\`; ` +
      `\`drover explain ${failed[0]?.node}\` says what held it`,
  );
};

const record = async (
  context: CliContext,
  kube: KubeApi,
  nodes: readonly Node[],
  request: DrainRequest,
  tell: (line: string) => void,
): Promise<readonly Recorded[]> => {
  const recorded: Recorded[] = [];
  for (const node of nodes) {
    // Recorded drains stay recorded; the rest is not requested.
    if (context.signal.aborted) break;
    const one = await recordDrain(kube, node, request);
    recorded.push(one);
    const how = one.isNew ? 'drain recorded' : 'is being drained already, since an earlier request';
    tell(`${one.node}: ${how} (NodeDisruption ${one.name})`);
  }
  return recorded;
};

const drain = async (
  context: CliContext,
  connection: Connection,
  names: readonly string[],
  flags: DrainFlags,
): Promise<void> => {
  if (flags.compat !== undefined && !flags.dryRun) {
    throw new CommandError(
      exitCodes.usage,
      '--compat says what a dry run is to assume; the controller that drains has its own',
    );
  }
  const facts = await context.cluster(connection);
  const request = requestOf(context, facts, flags);
  const kube = await context.kube(connection);
  const nodes = await resolveNodes(kube, { names, selector: flags.selector });
  if (flags.preflight || flags.dryRun) {
    const compat = flags.compat ?? (facts.embedded ? 'eks' : 'native');
    const previews = await readPreview(kube, nodes, request, compat);
    if (flags.dryRun) printPreview(context, flags.output, previews);
    const refusal = flags.preflight ? refusalText(previews) : undefined;
    if (refusal !== undefined) throw new CommandError(exitCodes.refused, refusal);
    if (flags.dryRun) return;
  }
  const { output } = flags;
  const tell = output === 'table' ? context.out : context.err;
  await nameCluster(context, connection, 'draining in');
  const recorded = await record(context, kube, nodes, request, tell);
  const waiting = new DrainWait(
    {
      kube,
      tell,
      clock: context.clock,
      signal: context.signal,
      progress: context.isTerminal && output === 'table' ? context.progress : undefined,
    },
    recorded,
  );
  const seconds = request.timeoutSeconds;
  const result = flags.wait
    ? await waiting.run(seconds === undefined ? undefined : seconds * 1000 + afterDeadlineMs)
    : await waiting.once();
  if (output !== 'table') {
    const rows = recorded.map(({ node, name }) => ({
      node,
      disruption: name,
      state: result.states.get(name) ?? ({ kind: 'unclaimed' } as const),
    }));
    printDocument(context, output, resultDocument(rows));
  }
  if (!flags.wait) {
    tell(`\`drover explain ${recorded[0]?.node ?? 'NODE'}\` shows its state`);
    return;
  }
  const failure = failureOf(result, recorded);
  if (failure !== undefined) throw failure;
};

const examples = `
Takes the nodes out of load balancers, cordons them, and evicts their pods as their budgets allow.
DaemonSet pods, static pods and finished pods stay. Pods without a controller and pods with an
emptyDir volume are evicted too; the dry run names them. The controller does the work, and
continues after this command ends.

Examples:
  drover drain NODE --dry-run                       # print the steps
  drover drain NODE                                 # drain and wait until the node is empty
  drover drain NODE --timeout 15m --force-at-deadline
  drover drain -l eks.amazonaws.com/nodegroup=demo-ng --no-wait

Exit codes: 0 drained, 1 failed or cancelled, 2 usage, 3 refused (a budget can never allow it),
4 timed out, 130 interrupted (the drain continues).`;

export const addDrainCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('drain [node...]')
    .description('cordon nodes and evict their pods within their budgets')
    .option('-l, --selector <labels>', 'select nodes by label, as in kubectl')
    .option('--timeout <duration>', 'deadline of the drain, e.g. 15m; 0s means none', '0s')
    .option('--force-at-deadline', 'delete the remaining pods at the deadline', false)
    .option('--reason <text>', 'note shown by `drover explain`')
    .option('--dry-run', 'print the plan and write nothing', false)
    .addOption(
      new Option('--compat <mode>', 'labels and taints that a dry run assumes').choices([
        'eks',
        'native',
      ]),
    )
    .option('--no-wait', 'return once the drain is recorded')
    .option('--no-preflight', 'record the drain even if a budget can never allow it')
    .option('--ignore-daemonsets', 'no effect, accepted for kubectl users', false)
    .option('--delete-emptydir-data', 'no effect, accepted for kubectl users', false)
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action((names: readonly string[], flags: DrainFlags) =>
      drain(context, connection(), names, flags),
    );
};
