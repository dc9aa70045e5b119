// Hooks of blue/green after the drain and before the termination, in virtual time. The soak waits
// for the first kind, the termination of old nodes for the second. A failed hook rolls back to the
// old nodes; an operator can end the soak.
import { describe, expect, it } from 'vitest';
import { isReady } from '../../src/api/conditions.ts';
import type { KubeObject, Node } from '../../src/api/kube.ts';
import type { GroupLife } from '../support/nodegroup-world.ts';
import { beginWithHooks, hook, jobsOf, labelOf, prepare } from '../support/update-hooks.ts';
import {
  askFor,
  isCordoned,
  latest,
  namesOf,
  newest,
  older,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const begin = (hooks: Parameters<typeof beginWithHooks>[0]): Promise<GroupLife> =>
  beginWithHooks(
    hooks,
    {},
    { updateStrategy: 'BLUE_GREEN', maxUnavailable: 1, blueGreen: { soakSeconds: 300 } },
  );

const made = (job: KubeObject): number => Date.parse(job.metadata.creationTimestamp) / 1000;

const phaseAt = (life: GroupLife, phase: string): number =>
  Date.parse(latest(life)?.status?.phases?.find((one) => one.phase === phase)?.at ?? '') / 1000;

/** Records when each Job of a kind was created, in order. */
const watchJobs = (life: GroupLife) => {
  const seen = new Map<string, KubeObject>();
  const look = (): void => {
    for (const job of jobsOf(life)) seen.set(job.metadata.name, job);
  };
  const times = (kind: string): readonly number[] =>
    [...seen.values()]
      .filter((job) => labelOf(job, 'hook') === kind)
      .map(made)
      .toSorted((a, b) => a - b);
  return { look, times };
};

describe('blue/green', () => {
  it('empties one node after the hook of the other, soaks after both, and waits for the last ones', async () => {
    const life = await begin({ postDrain: hook('work'), preTerminate: hook('work') });
    prepare(life, 'work', { seconds: 60 });
    const before = namesOf(life);
    const { look, times } = watchJobs(life);
    askFor(life, newest);
    let keptUntilDone = true;
    await life.until(
      'the update is over',
      () => {
        look();
        const isLast = latest(life)?.status?.phase === 'Soaking';
        if (isLast && !before.every((name) => namesOf(life).includes(name))) keptUntilDone = false;
        return latest(life)?.status?.endedAt !== undefined;
      },
      2 * 3600,
    );
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    const [first = 0, second = 0, ...more] = times('postDrain');
    expect(more).toEqual([]);
    expect(second - first).toBeGreaterThanOrEqual(60);
    expect(phaseAt(life, 'Soaking') - second).toBeGreaterThanOrEqual(60);
    const last = times('preTerminate');
    expect(last).toHaveLength(2);
    for (const time of last) {
      const since = time - phaseAt(life, 'Soaking');
      expect(since).toBeGreaterThanOrEqual(299);
      expect(since).toBeLessThan(320);
    }
    expect(phaseAt(life, 'ScalingDown') - (last[1] ?? 0)).toBeGreaterThanOrEqual(60);
    expect(keptUntilDone).toBe(true);
    await untilAtRest(life, 2);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it.each(['postDrain', 'preTerminate'])('goes back where %s fails', async (kind) => {
    const life = await begin({ [kind]: hook('work') });
    prepare(life, 'work', { exit: 1 });
    const before = namesOf(life).toSorted();
    askFor(life, newest);
    await untilOver(life);
    const { status } = latest(life) ?? {};
    expect(status).toMatchObject({ status: 'Failed', errors: [{ code: 'HookFailed' }] });
    expect(status?.message).toMatch(new RegExp(`^Hook ${kind} of node \\S+ \\(Job default/`));
    expect(status?.phases?.some(({ phase }) => phase === 'ScalingDown')).toBe(false);
    await untilAtRest(life, 2);
    expect(namesOf(life).toSorted()).toEqual(before);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('continues at once when a user says that its soak is over, behind its last hook', async () => {
    const life = await begin({ preTerminate: hook('work') });
    life.patch({ spec: { updateConfig: { blueGreen: { soakSeconds: 86_400 } } } });
    prepare(life, 'work', { seconds: 60 });
    askFor(life, newest);
    await life.until('it soaks', () => latest(life)?.status?.phase === 'Soaking', 7200);
    await life.driver.advance(600);
    const reason = expect.stringContaining('There is no ETA: hook preTerminate');
    expect(latest(life)?.status).toMatchObject({
      phase: 'Soaking',
      holds: [{ kind: 'Soak', reason }],
    });
    expect(jobsOf(life)).toEqual([]);
    const name = latest(life)?.metadata.name ?? '';
    life.patchUpdate(name, { metadata: { annotations: { 'drover.dev/soak-over': 'true' } } });
    await life.until('the hooks run', () => jobsOf(life).length === 2, 30);
    // The duration of these hooks is unknown, so the update reports no ETA.
    expect(latest(life)?.status?.progress?.eta).toBeUndefined();
    await life.until('the update is over', () => latest(life)?.status?.endedAt !== undefined, 900);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    await untilAtRest(life, 2);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('tells while it soaks when it will be over, once an update before ran the last hook', async () => {
    const life = await begin({ preTerminate: hook('work') });
    prepare(life, 'work', { seconds: 200 });
    askFor(life, newest);
    await untilOver(life);
    await untilAtRest(life, 2);
    askFor(life, older);
    await life.until('it soaks', () => latest(life)?.status?.phase === 'Soaking', 7200);
    await life.driver.advance(60);
    const { eta } = latest(life)?.status?.progress ?? {};
    const versions = new Set<string>();
    let isSame = true;
    const look = (): boolean => {
      const { metadata, status } = latest(life) ?? {};
      if (status?.phase !== 'Soaking') return true;
      // The controller wrote the holds and hooks of its last pass, and no changing time.
      versions.add(metadata?.resourceVersion ?? '');
      if (status.progress?.eta?.p50 !== eta?.p50) isSame = false;
      return false;
    };
    await life.until('the old nodes go', look, 1200);
    expect(isSame).toBe(true);
    expect(versions.size).toBeLessThan(8);
    await life.until('the update is over', () => latest(life)?.status?.endedAt !== undefined, 900);
    const ended = Date.parse(latest(life)?.status?.endedAt ?? '');
    expect(Math.abs(ended - Date.parse(eta?.p50 ?? '')) / 1000).toBeLessThan(90);
    expect(ended).toBeLessThan(Date.parse(eta?.p90 ?? ''));
    await life.end();
  });

  it('begins no hook before termination while it is paused, and continues with those that began', async () => {
    const life = await begin({ preTerminate: hook('work') });
    prepare(life, 'work', { seconds: 30 });
    askFor(life, newest);
    await life.until('it soaks', () => latest(life)?.status?.phase === 'Soaking', 7200);
    const name = latest(life)?.metadata.name ?? '';
    life.patchUpdate(name, { spec: { paused: true } });
    await life.driver.advance(600);
    expect(jobsOf(life)).toEqual([]);
    life.patchUpdate(name, { spec: { paused: null } });
    await life.until('they run', () => jobsOf(life).length === 2, 60);
    life.patchUpdate(name, { spec: { paused: true } });
    await life.driver.advance(120);
    expect(latest(life)?.status?.phase).toBe('Soaking');
    expect(latest(life)?.status?.hooks).toBeUndefined();
    life.patchUpdate(name, { spec: { paused: null } });
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    expect(latest(life)?.status?.hookTimes).toHaveLength(2);
    await untilAtRest(life, 2);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  const areLost = (life: GroupLife): boolean =>
    life.nodes().every((node) => !isReady(node as unknown as Node));

  it('whose new nodes are away for two minutes of its soak continues, whatever their age', async () => {
    const life = await begin({ preTerminate: hook('work') });
    life.patch({
      spec: { updateConfig: { blueGreen: { soakSeconds: 7200 }, rollback: { auto: true } } },
    });
    askFor(life, newest);
    await life.until('it soaks', () => latest(life)?.status?.phase === 'Soaking', 7200);
    await life.driver.advance(1800);
    const roles = life.mapRoles();
    life.putMapRoles('[]');
    await life.until('no node is Ready', () => areLost(life), 300);
    await life.driver.advance(120);
    life.putMapRoles(roles);
    await life.driver.advance(300);
    expect(areLost(life)).toBe(false);
    expect(latest(life)?.status).toMatchObject({ phase: 'Soaking', status: 'InProgress' });
    await life.end();
  });

  it('goes back where its new nodes are lost in the soak, and begins no hook before termination', async () => {
    const life = await begin({ preTerminate: hook('work') });
    prepare(life, 'work', { seconds: 30 });
    askFor(life, newest);
    await life.until('it soaks', () => latest(life)?.status?.phase === 'Soaking', 7200);
    await life.driver.advance(60);
    life.putMapRoles('[]');
    let jobs = 0;
    await life.until(
      'the update gives up',
      () => {
        jobs += jobsOf(life).length;
        return latest(life)?.status?.phase === 'Restoring';
      },
      1500,
    );
    expect(jobs).toBe(0);
    expect(latest(life)?.status?.errors).toMatchObject([{ code: 'NodeCreationFailure' }]);
    await life.end();
  });
});
