// Hooks of an update in virtual time. A node keeps its pods until its Job is done, and a new node
// does not count until its own Job is. The tests cover failure, timeout, abort and deletion. The
// end is the same wherever the process is killed.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import type { Write } from '../../src/sim/ports/network.ts';
import { type Kills, killedInTurn, noKills } from '../support/kills.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  beginWithHooks as begin,
  hook,
  isDone,
  jobFor,
  jobsOf,
  labelOf,
  prepare,
} from '../support/update-hooks.ts';
import {
  askFor,
  endState,
  instanceOf,
  isCordoned,
  latest,
  makeGroup,
  newest,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const podsOn = (life: GroupLife, node: string): number =>
  [...life.world.kube.readAll(resourceTypes.pods)].filter(
    ({ metadata, spec }) =>
      metadata.labels?.app === 'web' &&
      metadata.deletionTimestamp === undefined &&
      objectOr(spec).nodeName === node,
  ).length;

const nameOf = (node: JsonObject): string => String(objectOr(node.metadata).name);

describe('preDrain', () => {
  it('runs one Job for each node of before, which keeps its pods until it is done', async () => {
    const life = await begin({ preDrain: hook('backup') });
    prepare(life, 'backup', { seconds: 90 });
    const before = life.nodes().map((node) => ({
      name: nameOf(node),
      instanceId: instanceOf(node),
      pods: podsOn(life, nameOf(node)),
    }));
    const seen = new Set<string>();
    askFor(life, newest);
    await life.until(
      'the update is over',
      () => {
        for (const { name, instanceId, pods } of before) {
          const job = jobFor(life, 'preDrain', instanceId);
          const node = life.nodes().find((one) => nameOf(one) === name);
          const isWorking = job !== undefined && !isDone(job, 'Complete');
          if (isWorking) {
            seen.add(instanceId);
            expect(node !== undefined && isCordoned(node)).toBe(true);
          }
          const isUntouched = job === undefined && !seen.has(instanceId);
          if (isWorking || isUntouched) expect(podsOn(life, name)).toBeGreaterThanOrEqual(pods);
        }
        return latest(life)?.status?.endedAt !== undefined;
      },
      2 * 3600,
    );
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    expect(latest(life)?.status?.hooks).toBeUndefined();
    expect(seen.size).toBe(2);
    const times = latest(life)?.status?.hookTimes ?? [];
    expect(times.map(({ hook: kind }) => kind)).toEqual(['preDrain', 'preDrain']);
    for (const { seconds } of times) expect(Math.abs(seconds - 100)).toBeLessThanOrEqual(15);
    await untilAtRest(life, 2);
    expect(jobsOf(life)).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('tells its Job what it is for, and Kubernetes when to stop it', async () => {
    const life = await begin({ preDrain: hook('backup', { timeoutSeconds: 120 }) });
    prepare(life, 'backup');
    askFor(life, newest);
    await life.until('a Job', () => jobsOf(life).length > 0, 1200);
    const [job] = jobsOf(life) as unknown as JsonObject[];
    const spec = objectOr(job?.spec);
    expect(spec).toMatchObject({ activeDeadlineSeconds: 120, backoffLimit: 0 });
    expect(spec.ttlSecondsAfterFinished).toBeUndefined();
    const { name, uid } = latest(life)?.metadata ?? { name: '', uid: '' };
    expect(objectOr(job?.metadata).ownerReferences).toMatchObject([
      { kind: 'NodeGroupUpdate', name, uid },
    ]);
    const running = latest(life)?.status?.hooks?.[0];
    const pod = objectOr(objectOr(spec.template).spec);
    const [container] = pod.containers as readonly JsonObject[];
    expect(container?.env).toEqual([
      { name: 'DROVER_HOOK', value: 'preDrain' },
      { name: 'DROVER_NODE', value: running?.node },
      { name: 'DROVER_INSTANCE', value: running?.instanceId },
      { name: 'DROVER_NODEGROUP', value: 'ng' },
      { name: 'DROVER_UPDATE', value: name },
    ]);
    await untilOver(life);
    await life.end();
  });

  it.each([
    ['that fails', { exit: 3 }, {}, 'BackoffLimitExceeded'],
    ['that is not done in time', { seconds: 9_000 }, { timeoutSeconds: 60 }, 'DeadlineExceeded'],
    ['that is not there', undefined, {}, 'there is no CronJob default/backup'],
  ])('%s ends the update before a pod has moved', async (_, work, more, why) => {
    const life = await begin({ preDrain: hook('backup', more) });
    if (work !== undefined) prepare(life, 'backup', work);
    const before = life.nodes().map(nameOf);
    askFor(life, newest);
    await untilOver(life);
    const { status } = latest(life) ?? {};
    expect(status).toMatchObject({ status: 'Failed', errors: [{ code: 'HookFailed' }] });
    expect(status?.errors?.[0]?.message).toMatch(
      /^Hook preDrain of node \S+ \(Job default\/pre-drain-i-/,
    );
    expect(status?.errors?.[0]?.message).toContain(why);
    expect(status?.failedNodes).toMatchObject([{ message: status?.errors?.[0]?.message }]);
    await untilAtRest(life, 2);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(life.nodes().map(nameOf).toSorted()).toEqual(before.toSorted());
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('with Continue continues without those that fail, and tells them', async () => {
    const life = await begin({ preDrain: hook('backup', { onFailure: 'Continue' }) });
    prepare(life, 'backup', { exit: 1 });
    askFor(life, newest);
    await untilOver(life);
    const { status } = latest(life) ?? {};
    expect(status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    expect(status?.hooks).toHaveLength(2);
    expect(status?.hooks?.[0]).toMatchObject({ hook: 'preDrain', state: 'Failed' });
    await untilAtRest(life, 2);
    // Failed Jobs remain for inspection, as long as the update object exists.
    expect(jobsOf(life)).toHaveLength(2);
    life.unmake({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', 'web');
    await life.delete();
    await life.until('the group is gone', () => life.group() === undefined, 3600);
    await life.driver.advance(120);
    expect(jobsOf(life)).toEqual([]);
    await life.end();
  });

  it('is stopped by an abort, which gives the node back', async () => {
    const life = await begin({ preDrain: hook('backup', { timeoutSeconds: 3600 }) });
    prepare(life, 'backup', { seconds: 9_000 });
    askFor(life, newest);
    await life.until('a Job', () => jobsOf(life).length > 0, 1200);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Cancelled' });
    expect(latest(life)?.status?.hooks).toBeUndefined();
    await untilAtRest(life, 2);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(jobsOf(life)).toEqual([]);
    await life.end();
  });
});

describe('a deletion while a hook runs', () => {
  const deleted: Readonly<Record<string, (life: GroupLife) => Promise<void>>> = {
    'of the update gives the node back': async (life) => {
      const { name } = latest(life)?.metadata ?? { name: '' };
      life.user.delete(resourceTypes.nodegroupupdates, { name });
      await untilAtRest(life, 2);
      expect(life.nodes().filter(isCordoned)).toEqual([]);
    },
    'of the group does not wait for it': async (life) => {
      await life.delete();
      await life.until('the group is gone', () => life.group() === undefined, 3600);
      await life.driver.advance(60);
    },
  };

  it.each(Object.entries(deleted))('%s, and leaves no Job', async (_, run) => {
    const life = await begin({ preDrain: hook('backup', { timeoutSeconds: 7_200 }) });
    prepare(life, 'backup', { seconds: 9_000 });
    life.unmake({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', 'web');
    askFor(life, newest);
    await life.until('a Job', () => jobsOf(life).length > 0, 1200);
    await run(life);
    expect(jobsOf(life)).toEqual([]);
    await life.end();
  });
});

describe('postReady', () => {
  it('keeps a new node from counting until it is done: no old one is begun before', async () => {
    const life = await begin({ postReady: hook('smoke') });
    prepare(life, 'smoke', { seconds: 1_200 });
    life.patch({
      spec: { updateConfig: { hooks: { postReady: hook('smoke', { timeoutSeconds: 3_600 }) } } },
    });
    askFor(life, newest);
    await life.until('a Job', () => jobsOf(life).length > 0, 1200);
    const [first] = jobsOf(life);
    if (first === undefined) throw new Error('no Job');
    expect(labelOf(first, 'hook')).toBe('postReady');
    // Longer than nodes may take to join, but the update does not fail.
    await life.driver.advance(1_100);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(latest(life)?.status).toMatchObject({ phase: 'ScalingUp', status: 'InProgress' });
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    await untilAtRest(life, 2);
    expect(jobsOf(life)).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('that fails ends the update with no pod moved, and goes back where that is asked for', async () => {
    const life = await begin({ postReady: hook('smoke') }, {}, { rollback: { auto: true } });
    prepare(life, 'smoke', { exit: 1 });
    const before = life.nodes().map(nameOf);
    askFor(life, newest);
    await life.until('it has failed', () => life.updates().length === 2, 3600);
    const [failed] = life.updates().filter(({ spec }) => spec.action !== 'Rollback');
    expect(failed?.status).toMatchObject({
      status: 'Failed',
      errors: [{ code: 'NodeCreationFailure' }],
    });
    expect(failed?.status?.message).toContain('Hook postReady of node');
    await untilOver(life);
    await untilAtRest(life, 2);
    expect(life.nodes().map(nameOf).toSorted()).toEqual(before.toSorted());
    await life.end();
  });
});

describe('hooks', () => {
  it('are refused where they are none', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    const refused = (updateConfig: JsonObject): string =>
      JSON.stringify(life.patch({ spec: { updateConfig } }));
    const own = { updateStrategy: 'SURGE' };
    expect(refused({ hooks: { preDrain: hook('x') } })).toContain('rollback and hooks are of');
    expect(refused({ ...own, hooks: {} })).toContain('at least one of preDrain, postDrain');
    expect(refused({ ...own, hooks: { midDrain: hook('x') } })).toContain('at least one of');
    const nowhere = { timeoutSeconds: 5 };
    expect(refused({ ...own, hooks: { preDrain: nowhere } })).toContain('one of job and webhook');
    const ignoring = hook('x', { onFailure: 'Ignore' });
    expect(refused({ ...own, hooks: { preDrain: ignoring } })).toContain('onFailure');
    await life.end();
  });

  interface Told {
    readonly writes: readonly Write[];
    readonly end: JsonObject;
  }

  /** Runs all hooks with kills after writes since the update's request. */
  const told = async ({ killsAfter }: Kills): Promise<Told> => {
    const writes: Write[] = [];
    let begun = false;
    const life: GroupLife = await begin(
      {
        preDrain: hook('work'),
        postDrain: hook('work'),
        preTerminate: hook('work'),
        postReady: hook('work'),
      },
      {
        afterWrite: (call) => {
          if (!begun) return;
          writes.push(call);
          if (killsAfter(call)) life.killFor(3);
        },
      },
    );
    prepare(life, 'work');
    const made = new Set<string>();
    begun = true;
    askFor(life, newest);
    await life.until(
      'the update is over',
      () => {
        for (const { metadata } of jobsOf(life)) made.add(metadata.name);
        return latest(life)?.status?.endedAt !== undefined;
      },
      2 * 3600,
    );
    await untilAtRest(life, 2);
    const end = { ...endState(life), jobs: made.size, left: jobsOf(life).length };
    expect(end).toMatchObject({ updates: [{ status: 'Successful' }], jobs: 8, left: 0 });
    expect(life.check().violations).toEqual([]);
    await life.end();
    return { writes, end };
  };

  it('of an update come to the same end, each Job made once, with kills after each kind of write', async () => {
    const { writes, end } = await told(noKills);
    expect(writes.filter(({ resource }) => resource === 'jobs').length).toBe(16);
    await killedInTurn(writes, async (kills) => expect((await told(kills)).end).toEqual(end));
  }, 600_000);
});
