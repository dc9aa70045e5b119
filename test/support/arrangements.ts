// The arrangements in which a story is told: controllers in the world's own process, as a process of
// their own beside it, and as one against a real API server whose cloud the world is. Gives a story
// its stage and takes it away; never a story itself.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ControllerProcess } from './controller-process.ts';
import type { ServedWorld } from './demo-world.ts';
import { beginRealStage, type RealStage } from './real-stage.ts';
import { inWorld, type Judged } from './stories.ts';
import type { FinalFacts } from './story-trace.ts';

export type Arrangement = 'one process' | 'two processes' | 'a real API server';

export interface Stage {
  readonly arrangement: Arrangement;
  readonly world: ServedWorld;
  /** How long a drain may be held up by budgets where a story waits for the end of that time. */
  readonly drainSeconds: number;
  /** Lets time pass: at full speed where one process has all of it, else as it passes. */
  readonly pass: (seconds: number) => Promise<void>;
  /** SIGKILL to the process of the controllers, which is then started again. */
  readonly crash: () => Promise<void>;
  /** SIGKILL likewise, and no controller comes any more. */
  readonly abandon: () => Promise<void>;
}

export interface StageOptions {
  readonly arrangement: Arrangement;
  /** Undefined where no oracle can approve of what the story shows. */
  readonly judged: Judged | undefined;
  readonly seed?: string;
}

/** EKS' own. By the wall clock: budgets hold for 50 s, then 30 s of grace are left. */
const drainSeconds = { inOneProcess: 900, byWallClock: 90 } as const;

const ownProcess = (world: ServedWorld): Stage => ({
  arrangement: 'one process',
  world,
  drainSeconds: drainSeconds.inOneProcess,
  pass: async (seconds) => {
    const ran = await world.drover('world', 'advance', `${seconds}s`);
    if (ran.code !== 0) throw new Error(ran.stderr);
  },
  crash: async () => {
    await world.kill();
    await world.restart();
    if (!world.readyLine.includes('resumed')) throw new Error(`not resumed: ${world.readyLine}`);
  },
  abandon: async () => {
    await world.kill();
    await world.restart(['--no-controller']);
  },
});

const besideController = (
  world: ServedWorld,
  controller: ControllerProcess,
  arrangement: Arrangement,
): Stage => ({
  arrangement,
  world,
  drainSeconds: drainSeconds.byWallClock,
  pass: (seconds) => sleep(seconds * 1000),
  crash: async () => {
    await controller.kill();
    controller.restart();
  },
  abandon: () => controller.kill(),
});

const withController = async (
  world: ServedWorld,
  options: { readonly kubeconfigPath: string; readonly arrangement: Arrangement },
  story: (stage: Stage) => Promise<void>,
): Promise<void> => {
  const controller = await ControllerProcess.start(world, options.kubeconfigPath);
  try {
    await story(besideController(world, controller, options.arrangement));
    controller.assertWell();
  } catch (error) {
    process.stderr.write(`the end of drover controller's log:\n${controller.tail()}\n`);
    throw error;
  } finally {
    await controller.stop();
  }
};

/** Runs one story in a world of its own; returns the end state, by which runs are compared. */
export const inArrangement = (
  { arrangement, judged, seed }: StageOptions,
  story: (stage: Stage) => Promise<void>,
): Promise<FinalFacts | undefined> => {
  const base = ['--demo', '--port', '0', ...(seed === undefined ? [] : ['--seed', seed])];
  const how = judged === undefined ? { unjudged: true } : { judged };
  if (arrangement === 'one process') {
    return inWorld({ args: base, ...how }, (world) => story(ownProcess(world)));
  }
  const args = [...base, '--no-controller'];
  return inWorld({ args, ...how }, async (world) => {
    if (arrangement === 'two processes') {
      const kubeconfigPath = join(world.dataDir, 'controller.kubeconfig');
      await withController(world, { kubeconfigPath, arrangement }, story);
      return;
    }
    let real: RealStage | undefined;
    try {
      real = await beginRealStage(world);
      const { kubeconfigPath } = real;
      await withController(world, { kubeconfigPath, arrangement }, story);
    } finally {
      await real?.end();
    }
  });
};
