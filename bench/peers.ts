// Gives every contender the same notices: an Auto Scaling group terminates ten machines. Drover,
// aws-node-termination-handler in queue mode, one `kubectl drain` and ten at once empty them before
// the lifecycle hook ends. All use one real API server, whose audit log is the clock.
import { setTimeout as sleep } from 'node:timers/promises';
import { resourceTypes } from '../src/api/kube.ts';
import { missing } from '../test/support/demo-world.ts';
import {
  startTerminationHandler,
  whyNoTerminationHandler,
} from '../test/support/node-termination-handler.ts';
import { type NoticeFigures, noticeFigures, readAudit } from './support/audit.ts';
import { Balancer, type Traffic } from './support/balancer.ts';
import { startController } from './support/controller.ts';
import { finish, isKubectl } from './support/processes.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';
import { figure } from './support/stats.ts';
import { hookName, noticeSeconds, TerminationStage } from './support/termination-stage.ts';
import { namespace, until } from './support/workload.ts';

const machineCount = 10;
const podsPerNode = 12;
const auditFlushMs = 300;
/** The hooks end earlier than this: machines are then terminated with the pods that are left. */
const emptyWithinMs = (noticeSeconds + 60) * 1000;
/** After the last pod is gone, the load balancer may still send requests to stale targets. */
const aftermathMs = 10_000;

/** A contender that is ready to receive the notices. */
interface Ready {
  readonly isAgent: (agent: string) => boolean;
  /** What an operator does on the notices; nothing when a process reads them. */
  readonly act?: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Contender {
  readonly who: string;
  readonly role: 'ours' | 'peer';
  readonly begin: (stage: TerminationStage) => Promise<Ready>;
}

const nodeGroup = {
  metadata: { name: 'bench' },
  spec: { autoScalingGroupName: 'bench' },
};

const drover: Contender = {
  who: 'drover controller',
  role: 'ours',
  begin: async (stage) => {
    const more = ['--cloud', 'aws', '--queue-url', stage.queueUrl('bench-drover')];
    const controller = await startController(stage, 'native', more);
    const { nodegroups } = resourceTypes;
    const found = await stage.api.get(nodegroups, nodeGroup.metadata);
    if (found.kind === 'gone') await stage.api.create(nodegroups, nodeGroup);
    await until('the group is adopted', async () => {
      const group = await stage.api.get(nodegroups, nodeGroup.metadata);
      return group.kind === 'found' && JSON.stringify(group.object).includes('"type":"Ready"');
    });
    return { isAgent: controller.isAgent, stop: controller.stop };
  },
};

const terminationHandler = (who: string, args: readonly string[]): Contender => ({
  who,
  role: 'peer',
  begin: (stage) => {
    const { env, directory } = stage;
    return startTerminationHandler({
      env,
      directory,
      queueUrl: stage.queueUrl('bench-other'),
      args,
    });
  },
});

/** An operator drains by hand, and ends the hook of each node that is empty. */
const kubectl = (who: string, atOnce: boolean): Contender => ({
  who,
  role: 'peer',
  begin: async (stage) => {
    const drain = async (names: readonly string[]): Promise<void> => {
      await finish('kubectl', ['drain', ...names, '--ignore-daemonsets'], stage.env);
      await Promise.all(
        stage.machines
          .filter(({ name }) => names.includes(name))
          // Too late: the hook has ended and the machine is terminated.
          .map((machine) => stage.completeHook(machine).catch(() => undefined)),
      );
    };
    const names = stage.machines.map(({ name }) => name);
    const act = async (): Promise<void> => {
      // The command fails if a node is deleted with its terminated machine.
      if (!atOnce) await drain(names).catch(() => undefined);
      else await Promise.all(names.map((name) => drain([name]).catch(() => undefined)));
    };
    return { isAgent: isKubectl, act, stop: async () => {} };
  },
});

const add = (
  collector: SeriesCollector,
  { who, role }: Contender,
  result: { readonly figures: NoticeFigures; readonly traffic: Traffic; readonly lost: number },
): string => {
  const { figures, traffic, lost } = result;
  const rows: Readonly<Record<string, number>> = {
    'notice to first eviction (s)': figures.firstEvictionSeconds,
    'notice to last pod gone (s)': figures.seconds,
    'evictions granted': figures.evictionsGranted,
    'evictions refused': figures.evictionsRefused,
    'requests on pods and nodes': figures.podAndNodeRequests,
    'all requests': figures.allRequests,
    'pods lost': lost,
    'requests through the load balancer': traffic.requests,
    'of these failed': traffic.failed,
  };
  for (const [what, value] of Object.entries(rows)) collector.add({ what, who, role }, value);
  return Object.entries(rows)
    .map(([what, value]) => `${what} ${figure(value)}`)
    .join(', ');
};

const measure = async (
  stage: TerminationStage,
  contender: Contender,
  collector: SeriesCollector,
  say: BenchContext['say'],
): Promise<void> => {
  await stage.fill(podsPerNode);
  const ready = await contender.begin(stage);
  try {
    await sleep(auditFlushMs);
    const offset = stage.auditText().length;
    const balancer = await Balancer.start(stage.api, namespace);
    const startedAt = Date.now();
    await stage.terminateAll();
    const acting = ready.act?.();
    const isEmpty = async (): Promise<boolean> => (await stage.podsOnMachines()).length === 0;
    await until('the machines are empty', isEmpty, emptyWithinMs);
    await acting;
    await sleep(aftermathMs);
    const traffic = await balancer.stop();
    await until('the machines have ended', () => stage.allEnded());
    await sleep(auditFlushMs);
    const lines = readAudit(stage.auditText(), offset);
    const figures = noticeFigures(lines, { isContender: ready.isAgent, namespace, startedAt });
    say(add(collector, contender, { figures, traffic, lost: stage.lostPods }));
  } finally {
    await ready.stop();
  }
  await stage.clear();
};

const contendersOf = async (): Promise<{
  readonly contenders: readonly Contender[];
  readonly notRun: readonly string[];
}> => {
  const noHandler = await whyNoTerminationHandler();
  const handlers = [
    terminationHandler('NTH 1.25.6', []),
    terminationHandler('NTH, excluding', ['--exclude-from-load-balancers']),
  ];
  return {
    contenders: [
      drover,
      ...(noHandler === undefined ? handlers : []),
      kubectl('one kubectl drain', false),
      kubectl('ten kubectl drain', true),
    ],
    notRun: noHandler === undefined ? [] : [`aws-node-termination-handler: ${noHandler}`],
  };
};

const run = async (context: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const noKubectl = await missing('kubectl', ['version', '--client']);
  if (noKubectl !== undefined) return { series: [], notRun: [noKubectl], notes: [] };
  const { contenders, notRun } = await contendersOf();
  const stage = await TerminationStage.start(machineCount);
  if ('unavailable' in stage) return { series: [], notRun: [stage.unavailable], notes: [] };
  const failures: string[] = [];
  try {
    await stage.api.create(resourceTypes.namespaces, { metadata: { name: namespace } });
    for (const contender of contenders) {
      for (let i = 1; i <= context.runs; i += 1) {
        context.say(`${contender.who}, run ${i} of ${context.runs}`);
        await measure(stage, contender, collector, context.say);
      }
    }
  } catch (error) {
    failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await stage.stop();
  }
  const pods = machineCount * podsPerNode;
  const notes = [
    `${machineCount} of ${machineCount * 2} nodes are terminated at once, ${pods} pods on them, ` +
      `1 s to stop, 1 s to be Ready, a budget of a tenth; ${hookName} ends after ${noticeSeconds} s`,
    'a pod is lost when its machine ends before it is gone',
    'the load balancer is a model, 100 requests a second: policy Local, 5 s from exclusion to ' +
      'the last new connection, health checks each 10 s, two to change (bench/support/balancer.ts)',
    'NTH runs with its defaults, and once with --exclude-from-load-balancers',
  ];
  return { series: collector.all(), notRun, failures, notes };
};

export const peers: Bench = {
  name: 'peers',
  summary: `${machineCount} machines are terminated: ours beside NTH, one and ten kubectl drain`,
  defaultRuns: 1,
  run,
};
