// The environments in which a story runs: controllers in the world's own process, as a separate
// process beside it, and against a real API server whose cloud is the world. Creates and removes a
// story's environment; contains no story.

import { join } from 'node:path';
import { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../src/api/json.ts';
import { ControllerProcess } from './controller-process.ts';
import type { ServedWorld } from './demo-world.ts';
import { beginRealStage, type RealStage } from './real-stage.ts';
import { inWorld, type Judged, type SuiteWorld, suiteWorld } from './stories.ts';
import type { FinalFacts } from './story-trace.ts';

export type Arrangement = 'one process' | 'two processes' | 'a real API server';

export interface Stage {
  readonly arrangement: Arrangement;
  readonly world: ServedWorld;
  /** Applies the story's objects to the cluster. They are removed afterwards. */
  readonly make: (objects: readonly JsonObject[]) => Promise<void>;
  /** How long budgets may block a drain, in stories that wait for that time. */
  readonly drainSeconds: number;
  /** Lets time pass: at full speed if one process controls all of it, else in real time. */
  readonly pass: (seconds: number) => Promise<void>;
  /** Kills the controllers' process with SIGKILL and restarts it. */
  readonly crash: () => Promise<void>;
  /** Kills it with SIGKILL, without a restart. */
  readonly abandon: () => Promise<void>;
}

export interface StageOptions {
  readonly arrangement: Arrangement;
  /** Undefined when no oracle can check the story. */
  readonly judged: Judged | undefined;
  readonly seed?: string;
}

/**
 * 900 is EKS' default. Of the 90 s by the wall clock, budgets block for 50 s and pods have 30 s of
 * grace.
 */
const drainSeconds = { inOneProcess: 900, byWallClock: 90 } as const;

const applyIn =
  (world: ServedWorld): Stage['make'] =>
  async (objects) => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    const ran = await world.kubectlInput(list, 'apply', '-f', '-');
    if (ran.code !== 0) throw new Error(ran.stderr);
  };

const ownProcess = (world: ServedWorld): Stage => ({
  arrangement: 'one process',
  world,
  make: applyIn(world),
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
  { controller, make }: Beside,
  arrangement: Arrangement,
): Stage => ({
  arrangement,
  world,
  make,
  drainSeconds: drainSeconds.byWallClock,
  pass: (seconds) => sleep(seconds * 1000),
  crash: async () => {
    await controller.kill();
    controller.restart();
  },
  abandon: () => controller.kill(),
});

interface Beside {
  readonly controller: ControllerProcess;
  readonly make: Stage['make'];
  readonly end: () => Promise<void>;
}

/** A controller beside the world, on the world's API server or on a real one. */
const begin = async (world: ServedWorld, arrangement: Arrangement): Promise<Beside> => {
  let real: RealStage | undefined;
  try {
    if (arrangement === 'a real API server') real = await beginRealStage(world);
    const own = join(world.dataDir, 'controller.kubeconfig');
    const controller = await ControllerProcess.start(world, real?.kubeconfigPath ?? own);
    const end = async (): Promise<void> => {
      await controller.stop();
      await real?.end();
    };
    return { controller, make: real?.make ?? applyIn(world), end };
  } catch (error) {
    await real?.end();
    throw error;
  }
};

const withController = async (
  world: ServedWorld,
  arrangement: Arrangement,
  story: (stage: Stage) => Promise<void>,
): Promise<void> => {
  const beside = await begin(world, arrangement);
  const { controller, end } = beside;
  try {
    await story(besideController(world, beside, arrangement));
    controller.assertWell();
  } catch (error) {
    process.stderr.write(`the end of drover controller's log:\n${controller.tail()}\n`);
    throw error;
  } finally {
    await end();
  }
};

const argsOf = ({ arrangement, seed }: StageOptions): readonly string[] => [
  ...['--demo', '--port', '0'],
  ...(seed === undefined ? [] : ['--seed', seed]),
  ...(arrangement === 'one process' ? [] : ['--no-controller']),
];

/** Runs one story in a world of its own; returns the final state, for comparing runs. */
export const inArrangement = (
  options: StageOptions,
  story: (stage: Stage) => Promise<void>,
): Promise<FinalFacts | undefined> => {
  const { arrangement, judged } = options;
  const how = judged === undefined ? { unjudged: true } : { judged };
  return inWorld({ args: argsOf(options), ...how }, (world) =>
    arrangement === 'one process'
      ? story(ownProcess(world))
      : withController(world, arrangement, story),
  );
};

/** Like `suiteWorld`: call inside `describe`, before its own `before`. */
export const suiteOn = (options: StageOptions & { readonly judged: Judged }): SuiteWorld => {
  let beside: Beside | undefined;
  let trouble: unknown;
  // Runs before the world is stopped and checked, which a failing hook would prevent.
  after(async () => {
    try {
      beside?.controller.assertWell();
    } catch (error) {
      trouble = error;
    }
    await beside?.end();
  });
  const suite = suiteWorld({ args: argsOf(options), judged: options.judged });
  if (options.arrangement !== 'one process') {
    before(async () => {
      beside = await begin(suite.world, options.arrangement);
    });
  }
  after(() => {
    if (trouble !== undefined) throw trouble;
  });
  return suite;
};
