// drover repair: requests that the repair controller replaces, reboots or quarantines a node, or
// prevents a repair. Prints the controller's plan. Drains, reboots and terminates nothing.
import { type Command, Option } from 'commander';
import { durationMs, formatTime } from '../../api/brand.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import {
  endedRepairPhases,
  type NodeRepair,
  type OverrulableBlocker,
  overrulableBlockers,
  type RepairRequest,
  repairAnnotation,
  requestableActions,
} from '../../api/node-repair.ts';
import {
  explainHealth,
  explainRepair,
  explainRepairBlocker,
  explainRepairStep,
} from '../../core/explain/index.ts';
import { decideRequest, type RequestDecision } from '../../core/repair/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { documentVersion } from '../drain/render.ts';
import { unclaimedAfterMs } from '../drain/wait.ts';
import { timeoutMs } from '../duration.ts';
import { outputOption, printDocument } from '../output.ts';
import { observeForRepair } from '../repair/observe.ts';
import { repairedNode } from '../repair/one-node.ts';
import { record } from '../repair/record.ts';
import { nameCluster } from '../where.ts';

interface RepairFlags {
  readonly action: RepairRequest['action'];
  readonly overrule?: string;
  readonly hold: boolean;
  readonly release: boolean;
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly timeout: string;
  readonly output: OutputFormat;
}

type Accepted = Extract<RequestDecision, { kind: 'accepted' }>;

const lookEveryMs = durationMs(1_000);
const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

/** Throws CommandError. */
const overruledOf = (text: string | undefined): readonly OverrulableBlocker[] => {
  const names = (text ?? '').split(',').filter((name) => name !== '');
  const known = names.flatMap((name) => overrulableBlockers.find((one) => one === name) ?? []);
  const wrong = names.find((name) => !known.some((one) => one === name));
  if (wrong === undefined) return known;
  throw usage(`--overrule takes ${overrulableBlockers.join(', ')}, not ${wrong}`);
};

/** Sets or removes the operator's annotation on the node. */
const annotate = async (
  context: CliContext,
  kube: KubeApi,
  node: Node,
  value: 'hold' | null,
): Promise<void> => {
  const { name, uid } = node.metadata;
  const body = { metadata: { uid, annotations: { [repairAnnotation]: value } } };
  const patched = await kube.patch(resourceTypes.nodes, { name }, { type: 'merge', body });
  if (patched.kind === 'gone') throw new CommandError(exitCodes.failed, `node ${name} is gone`);
  const what =
    value === null
      ? `annotation ${repairAnnotation} removed: it is repaired as its group says`
      : `held: no repair of it starts until \`drover repair ${name} --release\``;
  context.out(`${name}: ${what}`);
};

const refusalText = (decision: Exclude<RequestDecision, Accepted>, node: string): string => {
  if (decision.kind === 'underWay') {
    const { metadata, status } = decision.repair;
    return (
      `NodeRepair ${metadata.name} is under way: ${status?.phase}: ${status?.message ?? ''}; ` +
      `\`drover explain ${node}\` says how far it is`
    );
  }
  if (decision.kind === 'impossible') return `${node}: ${decision.message}`;
  const { blockedBy, isOverrulable } = decision;
  const kinds = blockedBy.map(({ kind }) => kind).join(',');
  const remedy = isOverrulable
    ? `Wait until it ends, or repair it all the same: --overrule ${kinds}`
    : 'Wait until it ends, or remove its cause';
  return (
    'not ' +
    `repaired:\n${blockedBy.map((one) => `  ${explainRepairBlocker(one)}`).join('\n')}\n${remedy}`
  );
};

/** Resolves when it has succeeded, or the instance is in quarantine. Throws CommandError. */
const waitFor = async (
  context: CliContext,
  kube: KubeApi,
  name: string,
  tell: (line: string) => void,
  patienceMs: number,
): Promise<void> => {
  const { clock, signal } = context;
  const startedAt = clock.now();
  let told = '';
  let warned = false;
  for (;;) {
    const found = await kube.get<NodeRepair>(resourceTypes.noderepairs, { name });
    if (found.kind === 'gone') throw new CommandError(exitCodes.failed, `${name} was deleted`);
    const { phase, message = '' } = found.object.status ?? {};
    const line = phase === undefined ? '' : `${name}: ${phase}: ${message}`;
    if (line !== told) tell(line);
    told = line;
    if (phase === 'Succeeded' || phase === 'Quarantined') return;
    if (phase !== undefined && endedRepairPhases.includes(phase)) {
      throw new CommandError(exitCodes.failed, `${name} has not helped: ${phase}: ${message}`);
    }
    const waited = clock.now() - startedAt;
    if (phase === undefined && waited >= unclaimedAfterMs && !warned) {
      warned = true;
      tell('no controller has acted on it yet: start `drover controller`; the request is recorded');
    }
    if (signal.aborted) {
      throw new CommandError(exitCodes.interrupted, `stopped watching; ${name} continues`);
    }
    if (waited >= patienceMs) {
      throw new CommandError(exitCodes.timedOut, `timed out; ${name} continues: ${line}`);
    }
    await clock.sleep(lookEveryMs, signal).catch(() => undefined);
  }
};

const checkFlags = (flags: RepairFlags): void => {
  if (flags.hold && flags.release) throw usage('--hold or --release, not both');
  if ((flags.hold || flags.release) && (flags.dryRun || flags.wait)) {
    throw usage('--hold and --release start no repair: leave --dry-run and --wait out');
  }
};

const repair = async (
  context: CliContext,
  connection: Connection,
  words: readonly string[],
  flags: RepairFlags,
): Promise<void> => {
  checkFlags(flags);
  const overrule = overruledOf(flags.overrule);
  const patienceMs = timeoutMs(flags.timeout);
  const kube = await context.kube(connection);
  const node = await repairedNode(kube, words);
  if (flags.hold || flags.release) {
    const doing = flags.hold ? 'holding a node in' : 'removing the hold of a node in';
    await nameCluster(context, connection, doing);
    return annotate(context, kube, node, flags.hold ? 'hold' : null);
  }
  const { now } = await context.cluster(connection);
  const cloud = await context.cloud(connection);
  const { observation, member } = await observeForRepair({ kube, cloud, now }, node);
  const requested: RepairRequest = {
    action: flags.action,
    at: formatTime(now),
    by: context.userName,
    ...(overrule.length === 0 ? {} : { overrule }),
  };
  const decision = decideRequest(observation, member, requested);
  const tell = flags.output === 'table' ? context.out : context.err;
  const { group } = observation;
  const open = observation.repairs.find(({ metadata }) =>
    decision.kind === 'accepted' ? metadata.name === decision.name : false,
  );
  const explained = [
    ...explainHealth(member.health),
    ...explainRepair(member.health, { group, ...(open === undefined ? {} : { repair: open }) }),
  ];
  for (const line of explained) tell(line);
  if (decision.kind !== 'accepted') {
    throw new CommandError(exitCodes.refused, refusalText(decision, node.metadata.name));
  }
  const { name, steps } = decision;
  if (flags.output !== 'table') {
    const document = { apiVersion: documentVersion, kind: 'RepairPlan', name, steps };
    printDocument(context, flags.output, document);
  } else {
    context.out(`node group ${group.metadata.name}: what the controller does, in this order`);
    for (const step of steps) context.out(`  ${explainRepairStep(step)}`);
  }
  if (flags.dryRun) {
    tell('Dry run: nothing was written.');
    return;
  }
  await nameCluster(context, connection, 'repairing in');
  await record(kube, decision.write, group.metadata);
  tell(`${node.metadata.name}: ${flags.action} requested (NodeRepair ${name})`);
  if (flags.wait) return waitFor(context, kube, name, tell, patienceMs);
  tell(`\`drover explain ${node.metadata.name}\` shows its state`);
};

const examples = `
The repair starts without a wait, whether the node is healthy or not, and whether its group
repairs nodes by itself or not. The controller drains the node, then replaces or reboots it.
Quarantine takes the instance out of its group and keeps it for inspection until the time limit of
nodeRepair.quarantine; a node that cannot be quarantined is refused, not replaced. An instance whose
kubelet stops during the drain is terminated, since nothing would stop its pods.

Examples:
  drover repair NODE --dry-run              # print the steps, and what blocks them
  drover repair NODE --wait                 # replace the node and wait for the new one
  drover repair NODE --action Reboot
  drover repair NODE --action Quarantine    # keep the instance for inspection
  drover repair NODE --overrule cooldown    # although a breaker has just closed
  drover repair NODE --hold                 # start no repair of this node
  drover repair NODE --release              # remove the hold

Exit codes: 0 requested, or with --wait repaired; 1 the repair did not help; 2 usage; 3 refused
(the blockers are printed); 4 timed out; 130 interrupted (the repair continues).`;

export const addRepairCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('repair <node...>')
    .description('replace, reboot or quarantine one node, or protect it from repairs')
    .addOption(
      new Option('--action <action>', 'what to do once the node is drained')
        .choices(requestableActions)
        .default('Replace'),
    )
    .option(
      '--overrule <kinds>',
      `breakers to ignore, separated by commas: ${overrulableBlockers.join(', ')}`,
    )
    .option('--hold', 'start no repair of this node until --release', false)
    .option('--release', 'remove the annotation that --hold sets', false)
    .option('--dry-run', 'print the plan and write nothing', false)
    .option('--wait', 'wait until the repair ends', false)
    .option('--timeout <duration>', 'how long to wait', '30m')
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action((words: readonly string[], flags: RepairFlags) =>
      repair(context, connection(), words, flags),
    );
};
