// drover undrain: withdraws manual drains and rebalance recommendations, and waits until Drover has
// removed its labels, taints and cordon. It refuses if another cause (a hook, an interruption)
// keeps the node out of service.
import type { Command } from 'commander';
import { formatTime } from '../../api/brand.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { disruptionNameOf } from '../../core/overview/index.ts';
import { withdrawWrite } from '../../core/termination/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { readDisruption, writeCauses } from '../drain/record.ts';
import { undrainDecision, undrainState } from '../drain/state.ts';
import { pollMs, unclaimedAfterMs } from '../drain/wait.ts';
import { patienceMs } from '../duration.ts';
import { resolveNodes } from '../nodes.ts';
import { nameCluster } from '../where.ts';

interface UndrainFlags {
  readonly selector?: string;
  readonly timeout: string;
  readonly wait: boolean;
}

/** Refuses before anything is written, so that not just some of the nodes are undrained. */
const checkAll = async (kube: KubeApi, nodes: readonly Node[]): Promise<void> => {
  const refused: string[] = [];
  for (const node of nodes) {
    const decided = undrainDecision(await readDisruption(kube, disruptionNameOf(node)));
    if (decided.kind !== 'refused') continue;
    const held = decided.causes
      .map(({ kind, reason }) => (reason === undefined ? kind : `${kind} (${reason})`))
      .join(', ');
    refused.push(`  ${node.metadata.name} is held by ${held}`);
  }
  if (refused.length === 0) return;
  throw new CommandError(
    exitCodes.refused,
    `not withdrawn:\n${refused.join('\n')}\nOnly drains by hand and rebalance ` +
      'recommendations can ' +
      'be withdrawn; `drover explain NODE` says what ends the others, and when',
  );
};

const withdraw = async (context: CliContext, kube: KubeApi, node: Node, at: string) => {
  const name = disruptionNameOf(node);
  const { name: nodeName } = node.metadata;
  const decided = undrainDecision(await readDisruption(kube, name));
  if (decided.kind === 'nothing') {
    context.out(`${nodeName}: drover holds nothing on it`);
    return undefined;
  }
  await writeCauses(kube, name, (existing) =>
    existing === undefined ? { kind: 'recorded' } : withdrawWrite(existing, at),
  );
  context.out(`${nodeName}: drain withdrawn (NodeDisruption ${name})`);
  return { name, nodeName };
};

/** Evicted pods do not return; reports a cordon that remains. */
const tellUndone = async (context: CliContext, kube: KubeApi, nodeName: string) => {
  const found = await kube.get<Node>(resourceTypes.nodes, { name: nodeName });
  const cordoned = found.kind === 'found' && found.object.spec.unschedulable === true;
  context.out(
    cordoned
      ? `${nodeName}: Drover's labels and taints are removed; it stays cordoned, as it was before the drain ` +
          `(\`kubectl uncordon ${nodeName}\`)`
      : `${nodeName}: Drover's labels and taints are removed, it takes pods again`,
  );
};

interface Open {
  readonly name: string;
  readonly nodeName: string;
}

const waitUntilUndone = async (
  context: CliContext,
  kube: KubeApi,
  all: readonly Open[],
  withinMs: number | undefined,
): Promise<void> => {
  const { clock, signal } = context;
  const startedAt = clock.now();
  let open = all;
  let warned = false;
  for (;;) {
    const left: Open[] = [];
    let idle = false;
    for (const one of open) {
      const state = undrainState(await readDisruption(kube, one.name));
      if (state.kind === 'undone') await tellUndone(context, kube, one.nodeName);
      else left.push(one);
      if (state.kind === 'unclaimed') idle = true;
    }
    open = left;
    if (open.length === 0) return;
    const names = open.map(({ nodeName }) => nodeName).join(' ');
    const waited = clock.now() - startedAt;
    if (withinMs !== undefined && waited >= withinMs) {
      throw new CommandError(
        exitCodes.timedOut,
        `withdrawn, but the marks on ${names} are not gone yet: is a controller running? ` +
          '(`drover controller`, or `drover up` without --no-controller)',
      );
    }
    if (idle && !warned && waited >= unclaimedAfterMs) {
      warned = true;
      context.out(`no controller has acted on ${names} yet: start \`drover controller\``);
    }
    await clock.sleep(pollMs, signal).catch(() => undefined);
    if (signal.aborted) {
      throw new CommandError(
        exitCodes.interrupted,
        `stopped watching; the cancellation of ${names} is recorded and continues`,
      );
    }
  }
};

const undrain = async (
  context: CliContext,
  connection: Connection,
  names: readonly string[],
  flags: UndrainFlags,
): Promise<void> => {
  const withinMs = patienceMs(flags.timeout);
  const kube = await context.kube(connection);
  const nodes = await resolveNodes(kube, { names, selector: flags.selector });
  await checkAll(kube, nodes);
  const at = formatTime((await context.cluster(connection)).now);
  await nameCluster(context, connection, 'undraining in');
  const open: Open[] = [];
  for (const node of nodes) {
    const one = await withdraw(context, kube, node, at);
    if (one !== undefined) open.push(one);
  }
  if (flags.wait) await waitUntilUndone(context, kube, open, withinMs);
};

export const addUndrainCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('undrain [node...]')
    .description('cancel manual drains and rebalance recommendations, and uncordon the nodes')
    .option('-l, --selector <labels>', 'select nodes by label, as in kubectl')
    .option(
      '--timeout <duration>',
      'how long to wait until the nodes are back in service; 0s means no limit',
      '60s',
    )
    .option('--no-wait', 'return once the cancellation is recorded')
    .addHelpText(
      'after',
      `
A cordon or label that existed before the drain stays. Evicted pods do not return to the node.
Nodes whose instance Auto Scaling or EC2 terminates are refused.

Examples:
  drover undrain NODE
  drover undrain -l eks.amazonaws.com/nodegroup=demo-ng

Exit codes: 0 in service, 1 failed, 2 usage, 3 refused (another cause keeps a node out of service),
4 timed out, 130 interrupted (the cancellation continues).`,
    )
    .action((names: readonly string[], flags: UndrainFlags) =>
      undrain(context, connection(), names, flags),
    );
};
