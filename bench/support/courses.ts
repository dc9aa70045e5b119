// Variants of an update beside a strategy's plain course: with hooks, in waves with pauses,
// blue/green with a soak. Drawn per cluster, separately for plan and outcome. Judges nothing.
import type { JsonObject } from '../../src/api/json.ts';
import type { UpdateStrategy } from '../../src/api/nodegroup-update.ts';
import { type HookKind, type HookTime, hookKinds } from '../../src/api/update-hooks.ts';
import type { Random } from '../../src/ports/index.ts';
import { appNamespace, type WorkloadObject } from '../../src/sim/rollout/workload.ts';

export const courseNames = [
  'hooks',
  'hooks-new',
  'waves',
  'blue-green',
  'blue-green-hooks',
] as const;
export type CourseName = (typeof courseNames)[number];

/** A strategy's plain course has the strategy's name. */
export interface Course {
  readonly name: string;
  readonly strategy: UpdateStrategy;
  readonly updateConfig?: JsonObject;
  /**
   * Additional objects in the cluster; in the outcome each hook takes up to `share` more or less
   * time.
   */
  readonly objects?: readonly WorkloadObject[];
  readonly objectsVaried?: readonly WorkloadObject[];
  /** Times that earlier updates of the group would have recorded. */
  readonly hookTimes?: readonly HookTime[];
}

export const plainCourse = (strategy: UpdateStrategy): Course => ({ name: strategy, strategy });

const between = (random: Random, low: number, high: number): number =>
  low + random.below(high - low + 1);

/** Number of earlier updates with recorded times. */
const earlierRuns = 8;

const cronJobOf = (kind: HookKind, seconds: number): WorkloadObject => ({
  resource: { group: 'batch', resource: 'cronjobs' },
  object: {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: kind.toLowerCase(), namespace: appNamespace },
    spec: {
      schedule: '0 0 1 1 *',
      suspend: true,
      jobTemplate: {
        spec: {
          ttlSecondsAfterFinished: 5,
          template: {
            metadata: { annotations: { 'world.drover.dev/run-seconds': String(seconds) } },
            spec: {
              hostNetwork: true,
              restartPolicy: 'Never',
              containers: [{ name: 'work', image: 'work:1' }],
            },
          },
        },
      },
    },
  },
});

const hooksOf = (random: Random, share: number) => {
  const drawn = hookKinds.filter(() => random.next() < 0.5);
  const kinds = drawn.length > 0 ? drawn : (['preDrain'] as const);
  const works = kinds.map((kind) => ({ kind, seconds: between(random, 10, 180) }));
  const vary = (seconds: number): number => seconds * (1 + share * (2 * random.next() - 1));
  const hooks = Object.fromEntries(
    kinds.map((kind) => [
      kind,
      { job: { namespace: appNamespace, cronJob: kind.toLowerCase() }, timeoutSeconds: 600 },
    ]),
  );
  const hookTimes = works.flatMap(({ kind, seconds }) =>
    Array.from({ length: earlierRuns }, () => ({ hook: kind, seconds })),
  );
  return {
    hooks,
    hookTimes,
    objects: works.map(({ kind, seconds }) => cronJobOf(kind, seconds)),
    objectsVaried: works.map(({ kind, seconds }) => cronJobOf(kind, vary(seconds))),
  };
};

const withHooks = (random: Random, share: number): Required<Course> => {
  const { hooks, ...more } = hooksOf(random, share);
  const updateConfig = { updateStrategy: 'SURGE', hooks };
  return { name: 'hooks', strategy: 'SURGE', updateConfig, ...more };
};

const inWaves = (random: Random): Course => {
  const percents = [between(random, 5, 30), between(random, 31, 70), 100];
  const waves = percents
    .slice(0, between(random, 1, 3))
    .map((percent) => ({ percent, soakSeconds: 30 * between(random, 0, 20) }));
  return { name: 'waves', strategy: 'SURGE', updateConfig: { updateStrategy: 'SURGE', waves } };
};

const soakOf = (random: Random): JsonObject => {
  const batchSoakSeconds = random.next() < 0.5 ? 0 : 30 * between(random, 1, 6);
  return { soakSeconds: 60 * between(random, 0, 60), batchSoakSeconds };
};

const blueGreen = (random: Random): Course => {
  const updateConfig = { updateStrategy: 'BLUE_GREEN', blueGreen: soakOf(random) };
  return { name: 'blue-green', strategy: 'BLUE_GREEN', updateConfig };
};

const blueGreenHooks = (random: Random, share: number): Course => {
  const { hooks, ...more } = hooksOf(random, share);
  const updateConfig = { updateStrategy: 'BLUE_GREEN', blueGreen: soakOf(random), hooks };
  return { name: 'blue-green-hooks', strategy: 'BLUE_GREEN', updateConfig, ...more };
};

export const drawCourse = (name: CourseName, random: Random, share: number): Course => {
  switch (name) {
    case 'hooks':
      return withHooks(random, share);
    case 'hooks-new':
      // The group's first update, without recorded times.
      return { ...withHooks(random, share), name, hookTimes: [] };
    case 'waves':
      return inWaves(random);
    case 'blue-green':
      return blueGreen(random);
    case 'blue-green-hooks':
      return blueGreenHooks(random, share);
  }
};

/** `DROVER_BENCH_COURSES=hooks,waves`; unset: the plain ones. */
export const askedCourses = (text = process.env.DROVER_BENCH_COURSES): readonly CourseName[] => {
  const names = (text ?? '').split(',').filter((name) => name !== '');
  return names.map((name) => {
    const known = courseNames.find((one) => one === name);
    if (known !== undefined) return known;
    throw new Error(`DROVER_BENCH_COURSES: ${name} is none of ${courseNames.join(', ')}`);
  });
};
