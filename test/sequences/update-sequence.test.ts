// Updates of several groups in virtual time. No pod moves twice, a failure stops the following
// groups and can be resumed, and no mark remains, however the sequence ends.
import { describe, expect, it } from 'vitest';
import type { Write } from '../../src/sim/ports/network.ts';
import { type Kills, killedInTurn, noKills } from '../support/kills.ts';
import type { GroupLife } from '../support/nodegroup-world.ts';
import {
  ask,
  beginGroups,
  change,
  isOver,
  marked,
  PodCount,
  remove,
  sequenceOf,
  statusOf,
} from '../support/sequence-world.ts';
import { newest } from '../support/update-world.ts';

const three = ['a', 'b', 'c'] as const;
const named = (names: readonly string[]) => names.map((name) => ({ name }));
const hourOf = 3600;

const expectSound = (life: GroupLife): void => {
  expect(life.check().violations).toEqual([]);
  expect(marked(life)).toEqual([]);
};

describe('an update sequence', () => {
  it('moves every pod once, where updates one after another move some again', async () => {
    const pods = 24;
    const groupNodes = { groups: three, nodes: 2, pods };
    const life = await beginGroups(groupNodes);
    const count = new PodCount(life);
    ask(life, named(three));
    let most = 0;
    const isDone = (): boolean => {
      count.look();
      most = Math.max(most, marked(life).length);
      return isOver(life);
    };
    await life.until('the sequence is over', isDone, 6 * hourOf);
    expect(statusOf(life)).toMatchObject({
      status: 'Successful',
      progress: { done: 3, total: 3 },
      conditions: [{ type: 'Complete', status: 'True' }],
    });
    expect(most).toBe(6);
    // Replacement pods were not moved again.
    expect(count.size).toBe(2 * pods);
    for (const name of three) expect(life.group(name)?.status?.releaseVersion).toBe(newest);
    expectSound(life);
    await life.end();

    const single = await beginGroups(groupNodes);
    const singly = new PodCount(single);
    for (const name of three) {
      single.patch({ spec: { releaseVersion: newest } }, name);
      const isUpdated = (): boolean => {
        singly.look();
        return single.group(name)?.status?.releaseVersion === newest;
      };
      await single.until(`${name} is updated`, isUpdated, 2 * hourOf);
    }
    expect(singly.size).toBeGreaterThan(2.4 * pods);
    await single.end();
  }, 60_000);

  it('takes groups in their order, and those that wait for the same one together', async () => {
    const life = await beginGroups({ groups: three, nodes: 1 });
    ask(life, [{ name: 'c' }, { name: 'a', after: ['c'] }, { name: 'b', after: ['c'] }]);
    const seen = new Set<string>();
    const isDone = (): boolean => {
      const groups = statusOf(life)?.groups ?? [];
      const running = groups.filter(({ status }) => status === 'InProgress');
      if (running.length > 0) seen.add(running.map(({ name }) => name).join());
      return isOver(life);
    };
    await life.until('the sequence is over', isDone, 3 * hourOf);
    expect(statusOf(life)?.status).toBe('Successful');
    expect([...seen].slice(0, 2)).toEqual(['c', 'a,b']);
    expectSound(life);
    await life.end();
  });

  it('stops at a group that fails, and continues from there when it is asked to', async () => {
    const life = await beginGroups({ groups: ['a', 'b'], nodes: 1 });
    life.deploy(1, 0, 'a');
    await life.until('the pod runs', () => life.runningPods('web') === 1);
    ask(life, named(['a', 'b']));
    await life.until('it has stopped', () => isOver(life), 2 * hourOf);
    expect(statusOf(life)).toMatchObject({
      status: 'Failed',
      groups: [
        { name: 'a', status: 'Failed', attempt: 1 },
        { name: 'b', status: 'Waiting' },
      ],
    });
    expect(statusOf(life)?.message).toMatch(/^a: Failed \(update a-.*budget.*; not begun: b$/);
    expect(marked(life)).toEqual([]);
    await life.driver.advance(600);
    expect(life.updates()).toHaveLength(1);
    change(life, { force: true, resume: 'with force' });
    await life.until('it goes on', () => !isOver(life), 60);
    await life.until('it is over', () => isOver(life), 3 * hourOf);
    expect(statusOf(life)).toMatchObject({
      status: 'Successful',
      groups: [
        { name: 'a', status: 'Successful', attempt: 2 },
        { name: 'b', status: 'Successful', attempt: 1 },
      ],
    });
    expectSound(life);
    await life.end();
  });

  it('begins nothing while it is paused, and takes its marks off when it is aborted', async () => {
    const life = await beginGroups({ groups: ['a', 'b'], nodes: 4 });
    ask(life, named(['a', 'b']));
    await life.until('a runs', () => (life.updates()[0]?.status?.progress?.done ?? 0) > 0, hourOf);
    change(life, { paused: true });
    await life.driver.advance(1200);
    expect(life.updates()[0]?.spec.paused).toBe(true);
    const { done = 9, draining } = life.updates()[0]?.status?.progress ?? {};
    // Drains in progress were completed.
    expect(done).toBeLessThan(4);
    expect(draining).toBe(0);
    expect(statusOf(life)?.message).toBe('paused on request; updating a; 0 of 2 groups done');
    change(life, { paused: false });
    await life.until('it goes on', () => life.updates()[0]?.spec.paused === false, 60);
    change(life, { abort: 'Stop' });
    await life.until('it is over', () => isOver(life), hourOf);
    expect(statusOf(life)).toMatchObject({
      status: 'Cancelled',
      groups: [
        { name: 'a', status: 'Cancelled' },
        { name: 'b', status: 'Waiting' },
      ],
    });
    expect(life.updates()).toHaveLength(1);
    expectSound(life);
    await life.end();
  });

  it('leaves no mark when it is deleted mid-way; the update that runs continues by itself', async () => {
    const life = await beginGroups({ groups: ['a', 'b'], nodes: 2 });
    ask(life, named(['a', 'b']));
    await life.until('a runs', () => (life.updates()[0]?.status?.progress?.done ?? 0) > 0, hourOf);
    expect(marked(life).length).toBeGreaterThan(1);
    remove(life);
    await life.until('it is gone', () => sequenceOf(life) === undefined, 60);
    expect(marked(life)).toEqual([]);
    await life.until(
      'its update is over',
      () => life.updates()[0]?.status?.status === 'Successful',
      hourOf,
    );
    await life.driver.advance(600);
    expect(life.updates()).toHaveLength(1);
    expectSound(life);
    await life.end();
  });

  it('says what is wrong and touches nothing; waits for one that has a group in common', async () => {
    const life = await beginGroups({ groups: ['a', 'b'], nodes: 1 });
    ask(life, named(['a', 'nowhere']));
    await life.until('it is refused', () => isOver(life), 60);
    expect(statusOf(life)).toMatchObject({ status: 'Failed', phase: 'Ended' });
    expect(statusOf(life)?.message).toContain('there is no node group nowhere');
    expect(life.updates()).toEqual([]);
    ask(life, named(['b']), {}, 'first');
    await life.until('it runs', () => sequenceOf(life, 'first')?.status?.phase === 'Rolling', 60);
    ask(life, named(['b', 'a']), {}, 'second');
    await life.driver.advance(60);
    expect(sequenceOf(life, 'second')?.status?.message).toContain('waits for sequence first');
    const isSecondOver = (): boolean => sequenceOf(life, 'second')?.status?.phase === 'Ended';
    await life.until('the second is over', isSecondOver, 3 * hourOf);
    expect(sequenceOf(life, 'second')?.status?.status).toBe('Successful');
    expectSound(life);
    await life.end();
  });
});

describe('what an update sequence meets', () => {
  it('reports an update that the API server refuses, and continues when it does no more', async () => {
    const life = await beginGroups({ groups: ['a', 'b'], nodes: 1 });
    life.faults.kubeCall = ({ verb, resource }) =>
      verb === 'create' && resource === 'nodegroupupdates'
        ? { kind: 'refused', code: 'Forbidden' }
        : { kind: 'ok' };
    ask(life, named(['a', 'b']));
    const isTold = (): boolean => statusOf(life)?.message?.includes('refuses update a-') === true;
    await life.until('it is told', isTold, 60);
    await life.driver.advance(60);
    expect(isTold()).toBe(true);
    expect(statusOf(life)?.phase).toBe('Rolling');
    delete life.faults.kubeCall;
    await life.until('it is over', () => isOver(life), 3 * hourOf);
    expect(statusOf(life)?.status).toBe('Successful');
    expectSound(life);
    await life.end();
  });

  it('takes its marks off when it is deleted and the cloud is down', async () => {
    const life = await beginGroups({ groups: ['a', 'b'], nodes: 1 });
    ask(life, named(['a', 'b']));
    await life.until('nodes are marked', () => marked(life).length === 2, 60);
    life.faults.cloudCall = () => ({ kind: 'refused', code: 'ServerError' });
    await life.driver.advance(30);
    remove(life);
    await life.until('no node is marked', () => marked(life).length === 0, 60);
    delete life.faults.cloudCall;
    await life.driver.advance(3 * hourOf);
    expectSound(life);
    await life.end();
  });
});

/**
 * Writes of the sequence itself and on nodes. updates-crash.test.ts kills at the writes of updates.
 */
const isOfSequence = ({ resource, verb }: Write): boolean =>
  resource === 'nodegroupupdatesequences' || (resource === 'nodes' && verb === 'patch');

const isBegun = (life: GroupLife): boolean =>
  (life.updates()[0]?.status?.progress?.draining ?? 0) > 0;

/** What an operator does after requesting the sequence, until it ends. */
const courses: Readonly<Record<string, (life: GroupLife) => Promise<void>>> = {
  'that ends well': (life) => life.until('it is over', () => isOver(life), 3 * hourOf),
  'that is aborted': async (life) => {
    await life.until('a pod moves', () => isBegun(life), hourOf);
    change(life, { abort: 'Stop' });
    await life.until('it is over', () => isOver(life), hourOf);
  },
  'that is deleted': async (life) => {
    await life.until('a pod moves', () => isBegun(life), hourOf);
    remove(life);
    await life.until('it is gone', () => sequenceOf(life) === undefined, hourOf);
    const isDone = (): boolean => life.updates()[0]?.status?.status === 'Successful';
    await life.until('its update is over', isDone, 3 * hourOf);
    // The Node of the last terminated instance is deleted a moment later.
    await life.driver.advance(60);
  },
};

describe('killed at any write of a sequence', () => {
  it.each(Object.entries(courses))(
    '%s, it ends as it would have',
    async (_, goOn) => {
      const course = async ({ killsAfter }: Kills) => {
        const writes: Write[] = [];
        let isOn = false;
        const life: GroupLife = await beginGroups(
          { groups: ['a', 'b'], nodes: 1, pods: 1 },
          {
            afterWrite: (call) => {
              if (!isOn || !isOfSequence(call)) return;
              writes.push(call);
              if (killsAfter(call)) life.killFor(3);
            },
          },
        );
        isOn = true;
        ask(life, named(['a', 'b']));
        await goOn(life);
        isOn = false;
        const groups = statusOf(life)?.groups.map(({ name, status, attempt }) => ({
          name,
          status,
          attempt,
        }));
        const left = { status: statusOf(life)?.status, groups, updates: life.updates().length };
        expectSound(life);
        await life.end();
        return { left, writes };
      };
      const whole = await course(noKills);
      expect(whole.writes.length).toBeGreaterThan(5);
      const ends = async (kills: Kills) => expect((await course(kills)).left).toEqual(whole.left);
      await killedInTurn(whole.writes, ends, { isEach: true });
    },
    120_000,
  );
});
