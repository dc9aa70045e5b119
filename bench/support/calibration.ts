// Compares a plan for a generated cluster with an outcome on another one of the same kind: the plan
// has only a snapshot; the outcome has another seed and pods that take up to 30 % more or less
// time. Judges nothing.
import { setPriority } from 'node:os';
import type { UpdateStrategy, Waiver } from '../../src/api/nodegroup-update.ts';
import type { HookTime } from '../../src/api/update-hooks.ts';
import { ownGroup } from '../../src/cli/plan/group.ts';
import { readSnapshot, type Sources } from '../../src/cli/plan/snapshot.ts';
import {
  type CloudTimes,
  type PlanFinding,
  planUpdate,
  type UpdatePlan,
} from '../../src/core/update/plan/index.ts';
import type { Snapshot } from '../../src/core/update/preflight/index.ts';
import { drawAnyCluster, type RolloutCluster, varied } from '../../src/sim/rollout/cluster.ts';
import { type RolloutSources, runRollout } from '../../src/sim/rollout/run.ts';
import { rolloutGroup, rolloutVersion } from '../../src/sim/rollout/workload.ts';
import { Kernel } from '../../world/kernel/index.ts';
import { askedCourses, type Course, type CourseName, drawCourse, plainCourse } from './courses.ts';

export const calibratedStrategies = [
  'SURGE',
  'DEFAULT',
  'MINIMAL',
] as const satisfies readonly UpdateStrategy[];

export interface CalibrationRow {
  readonly seed: number;
  readonly cluster: string;
  /** For a strategy's plain course, the strategy. */
  readonly course: string;
  readonly p50Minutes: number;
  readonly p90Minutes: number;
  /** Blockers that were not waived, from a plan of the same cluster: the checks. */
  readonly blockers: readonly string[];
  /** Percentage of simulated runs that stop, from the same plan: a warning, not a blocker. */
  readonly riskPercent: number;
  /** EKS' update status. */
  readonly status: string;
  readonly message: string;
  readonly tookMinutes: number;
}

const source = 'the embedded world';
/**
 * Facts that no snapshot contains: the embedded world's cloud launches a missing instance about 3 s
 * after the request, takes 6.5 s to terminate one, is polled every second meanwhile, and does not
 * vary between runs. Pods of generated clusters stop within 1 to 10 s (13 s when an outcome varies
 * them). Measured with seeds 501 to 790, which no figure uses.
 */
const times: CloudTimes = {
  setup: { p50: 0.3, p90: 0.5, source },
  launch: { p50: 3.5, p90: 4.3, source },
  terminate: { p50: 6.9, p90: 8.6, source },
  stop: { p50: 4.5, p90: 7.5, most: 10, source },
  commonSpread: 0,
};
/** Maximum relative difference of pods' times between plan and outcome. */
const variation = 0.3;

/** As in src/main/sim.ts: ticks run once the microtask queue is empty. */
export const settle = async (): Promise<void> => {
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
};

const randomOf = (seed: number, what: string) => new Kernel({ seed, startAt: 0 }).random(what);

export interface PlanWish {
  readonly waivers?: readonly Waiver[];
  readonly force?: boolean;
  readonly version?: string;
  readonly releaseVersion?: string;
  /** Service Quotas' values. */
  readonly accountQuotas?: Snapshot['accountQuotas'];
  /** Times that earlier updates of the group recorded. */
  readonly hookTimes?: readonly HookTime[];
}

const bare: readonly Waiver[] = [{ check: 'bare-pod' }];

/** What the command line reads and decides, in the same process. */
export const planOf = async (
  { kube, cloud, now }: RolloutSources,
  strategy: UpdateStrategy,
  {
    waivers = bare,
    force = false,
    version,
    releaseVersion,
    accountQuotas,
    hookTimes = [],
  }: PlanWish = {},
): Promise<UpdatePlan> => {
  // Planning needs only the cluster's version from EKS, which this world lacks.
  const provisioning = {
    describeCluster: async () => ({ version: rolloutVersion }),
    serviceQuota: async () => undefined,
    countedInstances: async () => [],
  } as unknown as Sources['provisioning'];
  const group = { ...(await ownGroup(kube, rolloutGroup, undefined)), hookTimes };
  const request = { version, releaseVersion, templateVersion: undefined, strategy, force };
  const snapshot = await readSnapshot({ kube, cloud, provisioning, now }, group, request);
  const { accountQuotas: _, ...unread } = snapshot.unread;
  const known = accountQuotas === undefined ? {} : { accountQuotas, unread };
  return planUpdate({ ...snapshot, ...known }, { waivers, times });
};

const riskOf = ({ findings }: UpdatePlan): number =>
  Math.max(0, ...findings.map(({ evidence }) => Number(evidence.runsPercent ?? 0)));

const blockersOf = ({ findings }: UpdatePlan): readonly PlanFinding[] =>
  findings.filter(({ severity, waived }) => severity === 'blocker' && waived === undefined);

interface Calibration {
  readonly strategies?: readonly UpdateStrategy[];
  /** Courses to use instead. */
  readonly courses?: readonly CourseName[];
  readonly share?: number;
}

const coursesOf = (
  seed: number,
  { strategies = calibratedStrategies, courses = [], share = variation }: Calibration,
): readonly Course[] =>
  courses.length === 0
    ? strategies.map(plainCourse)
    : courses.map((name) => drawCourse(name, randomOf(seed, `course ${name}`), share));

/**
 * From a snapshot of each cluster; the plain courses share one, because their snapshots are equal.
 */
const plansOf = async (
  cluster: RolloutCluster,
  seed: number,
  courses: readonly Course[],
): Promise<ReadonlyMap<Course, UpdatePlan>> => {
  const plans = new Map<Course, UpdatePlan>();
  const groups = Map.groupBy(courses, (one) => (one.updateConfig === undefined ? '' : one.name));
  for (const alike of groups.values()) {
    const { updateConfig = {}, objects = [] } = alike[0] ?? {};
    const before = async (sources: RolloutSources): Promise<'enough'> => {
      for (const one of alike) {
        const { strategy, hookTimes = [] } = one;
        plans.set(one, await planOf(sources, strategy, { hookTimes }));
      }
      return 'enough';
    };
    const about = { cluster, strategy: 'SURGE', seed, settle, updateConfig, objects } as const;
    await runRollout({ ...about, before });
  }
  return plans;
};

/** One cluster: a plan and an outcome for each strategy or course. */
export const calibrate = async (
  seed: number,
  asked: Calibration = {},
): Promise<readonly CalibrationRow[]> => {
  const cluster = drawAnyCluster(randomOf(seed, 'cluster'));
  const plans = await plansOf(cluster, seed, coursesOf(seed, asked));
  const rows: CalibrationRow[] = [];
  for (const [course, plan] of plans) {
    const { strategy, hookTimes = [], updateConfig = {}, objectsVaried = [] } = course;
    const otherSeed = seed * 1000 + 1;
    const other = varied(cluster, randomOf(otherSeed, 'varied'), asked.share ?? variation);
    let blockers: readonly PlanFinding[] = [];
    let riskPercent = 0;
    const one = await runRollout({
      cluster: other,
      strategy,
      seed: otherSeed,
      settle,
      updateConfig,
      objects: objectsVaried,
      before: async (sources) => {
        const own = await planOf(sources, strategy, { hookTimes });
        blockers = blockersOf(own);
        riskPercent = riskOf(own);
        return undefined;
      },
    });
    rows.push({
      seed,
      cluster: cluster.name,
      course: course.name,
      p50Minutes: plan.minutes.p50,
      p90Minutes: plan.minutes.p90,
      blockers: blockers.map(({ check }) => check),
      riskPercent,
      status: one.status,
      message: one.message,
      tookMinutes: one.makespanSeconds / 60,
    });
  }
  return rows;
};

/** Percentage of the rows that ended within the value of `of`. */
export const percentWithin = (
  rows: readonly CalibrationRow[],
  of: (row: CalibrationRow) => number,
): number => {
  const within = rows.filter((row) => row.tookMinutes <= of(row)).length;
  return (within / Math.max(1, rows.length)) * 100;
};

/** For a dedicated process: answers each seed with its rows, at low priority. */
export const serveSeeds = (): void => {
  setPriority(10);
  const courses = askedCourses();
  process.on('message', (seed) => {
    calibrate(Number(seed), { courses }).then(
      (rows) => process.send?.(rows),
      (error: unknown) => {
        throw error;
      },
    );
  });
};
