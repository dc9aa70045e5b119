// Hooks of an update after the drain and before the termination, in virtual time: which hook runs
// when, and what waits for it. The tests also cover the drained node of a hook that fails or is
// stopped, or whose instance terminates by itself.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { type KubeObject, resourceTypes } from '../../src/api/kube.ts';
import type { GroupLife } from '../support/nodegroup-world.ts';
import { beginWithHooks, hook, isDone, jobsOf, labelOf, prepare } from '../support/update-hooks.ts';
import {
  askFor,
  instanceOf,
  isCordoned,
  latest,
  newest,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const nameOf = (node: JsonObject): string =>
  String((node.metadata as { readonly name: string }).name);

const jobOf = (life: GroupLife, kind: string): KubeObject | undefined =>
  jobsOf(life).find((job) => labelOf(job, 'hook') === kind);

const at = (job: KubeObject): number => Date.parse(job.metadata.creationTimestamp);

/** The NodeDisruption of the node that a Job runs for. */
const recordFor = (life: GroupLife, job: KubeObject) =>
  [...life.world.kube.readAll(resourceTypes.nodedisruptions)]
    .map((one) => one as unknown as KubeObject & { readonly status?: { drainedAt?: string } })
    .find(({ metadata }) => metadata.name === labelOf(job, 'instance'));

describe('postDrain and preTerminate', () => {
  it('run one after the other between empty and terminate, which waits for both', async () => {
    const life = await beginWithHooks({ postDrain: hook('work'), preTerminate: hook('work') });
    prepare(life, 'work', { seconds: 20 });
    const seen = new Map<string, { readonly kind: string; readonly since: number }>();
    askFor(life, newest);
    await life.until(
      'the update is over',
      () => {
        for (const job of jobsOf(life)) {
          const { name } = job.metadata;
          const kind = labelOf(job, 'hook') ?? '';
          const drainedAt = Date.parse(recordFor(life, job)?.status?.drainedAt ?? '');
          if (!seen.has(name)) seen.set(name, { kind, since: (at(job) - drainedAt) / 1000 });
          if (isDone(job, 'Complete')) continue;
          // The instance is not terminated while the Job runs.
          const left = life.nodes().find((one) => instanceOf(one) === labelOf(job, 'instance'));
          expect(left !== undefined && isCordoned(left)).toBe(true);
        }
        return latest(life)?.status?.endedAt !== undefined;
      },
      2 * 3600,
    );
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    const times = (kind: string): readonly number[] =>
      [...seen.values()].filter((one) => one.kind === kind).map(({ since }) => since);
    expect(times('postDrain')).toHaveLength(2);
    // Creation times of Jobs have whole seconds.
    for (const since of times('postDrain')) expect(since).toBeLessThan(10);
    expect(times('preTerminate')).toHaveLength(2);
    for (const since of times('preTerminate')) {
      expect(since).toBeGreaterThanOrEqual(59);
      expect(since).toBeLessThan(70);
    }
    await untilAtRest(life, 2);
    expect(jobsOf(life)).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('may take longer than a drain may', async () => {
    const more = { timeoutSeconds: 3_600 };
    const life = await beginWithHooks({ postDrain: hook('work', more) });
    prepare(life, 'work', { seconds: 1_500 });
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status?.message).toBeUndefined();
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    await untilAtRest(life, 2);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it.each(['postDrain', 'preTerminate'])('%s that fails ends nothing of the node', async (kind) => {
    const life = await beginWithHooks({ [kind]: hook('work') });
    prepare(life, 'work', { exit: 1 });
    const before = life.nodes().map(nameOf);
    askFor(life, newest);
    await untilOver(life);
    const { status } = latest(life) ?? {};
    expect(status).toMatchObject({ status: 'Failed', errors: [{ code: 'HookFailed' }] });
    expect(status?.message).toMatch(new RegExp(`^Hook ${kind} of node \\S+ \\(Job default/`));
    await untilAtRest(life, 2);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(life.nodes().map(nameOf).toSorted()).toEqual(before.toSorted());
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('that fails with Continue is told, and the instance goes', async () => {
    const life = await beginWithHooks({ preTerminate: hook('work', { onFailure: 'Continue' }) });
    prepare(life, 'work', { exit: 1 });
    askFor(life, newest);
    await untilOver(life);
    const { status } = latest(life) ?? {};
    expect(status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    expect(status?.hooks).toMatchObject([
      { hook: 'preTerminate', state: 'Failed' },
      { hook: 'preTerminate', state: 'Failed' },
    ]);
    await untilAtRest(life, 2);
    await life.end();
  });

  it('is stopped by an abort, which gives the empty node back', async () => {
    const life = await beginWithHooks({ preTerminate: hook('work', { timeoutSeconds: 3_600 }) });
    prepare(life, 'work', { seconds: 9_000 });
    const before = life.nodes().map(nameOf);
    askFor(life, newest);
    await life.until('a Job', () => jobOf(life, 'preTerminate') !== undefined, 1_200);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Cancelled' });
    await untilAtRest(life, 2);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(life.nodes().map(nameOf).toSorted()).toEqual(before.toSorted());
    expect(jobsOf(life)).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('does not keep a group from being deleted', async () => {
    const life = await beginWithHooks({ postDrain: hook('work', { timeoutSeconds: 7_200 }) });
    prepare(life, 'work', { seconds: 9_000 });
    life.unmake({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', 'web');
    askFor(life, newest);
    await life.until('a Job', () => jobsOf(life).length > 0, 1_200);
    await life.delete();
    await life.until('the group is gone', () => life.group() === undefined, 3_600);
    await life.driver.advance(60);
    expect(jobsOf(life)).toEqual([]);
    await life.end();
  });

  it('ends with an instance that another actor terminates meanwhile', async () => {
    const life = await beginWithHooks({ preTerminate: hook('work', { timeoutSeconds: 7_200 }) });
    prepare(life, 'work', { seconds: 600 });
    askFor(life, newest);
    await life.until('a Job', () => jobOf(life, 'preTerminate') !== undefined, 1_200);
    const job = jobOf(life, 'preTerminate');
    const gone = (job && labelOf(job, 'instance')) ?? '';
    life.world.aws.call('ec2', 'TerminateInstances', { InstanceIds: [gone] });
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    await untilAtRest(life, 2);
    await life.end();
  });
});
