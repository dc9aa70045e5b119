// Ten nodes with thirty pods each, drained by one kubectl, by ten in parallel and by Drover, on the
// served world and on a real API server. Times come from the audit log.
import { setTimeout as sleep } from 'node:timers/promises';
import { missing } from '../test/support/demo-world.ts';
import { drainFigures, readAudit, requestsByKind } from './support/audit.ts';
import { startController } from './support/controller.ts';
import { finish, isKubectl } from './support/processes.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';
import { onEachTarget, type Target } from './support/targets.ts';
import { clear, createNamespace, fill, namespace, podsOf, until } from './support/workload.ts';

const nodeCount = 10;
const podsPerNode = 30;
const pods = { readyMs: 0, stopMs: 1000 } as const;
/** Longest flush interval of an audit log's writer. */
const auditFlushMs = 300;

interface Contender {
  readonly who: string;
  readonly role: 'ours' | 'peer';
  readonly runs: (asked: number) => number;
  readonly isAgent: (agent: string) => boolean;
  /** User agents of the command that requests a drain, where a controller performs it. */
  readonly isCommand?: (agent: string) => boolean;
  readonly drain: (target: Target) => Promise<void>;
  readonly afterwards: (
    target: Target,
    add: (what: string, value: number) => void,
  ) => Promise<void>;
}

const kubectlDrain = (target: Target, nodes: readonly string[]): Promise<void> =>
  finish('kubectl', ['drain', ...nodes, '--ignore-daemonsets'], target.env);

const kubectls: readonly Contender[] = [
  {
    who: 'one kubectl drain',
    role: 'peer',
    // 70 s each: one run suffices.
    runs: () => 1,
    isAgent: isKubectl,
    drain: (target) => kubectlDrain(target, target.nodes),
    afterwards: async () => {},
  },
  {
    who: 'ten kubectl drain at once',
    role: 'peer',
    runs: (asked) => asked,
    isAgent: isKubectl,
    drain: async (target) => {
      await Promise.all(target.nodes.map((node) => kubectlDrain(target, [node])));
    },
    afterwards: async () => {},
  },
];

const drainedNodesAreEmpty = (target: Target): Promise<void> =>
  until('the drained nodes are empty', async () => {
    const left = await podsOf(target);
    return left.every(({ spec }) => spec.nodeName === undefined);
  });

const measure = async (
  target: Target,
  contender: Contender,
  collector: SeriesCollector,
): Promise<void> => {
  await fill(target, podsPerNode);
  await sleep(auditFlushMs);
  const offset = target.auditText().length;
  const startedAt = Date.now();
  await contender.drain(target);
  const commandSeconds = (Date.now() - startedAt) / 1000;
  await drainedNodesAreEmpty(target);
  await sleep(auditFlushMs);
  const lines = readAudit(target.auditText(), offset);
  const { isAgent, isCommand = () => false } = contender;
  const figures = drainFigures(lines, { isContender: isAgent, namespace });
  const alone = requestsByKind(lines, (agent) => isAgent(agent) && !isCommand(agent));
  const command = requestsByKind(lines, isCommand);
  const { who, role } = contender;
  const add = (what: string, value: number): void =>
    collector.add({ what: `${target.name}: ${what}`, who, role }, value);
  add('first request to last pod gone (s)', figures.seconds);
  add('command started to last pod gone (s)', (figures.lastGoneMs - startedAt) / 1000);
  add('command started to its end (s)', commandSeconds);
  add('evictions sent', figures.evictionsSent);
  add('requests on pods and nodes, per node', figures.podAndNodeRequests / nodeCount);
  if (contender.isCommand !== undefined) {
    const what = 'requests on pods and nodes, per node';
    add(`${what}: the controller alone`, alone.podsAndNodes / nodeCount);
    add(`${what}: the command alone`, command.podsAndNodes / nodeCount);
    add('other requests of the controller, per node', alone.other / nodeCount);
  }
  add('journal writes, per node', figures.journalWrites / nodeCount);
  add('all requests', figures.allRequests);
  await contender.afterwards(target, add);
  await clear(target);
};

const measureOn = async (
  target: Target,
  context: BenchContext,
  collector: SeriesCollector,
): Promise<void> => {
  await createNamespace(target);
  const runAll = async (contender: Contender): Promise<void> => {
    const runs = contender.runs(context.runs);
    for (let i = 1; i <= runs; i += 1) {
      context.say(`${target.name}: ${contender.who}, run ${i} of ${runs}`);
      await measure(target, contender, collector);
    }
  };
  const controller = await startController(target, target.compat);
  try {
    await runAll({
      who: 'drover drain',
      role: 'ours',
      runs: (asked) => asked,
      isAgent: controller.isAgent,
      isCommand: controller.isCommand,
      drain: () => controller.drain(target.nodes),
      afterwards: async (_target, add) => {
        const rss = controller.rssMiB();
        if (rss !== undefined) add('memory of drover controller (MiB)', rss);
        await controller.forget();
      },
    });
  } finally {
    await controller.stop();
  }
  for (const contender of kubectls) await runAll(contender);
};

const run = async (context: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const noKubectl = await missing('kubectl', ['version', '--client']);
  if (noKubectl !== undefined) return { series: [], notRun: [noKubectl], notes: [] };
  const { notRun, failures } = await onEachTarget(
    { nodes: nodeCount, pods, scheduler: false, bodies: false },
    (target) => measureOn(target, context, collector),
  );
  const notes = [
    `${nodeCount} nodes x ${podsPerNode} pods that take ${pods.stopMs} ms to stop; replacements ` +
      'stay Pending; no budgets',
    'the clock is the audit log: first mark or eviction asked for until the last pod is removed; ' +
      'the second figure counts from the start of the command instead, the third until it says so ' +
      '(ours looks once more 5 s after the marks, for pods that the scheduler was still binding)',
    'in the served world the audit log has world time, which lags behind when the process is busy',
  ];
  return { series: collector.all(), notRun, failures, notes };
};

export const drain: Bench = {
  name: 'drain',
  summary: `${nodeCount} nodes x ${podsPerNode} pods, ours beside one and ten kubectl drain`,
  defaultRuns: 3,
  run,
};
