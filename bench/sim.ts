// How fast virtual time runs: seeded lives of a cluster with controllers, faults and oracles, the
// demo cluster left alone for hours, a node group that grows from nothing, and the bare kernel. One
// thread.
import type { JsonObject } from '../src/api/json.ts';
import { seedDemo } from '../src/main/demo.ts';
import { createWorld } from '../world/index.ts';
import { Kernel, microsPerSecond } from '../world/kernel/index.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

const livesPerRun = 20;
const demoHours = 24;
/** A node group with its controllers, from none to so many Ready nodes. */
const grownTo = [1000, 5000];
const growsWithinSeconds = 7200;
const kernelEvents = 500_000;
/** Events that wait at any time, as in a cluster of some hundred nodes. */
const kernelWaiting = 2000;

/** As in src/main/sim.ts: ticks run once the queue of microtasks is empty. */
const settle = async (): Promise<void> => {
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
};

/** Drawn = as `npm run sim` lives them. */
const sizes = [
  { name: 'size drawn', size: {} },
  { name: 'up to 20 nodes, 15 min of faults', size: { maxNodes: 20, chaosSeconds: 900 } },
] as const;

const secondsOf = async (work: () => Promise<unknown> | unknown): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
};

const lives = async (context: BenchContext, collector: SeriesCollector): Promise<void> => {
  const { runLife } = await import('../src/sim/lives/life.ts');
  const role = 'ours';
  for (let run = 0; run < context.runs; run += 1) {
    for (const { name, size } of sizes) {
      context.say(`lives (${name}), run ${run + 1} of ${context.runs}`);
      const who = `src/sim/lives/life.ts, ${name}`;
      let steps = 0;
      let worldSeconds = 0;
      let violations = 0;
      const seconds = await secondsOf(async () => {
        for (let i = 1; i <= livesPerRun; i += 1) {
          const life = await runLife({ seed: run * livesPerRun + i, settle, ...size });
          steps += life.steps;
          worldSeconds += life.worldSeconds;
          violations += life.violations.length;
        }
      });
      collector.add({ what: 'seeded lives per second', who, role }, livesPerRun / seconds);
      collector.add({ what: 'lives: events per second', who, role }, steps / seconds);
      collector.add({ what: 'lives: world time / wall time', who, role }, worldSeconds / seconds);
      collector.add({ what: 'lives: violations', who, role }, violations);
    }
  }
};

const demo = (collector: SeriesCollector): Promise<void> =>
  secondsOf(() => {
    const startAt = 1_664_110_800 * microsPerSecond;
    const world = createWorld({ seed: 1, startAt });
    seedDemo(world);
    const { kernel } = world;
    const end = startAt + demoHours * 3600 * microsPerSecond;
    const startedAt = performance.now();
    while ((kernel.nextAt() ?? end) < end) kernel.step();
    const seconds = (performance.now() - startedAt) / 1000;
    const head = { who: 'demo cluster, no controllers of ours', role: 'ours' } as const;
    collector.add({ what: 'demo: events per second', ...head }, kernel.steps / seconds);
    const speed = (demoHours * 3600) / seconds;
    collector.add({ what: 'demo: world time / wall time', ...head }, speed);
  }).then(() => {});

const growth = async (collector: SeriesCollector): Promise<void> => {
  const { GroupLife } = await import('../test/support/nodegroup-world.ts');
  for (const nodes of grownTo) {
    const life = await GroupLife.begin();
    await life.create({ scalingConfig: { minSize: 0, maxSize: nodes, desiredSize: 0 } });
    await life.driver.advance(60);
    const { kernel } = life.world;
    const begunAt = kernel.now();
    const seconds = await secondsOf(async () => {
      life.patch({ spec: { scaling: { desired: nodes } } });
      const isGrown = (): boolean => (life.group()?.status?.ready ?? 0) >= nodes;
      await life.until(`${nodes} nodes`, isGrown, growsWithinSeconds);
    });
    const head = {
      who: `node group, 0 to ${nodes} nodes, with controllers`,
      role: 'ours',
    } as const;
    collector.add({ what: 'growth: wall time (s)', ...head }, seconds);
    const worldSeconds = (kernel.now() - begunAt) / microsPerSecond;
    collector.add({ what: 'growth: world time (s)', ...head }, worldSeconds);
    await life.end();
  }
};

const kernelOnly = async (collector: SeriesCollector): Promise<void> => {
  const kernel = new Kernel({ seed: 1, startAt: 0 });
  const random = kernel.random('bench');
  const again = (args: JsonObject): void => {
    const afterMicros = 1 + random.below(microsPerSecond);
    kernel.schedule({ afterMicros, actor: 'bench', kind: 'tick', args });
  };
  kernel.register({ name: 'bench', handle: ({ args }) => again(args) });
  for (let i = 0; i < kernelWaiting; i += 1) again({ i });
  const seconds = await secondsOf(() => {
    for (let i = 0; i < kernelEvents; i += 1) kernel.step();
  });
  const what = `kernel: durable events per second, ${kernelWaiting} waiting`;
  collector.add({ what, who: 'world/kernel', role: 'ours' }, kernelEvents / seconds);
};

const run = async (context: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const notRun: string[] = [];
  try {
    await lives(context, collector);
  } catch (error) {
    notRun.push(`seeded lives: ${error instanceof Error ? error.message : error}`);
  }
  context.say('growth of a node group, once');
  try {
    await growth(collector);
  } catch (error) {
    notRun.push(`growth: ${error instanceof Error ? error.message : error}`);
  }
  for (let i = 1; i <= context.runs; i += 1) {
    context.say(`demo and kernel, run ${i} of ${context.runs}`);
    await demo(collector);
    await kernelOnly(collector);
  }
  notRun.push('peer: KWOK runs in wall clock only, and is not looked for here');
  const notes = [
    `${livesPerRun} lives a run, each its own seed; ${demoHours} h of the demo cluster; one thread`,
  ];
  return { series: collector.all(), notRun, notes };
};

export const sim: Bench = {
  name: 'sim',
  summary: 'virtual time: seeded lives per second, events per second',
  defaultRuns: 5,
  run,
};
