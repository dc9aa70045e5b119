// Blue/green in virtual time: all new nodes start before an old node is touched. Old nodes are
// drained and kept for a soak, in which a rollback needs no launch, and then terminated. The end is
// the same wherever the process is killed.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { GroupLife, type GroupLifeOptions } from '../support/nodegroup-world.ts';
import {
  askFor,
  imageOf,
  isCordoned,
  latest,
  makeGroup,
  namesOf,
  newest,
  older,
  phasesOf,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const begin = async (
  desired: number,
  blueGreen: JsonObject = { soakSeconds: 600 },
  more: JsonObject = {},
  options: GroupLifeOptions = {},
): Promise<GroupLife> => {
  const life = await GroupLife.begin(options);
  await makeGroup(life, { desired, zones: 3, maxSize: desired });
  const updateConfig = { updateStrategy: 'BLUE_GREEN', maxUnavailable: 1, blueGreen, ...more };
  const patched = life.patch({ spec: { updateConfig } });
  expect(JSON.stringify(patched)).not.toContain('"kind":"error"');
  await runApp(life, desired * 3, 2);
  return life;
};

const phase = (life: GroupLife): string | undefined => latest(life)?.status?.phase;
const cordoned = (life: GroupLife): readonly string[] =>
  life
    .nodes()
    .filter(isCordoned)
    .map(({ metadata }) => String(objectOr(metadata).name));
const closed = (life: GroupLife): readonly string[] =>
  life
    .nodes()
    .filter(({ spec }) => /drover.dev\/outdated/.test(JSON.stringify(spec)))
    .map(({ metadata }) => String(objectOr(metadata).name));

describe('a blue/green update', () => {
  it('H33: makes all new nodes first, keeps the old ones empty, and ends with as many as before', async () => {
    const life = await begin(3);
    const before = namesOf(life);
    const launched = new Set<string>();
    askFor(life, newest);
    await life.until(
      'the old ones are kept',
      () => {
        for (const name of namesOf(life)) if (!before.includes(name)) launched.add(name);
        return phase(life) === 'Soaking';
      },
      7200,
    );
    expect([...launched]).toHaveLength(3);
    expect(cordoned(life).toSorted()).toEqual(before.toSorted());
    expect(life.runningPods('web')).toBe(9);
    expect(latest(life)?.status?.progress).toMatchObject({ total: 3, done: 0, emptied: 3 });
    await life.driver.advance(300);
    expect(phase(life)).toBe('Soaking');
    expect(latest(life)?.status?.holds).toMatchObject([{ kind: 'Soak' }]);
    expect(namesOf(life)).toHaveLength(6);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', surge: 3 });
    await untilAtRest(life, 3);
    expect(namesOf(life).toSorted()).toEqual([...launched].toSorted());
    expect(phasesOf(latest(life))).toEqual([
      'Preparing',
      'ScalingUp',
      'Marking',
      'Rolling',
      'Soaking',
      'ScalingDown',
      'Restoring',
      'Ended',
    ]);
    expect(life.group()?.status).toMatchObject({ desired: 3, maxSize: 3, releaseVersion: newest });
    expect(closed(life)).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('H33: goes back to its old nodes without a launch when it is aborted during the soak', async () => {
    const life = await begin(3);
    const before = namesOf(life);
    askFor(life, newest);
    await life.until('the old ones are kept', () => phase(life) === 'Soaking', 7200);
    const there = namesOf(life);
    const launched = new Set<string>();
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'RollBack' } });
    await life.until(
      'all of it is over',
      () => {
        for (const name of namesOf(life)) if (!there.includes(name)) launched.add(name);
        return (
          life.updates().length === 2 &&
          life.updates().every(({ status }) => status?.endedAt !== undefined)
        );
      },
      3600,
    );
    await untilAtRest(life, 3);
    expect([...launched]).toEqual([]);
    expect(namesOf(life).toSorted()).toEqual(before.toSorted());
    expect(cordoned(life)).toEqual([]);
    expect(closed(life)).toEqual([]);
    expect(life.runningPods('web')).toBe(9);
    expect(
      life
        .updates()
        .map(({ status }) => status?.status)
        .toSorted(),
    ).toEqual(['Cancelled', 'Successful']);
    expect(life.group()?.status?.releaseVersion).toBe(older);
    expect(new Set(life.nodes().map(imageOf)).size).toBe(1);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

describe('a blue/green update of many nodes', () => {
  it('H33: empties more of them than are looked at at a time', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 43, zones: 3, maxSize: 43 });
    const blueGreen = { soakSeconds: 0 };
    const updateConfig = { updateStrategy: 'BLUE_GREEN', maxUnavailable: 20, blueGreen };
    life.patch({ spec: { updateConfig } });
    await life.driver.advance(60);
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 43 } });
    await life.end();
  });
});

describe('a blue/green update that is stopped', () => {
  it.each([
    ['while its new nodes come', 'ScalingUp'],
    ['while old nodes are emptied', 'Rolling'],
    ['while old nodes are kept', 'Soaking'],
  ])('H33: %s leaves the group as it was', async (_, when) => {
    const life = await begin(3);
    const before = namesOf(life);
    askFor(life, newest);
    await life.until(`it is in ${when}`, () => phase(life) === when, 7200);
    await life.driver.advance(20);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(latest(life)?.status).toMatchObject({ status: 'Cancelled', progress: { done: 0 } });
    expect(namesOf(life).toSorted()).toEqual(before.toSorted());
    expect([...cordoned(life), ...closed(life)]).toEqual([]);
    expect(life.runningPods('web')).toBe(9);
    expect(life.group()?.status).toMatchObject({ desired: 3, maxSize: 3, releaseVersion: older });
    expect(life.autoScalingGroups()[0]?.SuspendedProcesses ?? []).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('H33: while old nodes leave lets them go', async () => {
    const life = await begin(3, { soakSeconds: 0 });
    const before = namesOf(life);
    askFor(life, newest);
    await life.until('they leave', () => phase(life) === 'ScalingDown', 7200);
    await life.driver.advance(5);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(latest(life)?.status?.status).toBe('Cancelled');
    expect(namesOf(life).filter((name) => before.includes(name))).toEqual([]);
    expect(life.group()?.status?.releaseVersion).toBe(newest);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

describe('a blue/green update that does not succeed', () => {
  it('H33: under a budget that never allows goes back to its old nodes', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 2, maxSize: 2 });
    life.patch({ spec: { updateConfig: { updateStrategy: 'BLUE_GREEN', blueGreen: {} } } });
    await runApp(life, 4, 0);
    const before = namesOf(life);
    askFor(life, newest);
    await untilOver(life);
    await untilAtRest(life, 2);
    expect(latest(life)?.status).toMatchObject({
      status: 'Failed',
      errors: [{ code: 'PodEvictionFailure' }],
    });
    expect(namesOf(life).toSorted()).toEqual(before.toSorted());
    expect([...cordoned(life), ...closed(life)]).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('H33: whose new nodes never join touches no old one', async () => {
    const life = await begin(3);
    const before = namesOf(life);
    life.world.faults.inject('never-join', {});
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({
      status: 'Failed',
      errors: [{ code: 'NodeCreationFailure' }],
    });
    await untilAtRest(life, 3);
    expect(namesOf(life).toSorted()).toEqual(before.toSorted());
    expect(phasesOf(latest(life))).not.toContain('Marking');
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

describe('a blue/green update that rests', () => {
  it('H33: keeps its old nodes while it is paused, beyond the soak, and ends when it is resumed', async () => {
    const life = await begin(2, { soakSeconds: 300 });
    askFor(life, newest);
    await life.until('the old ones are kept', () => phase(life) === 'Soaking', 7200);
    const name = latest(life)?.metadata.name ?? '';
    life.patchUpdate(name, { spec: { paused: true } });
    await life.driver.advance(900);
    expect(phase(life)).toBe('Soaking');
    expect(life.nodes()).toHaveLength(4);
    life.patchUpdate(name, { spec: { paused: false } });
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Successful');
    await untilAtRest(life, 2);
    await life.end();
  });

  it('H33: empties in batches, and waits after each', async () => {
    const life = await begin(4, { soakSeconds: 60, batchSoakSeconds: 600 }, { maxUnavailable: 2 });
    const seen: number[] = [];
    askFor(life, newest);
    await life.until(
      'the old ones are kept',
      () => {
        const { emptied = 0 } = latest(life)?.status?.progress ?? {};
        if (emptied === 2) seen.push(1);
        return phase(life) === 'Soaking';
      },
      7200,
    );
    const rolled = latest(life)?.status?.phases ?? [];
    const at = (one: string): number => Date.parse(rolled.find((p) => p.phase === one)?.at ?? '');
    expect((at('Soaking') - at('Rolling')) / 1000).toBeGreaterThan(600);
    expect((at('Soaking') - at('Rolling')) / 1000).toBeLessThan(900);
    expect(seen.length).toBeGreaterThan(0);
    await untilOver(life);
    await untilAtRest(life, 4);
    await life.end();
  });

  it('H33: empties one again that a user gave back, and then all of them rest again', async () => {
    const life = await begin(2, { soakSeconds: 600 });
    askFor(life, newest);
    await life.until('the old ones are kept', () => phase(life) === 'Soaking', 7200);
    const [one] = [
      ...life.world.kube.readAll({ group: 'drover.dev', resource: 'nodedisruptions' }),
    ];
    const causes = (objectOr(one?.spec).causes as readonly JsonObject[]).map((cause) => ({
      ...cause,
      cancelledAt: '2026-01-01T00:00:00.000Z',
    }));
    const kind = { group: 'drover.dev', resource: 'nodedisruptions' } as const;
    const body = { spec: { causes } };
    life.user.patch(kind, { name: one?.metadata.name ?? '' }, { type: 'merge', body });
    await untilOver(life);
    await untilAtRest(life, 2);
    const phases = phasesOf(latest(life));
    expect(phases.filter((each) => each === 'Soaking')).toHaveLength(2);
    expect(latest(life)?.status?.status).toBe('Successful');
    await life.end();
  });
});

describe('a blue/green update whose kept node another actor drains', () => {
  it.each([
    ['Manual', 60],
    ['Manual', 1500],
    ['RebalanceRecommendation', 1500],
  ])('H33: for %s, %d s into the soak, continues with the one soak', async (kind, seconds) => {
    const life = await begin(2, { soakSeconds: 3600 });
    askFor(life, newest);
    await life.until('the old ones are kept', () => phase(life) === 'Soaking', 7200);
    await life.driver.advance(seconds);
    const disruptions = { group: 'drover.dev', resource: 'nodedisruptions' } as const;
    const [one] = [...life.world.kube.readAll(disruptions)];
    const before = objectOr(one?.spec).causes as readonly JsonObject[];
    const since = Date.parse(latest(life)?.status?.phases?.at(-1)?.at ?? '');
    const receivedAt = new Date(since + seconds * 1000).toISOString();
    const asks = { kind, id: `by-hand/${receivedAt}`, receivedAt, followUp: 'Release' };
    const causes = [...before, { ...asks, onDeadline: 'fail', requestedBy: 'somebody' }];
    const name = one?.metadata.name ?? '';
    life.user.patch(disruptions, { name }, { type: 'merge', body: { spec: { causes } } });
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Successful');
    expect(phasesOf(latest(life)).filter((each) => each === 'Soaking')).toHaveLength(1);
    await untilAtRest(life, 2);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
