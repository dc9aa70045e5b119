// Jobs and CronJobs in a small real world.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import { microsPerSecond } from '../../kernel/index.ts';
import { asCronJob, asJob, resources } from '../actors/index.ts';
import { localClock, nextTime, parseSchedule } from './cron-schedule.ts';
import { formatIndexes, parseIndexes } from './job-pods.ts';
import { SmallWorld } from './small-world.ts';

const work = { namespace: 'demo', name: 'work' };

const template = (
  options: { readonly run?: string; readonly exit?: string; readonly restartPolicy?: string } = {},
): JsonObject => ({
  metadata: {
    annotations: {
      ...defined({ 'world.drover.dev/run-seconds': options.run }),
      'world.drover.dev/exit-code': options.exit ?? '0',
    },
  },
  spec: {
    restartPolicy: options.restartPolicy ?? 'Never',
    containers: [{ name: 'main', image: 'work:1' }],
  },
});

const started = (spec: JsonObject): SmallWorld => {
  const world = new SmallWorld();
  world.ready(2);
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: work, spec };
  world.must(world.admin.create(resources.jobs, 'demo', job));
  return world;
};

const jobOf = (world: SmallWorld) => {
  const object = world.kube.read(resources.jobs, work);
  if (object === undefined) throw new Error('no job');
  return asJob(object);
};

const ending = (world: SmallWorld): string | undefined =>
  jobOf(world).status?.conditions?.find(({ type }) => type === 'Complete' || type === 'Failed')
    ?.reason;

describe('a Job', () => {
  it('runs pods until enough have succeeded, never more at once than asked', () => {
    const world = started({ completions: 5, parallelism: 2, template: template({ run: '3' }) });
    world.until(90, () => {
      const busy = world.pods().filter((pod) => pod.status?.phase !== 'Succeeded');
      expect(busy.length).toBeLessThanOrEqual(2);
      return ending(world) !== undefined;
    });
    world.advance(1);
    const { status } = jobOf(world);
    expect(status).toMatchObject({ succeeded: 5, ready: 0, terminating: 0 });
    expect(status?.active).toBeUndefined();
    expect(status?.completionTime).toBeDefined();
    expect(status?.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
      ['SuccessCriteriaMet', 'CompletionsReached'],
      ['Complete', 'CompletionsReached'],
    ]);
    expect(world.pods().flatMap((pod) => pod.metadata.finalizers ?? [])).toEqual([]);
    expect(world.events('Completed')).toEqual(['Job completed']);
  });

  it('gives up after its backoff limit, waiting longer after each failure', () => {
    const world = started({ backoffLimit: 2, template: template({ run: '1', exit: '3' }) });
    const seconds = world.until(200, () => ending(world) !== undefined);
    expect(ending(world)).toBe('BackoffLimitExceeded');
    expect(jobOf(world).status).toMatchObject({ failed: 3 });
    expect(world.pods().map((pod) => pod.status?.phase)).toEqual(['Failed', 'Failed', 'Failed']);
    // 10 s after the first failure, 20 s after the second.
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThan(50);
  });

  it('with OnFailure restarts its container in place', () => {
    const world = started({
      backoffLimit: 6,
      template: template({ run: '1', exit: '1,1,0', restartPolicy: 'OnFailure' }),
    });
    world.until(60, () => ending(world) !== undefined);
    expect(ending(world)).toBe('CompletionsReached');
    expect(world.pods()).toHaveLength(1);
    expect(world.pods()[0]?.status?.containerStatuses?.[0]?.restartCount).toBe(2);
    expect(world.events('BackOff')[0]).toMatch(/^Back-off restarting failed container main in pod/);
  });

  it('ends at its deadline and stops what runs', () => {
    const world = started({ activeDeadlineSeconds: 20, template: template() });
    const seconds = world.until(40, () => ending(world) !== undefined);
    expect(ending(world)).toBe('DeadlineExceeded');
    expect(seconds).toBeGreaterThan(18.9);
    expect(seconds).toBeLessThan(20.1);
    world.until(60, () => world.pods().length === 0);
  });

  it('gives each index one pod, and a failed index another', () => {
    const world = started({
      completions: 3,
      parallelism: 3,
      completionMode: 'Indexed',
      template: template({ run: '2' }),
    });
    world.until(10, () => world.pods().length === 3);
    const names = world.pods().map((pod) => pod.metadata.name);
    expect(names.map((name) => name.slice(0, 7)).sort()).toEqual(['work-0-', 'work-1-', 'work-2-']);
    const [first = ''] = names;
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: first }));
    world.until(60, () => ending(world) !== undefined);
    expect(jobOf(world).status).toMatchObject({ succeeded: 3, failed: 1, completedIndexes: '0-2' });
  });

  it('does not count disruptions that its failure policy ignores', () => {
    const world = started({
      backoffLimit: 0,
      podFailurePolicy: {
        rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }],
      },
      template: template({ run: '5' }),
    });
    world.until(10, () => world.readyPods().length === 1);
    const name = world.pods()[0]?.metadata.name ?? '';
    world.must(
      world.admin.create({ group: '', resource: 'pods/eviction' }, 'demo', {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: 'demo' },
      }),
    );
    world.until(60, () => ending(world) !== undefined);
    expect(ending(world)).toBe('CompletionsReached');
    expect(jobOf(world).status?.failed).toBeUndefined();
  });

  it('fails at once on an exit code that its failure policy names', () => {
    const world = started({
      podFailurePolicy: {
        rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }],
      },
      template: template({ run: '1', exit: '42' }),
    });
    world.until(60, () => ending(world) !== undefined);
    expect(ending(world)).toBe('PodFailurePolicy');
    expect(jobOf(world).status?.conditions?.at(-1)?.message).toMatch(
      /^Container main for pod demo\/work-\w+ failed with exit code 42 matching FailJob rule at/,
    );
  });

  it('stops while suspended and starts again', () => {
    const world = started({ template: template({ run: '5' }) });
    world.until(10, () => world.readyPods().length === 1);
    const suspend = (value: boolean): void => {
      const body = { spec: { suspend: value } };
      world.must(world.admin.patch(resources.jobs, work, { type: 'merge', body }));
    };
    suspend(true);
    world.until(60, () => world.pods().length === 0);
    world.advance(1);
    expect(jobOf(world).status?.startTime).toBeUndefined();
    expect(jobOf(world).status?.conditions?.[0]).toMatchObject({
      type: 'Suspended',
      status: 'True',
    });
    suspend(false);
    world.until(60, () => ending(world) === 'CompletionsReached');
  });

  it('is removed with its pods when its time to live is over', () => {
    const world = started({ ttlSecondsAfterFinished: 30, template: template({ run: '1' }) });
    world.until(60, () => ending(world) !== undefined);
    const seconds = world.until(60, () => world.kube.read(resources.jobs, work) === undefined);
    expect(seconds).toBeGreaterThan(28.9);
    expect(seconds).toBeLessThan(30.1);
    world.until(5, () => world.pods().length === 0);
  });

  it('lets its pods go when it is deleted while they run', () => {
    const world = started({ parallelism: 2, completions: 2, template: template() });
    world.until(10, () => world.readyPods().length === 2);
    world.must(world.admin.delete(resources.jobs, work, { propagationPolicy: 'Background' }));
    world.until(60, () => world.pods().length === 0);
  });
});

describe('indexes', () => {
  it('are printed as runs', () => {
    const text = '0-2,4,6,7,9-11';
    expect(formatIndexes(parseIndexes(text))).toBe(text);
    expect([...parseIndexes('1,3-5')]).toEqual([1, 3, 4, 5]);
  });
});

const at = (text: string): number => Date.parse(text) * 1000;

describe('a schedule', () => {
  it.each([
    ['*/15 * * * *', 'UTC', '2022-09-25T13:01:10Z', '2022-09-25T13:15:00Z'],
    ['0 3 * * 1-5', 'UTC', '2022-09-23T12:00:00Z', '2022-09-26T03:00:00Z'],
    ['0 0 29 2 *', 'UTC', '2022-09-25T13:00:00Z', '2024-02-29T00:00:00Z'],
    ['30 9 * * *', 'Europe/Berlin', '2022-09-25T13:00:00Z', '2022-09-26T07:30:00Z'],
    ['30 9 * * *', 'Europe/Berlin', '2022-10-30T00:00:00Z', '2022-10-30T08:30:00Z'],
    ['0 0 1 * MON', 'UTC', '2022-09-25T13:00:00Z', '2022-09-26T00:00:00Z'],
    ['@hourly', 'UTC', '2022-09-25T13:00:00Z', '2022-09-25T14:00:00Z'],
    ['@every 90s', 'UTC', '2022-09-25T13:00:00Z', '2022-09-25T13:01:30Z'],
  ])('%s in %s after %s falls due at %s', (text, zone, from, due) => {
    const schedule = parseSchedule(text);
    const clock = localClock(zone);
    if (schedule === undefined || clock === undefined) throw new Error('not understood');
    expect(nextTime(schedule, at(from), clock)).toBe(at(due));
  });

  it('is refused when it is none', () => {
    for (const text of ['', '* * * *', '60 * * * *', '* * * * 8', 'a b c d e', '@every x']) {
      expect(parseSchedule(text)).toBeUndefined();
    }
    expect(localClock('Nowhere/Land')).toBeUndefined();
  });
});

const cronWorld = (spec: JsonObject, run = '5'): SmallWorld => {
  const world = new SmallWorld();
  world.ready(2);
  const object = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: work,
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: template({ run }) } },
      ...spec,
    },
  };
  world.must(world.admin.create(resources.cronjobs, 'demo', object));
  return world;
};

const jobs = (world: SmallWorld) => [...world.kube.readAll(resources.jobs, 'demo')].map(asJob);

describe('a CronJob', () => {
  it('starts a Job each time, keeps the last three, and says when', () => {
    const world = cronWorld({});
    world.advance(6 * 60 + 30);
    expect(jobs(world).map((job) => job.metadata.name)).toHaveLength(3);
    const minutes = Math.floor(world.kernel.now() / (60 * microsPerSecond));
    expect(jobs(world).at(-1)?.metadata.name).toBe(`work-${minutes}`);
    const object = world.kube.read(resources.cronjobs, work);
    const status = object && asCronJob(object).status;
    expect(status?.active).toBeUndefined();
    expect(status?.lastScheduleTime).toMatch(/:00Z$/);
    expect(status?.lastSuccessfulTime).toBeDefined();
    expect(world.events('SawCompletedJob').length).toBeGreaterThanOrEqual(5);
  });

  it('with Forbid leaves out what would overlap, with Replace ends the one that runs', () => {
    const forbid = cronWorld({ concurrencyPolicy: 'Forbid' }, '100');
    forbid.advance(3 * 60 + 30);
    expect(jobs(forbid).filter((job) => job.status?.active === 1)).toHaveLength(1);
    expect(forbid.events('JobAlreadyActive').length).toBeGreaterThan(0);
    const replace = cronWorld({ concurrencyPolicy: 'Replace' }, '100');
    replace.advance(3 * 60 + 30);
    expect(jobs(replace)).toHaveLength(1);
  });

  it('starts nothing while suspended, and nothing that is too late afterwards', () => {
    const world = cronWorld({ suspend: true, startingDeadlineSeconds: 10 });
    world.advance(150);
    expect(jobs(world)).toEqual([]);
    const body = { spec: { suspend: false } };
    world.must(world.admin.patch(resources.cronjobs, work, { type: 'merge', body }));
    world.advance(1);
    expect(jobs(world)).toEqual([]);
    world.advance(60);
    expect(jobs(world)).toHaveLength(1);
  });
});
