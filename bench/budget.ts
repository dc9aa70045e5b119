// One node with ten pods under a budget of one at a time: the delay from a free slot to the next
// eviction request, and the number of refused requests; Drover compared with one kubectl drain.
import { setTimeout as sleep } from 'node:timers/promises';
import { type PodDisruptionBudget, resourceTypes } from '../src/api/kube.ts';
import { missing } from '../test/support/demo-world.ts';
import { drainFigures, isEviction, type Line, readAudit } from './support/audit.ts';
import { startController } from './support/controller.ts';
import { finish, isKubectl } from './support/processes.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';
import { percentile } from './support/stats.ts';
import { onEachTarget, type Target } from './support/targets.ts';
import {
  clear,
  createNamespace,
  isReadyPod,
  namespace,
  podsOf,
  podTemplate,
  until,
} from './support/workload.ts';

const podCount = 10;
const pods = { readyMs: 500, stopMs: 500 } as const;
const auditFlushMs = 300;
const app = 'guarded';

interface Contender {
  readonly who: string;
  readonly role: 'ours' | 'peer';
  readonly isAgent: (agent: string) => boolean;
  readonly drain: (node: string) => Promise<void>;
  readonly afterwards: (node: string) => Promise<void>;
}

const { nodes, poddisruptionbudgets: budgets, replicasets } = resourceTypes;

const cordon = (target: Target, name: string, unschedulable: boolean) =>
  target.api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable } } });

const prepare = async (target: Target, from: string, to: string): Promise<void> => {
  const { api } = target;
  await cordon(target, to, true);
  const template = podTemplate(target, app, { bench: 'true' });
  const selector = { matchLabels: { app } };
  const spec = { replicas: podCount, selector, template };
  await api.create(replicasets, { metadata: { name: app }, spec }, { namespace });
  await until('the pods run on the first node', async () => {
    const ready = (await podsOf(target)).filter(isReadyPod);
    return ready.length === podCount && ready.every((pod) => pod.spec.nodeName === from);
  });
  const budget = { metadata: { name: app }, spec: { maxUnavailable: 1, selector } };
  await api.create(budgets, budget, { namespace });
  await until('the budget has its slot', async () => {
    const found = await api.get<PodDisruptionBudget>(budgets, { namespace, name: app });
    return found.kind === 'found' && found.object.status.disruptionsAllowed === 1;
  });
  await cordon(target, to, false);
};

/** A budget status, written by its controller, that allows an eviction. */
const freesSlot = ({ objectRef, requestObject, responseStatus }: Line): boolean => {
  if (objectRef?.resource !== 'poddisruptionbudgets' || responseStatus?.code !== 200) return false;
  if (objectRef.subresource !== 'status' || objectRef.namespace !== namespace) return false;
  const status = requestObject?.status as { readonly disruptionsAllowed?: number } | undefined;
  return (status?.disruptionsAllowed ?? 0) > 0;
};

/**
 * For each granted eviction after the first: milliseconds since its slot was free, at least 0. A
 * watch can deliver a write before the server stamps its answer, so arrival decides the order.
 */
const slotReactions = (lines: readonly Line[], granted: readonly Line[]): readonly number[] => {
  const frees = lines.filter(freesSlot);
  const inOrder = [...granted].sort((a, b) => a.receivedMs - b.receivedMs);
  return inOrder.slice(1).flatMap((eviction, i) => {
    const after = inOrder[i]?.receivedMs ?? 0;
    const free = frees.find(
      ({ receivedMs }) => receivedMs > after && receivedMs <= eviction.receivedMs,
    );
    return free === undefined ? [] : [Math.max(0, eviction.receivedMs - free.answeredMs)];
  });
};

const measure = async (
  target: Target,
  contender: Contender,
  direction: { readonly from: string; readonly to: string },
  collector: SeriesCollector,
): Promise<void> => {
  await prepare(target, direction.from, direction.to);
  await sleep(auditFlushMs);
  const offset = target.auditText().length;
  await contender.drain(direction.from);
  await until('the node is empty', async () =>
    (await podsOf(target)).every((pod) => pod.spec.nodeName !== direction.from),
  );
  await sleep(auditFlushMs);
  const lines = readAudit(target.auditText(), offset);
  const figures = drainFigures(lines, { isContender: contender.isAgent, namespace });
  const { who, role } = contender;
  const add = (what: string, ...values: readonly number[]): void =>
    collector.add({ what: `${target.name}: ${what}`, who, role }, ...values);
  const granted = lines.filter(
    (line) =>
      contender.isAgent(line.userAgent ?? '') &&
      isEviction(line) &&
      line.stage === 'ResponseComplete' &&
      line.responseStatus?.code === 201,
  );
  add('slot free to next eviction (ms), all slots', ...slotReactions(lines, granted));
  add('first request to last pod gone (s)', figures.seconds);
  add('evictions sent', figures.evictionsSent);
  add('evictions granted', figures.evictionsGranted);
  add('all requests', figures.allRequests);
  await contender.afterwards(direction.from);
  await target.api.delete(budgets, { namespace, name: app });
  await clear(target);
};

const measureOn = async (
  target: Target,
  context: BenchContext,
  collector: SeriesCollector,
): Promise<void> => {
  await createNamespace(target);
  const [first = '', second = ''] = target.nodes;
  const runAll = async (contender: Contender): Promise<void> => {
    for (let i = 1; i <= context.runs; i += 1) {
      context.say(`${target.name}: ${contender.who}, run ${i} of ${context.runs}`);
      await measure(target, contender, { from: first, to: second }, collector);
    }
  };
  const controller = await startController(target, target.compat);
  try {
    await runAll({
      who: 'drover drain',
      role: 'ours',
      isAgent: controller.isAgent,
      drain: (node) => controller.drain([node]),
      afterwards: () => controller.forget(),
    });
  } finally {
    await controller.stop();
  }
  await runAll({
    who: 'kubectl drain',
    role: 'peer',
    isAgent: isKubectl,
    drain: (node) => finish('kubectl', ['drain', node, '--ignore-daemonsets'], target.env),
    afterwards: async () => {},
  });
};

const run = async (context: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const noKubectl = await missing('kubectl', ['version', '--client']);
  if (noKubectl !== undefined) return { series: [], notRun: [noKubectl], notes: [] };
  const { notRun, failures } = await onEachTarget(
    { nodes: 2, pods, scheduler: true, bodies: true },
    (target) => measureOn(target, context, collector),
  );
  const series = collector.all();
  const tails = series
    .filter(({ what }) => what.includes('slot free'))
    .map(({ what, who, values }) => {
      const target = what.slice(0, what.indexOf(':'));
      const [p50, p99] = [percentile(values, 0.5), percentile(values, 0.99)];
      return `${target}, ${who}: slot free to next eviction p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, n ${values.length}`;
    });
  const notes = [
    ...tails,
    `${podCount} pods, maxUnavailable 1, Ready after ${pods.readyMs} ms, stopped after ` +
      `${pods.stopMs} ms; the clock is the audit log, a slot is free at the budget's status`,
  ];
  return { series, notRun, failures, notes };
};

export const budget: Bench = {
  name: 'budget',
  summary: `one slot for ${podCount} pods: slot free to next eviction, beside kubectl drain`,
  defaultRuns: 2,
  run,
};
