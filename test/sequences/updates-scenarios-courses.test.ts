// Scenarios of rolling updates from other tools' tests, run in virtual time: each row of
// scripts/conformance-updates.ts by its id. updates-scenarios.test.ts has those that test single
// decisions.
import { describe, expect, it } from 'vitest';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  endState,
  imageOf,
  isCordoned,
  latest,
  makeGroup,
  namesOf,
  newest,
  older,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

/** Uses Drover's own strategy, which EKS' API cannot express. */
const makeOwnGroup = async (life: GroupLife, desired: number, maxUnavailable: number) => {
  await makeGroup(life, { desired, maxSize: desired + 3 });
  const updateConfig = { updateStrategy: 'SURGE', maxUnavailable };
  expect(life.patch({ spec: { updateConfig } }).kind).not.toBe('error');
};

describe('H1', () => {
  it('H1: of seven old nodes none goes before a new one is Ready, then two at a time', async () => {
    const life = await GroupLife.begin();
    await makeOwnGroup(life, 7, 2);
    await runApp(life, 7, 7);
    const old = namesOf(life);
    const image = imageOf(life.nodes()[0] ?? {});
    let most = 0;
    let readyWhenFirst: number | undefined;
    askFor(life, newest);
    await life.until(
      'it is over',
      () => {
        const nodes = life.nodes();
        const isNew = (node: (typeof nodes)[number]): boolean => imageOf(node) !== image;
        const isReady = ({ status }: (typeof nodes)[number]): boolean =>
          JSON.stringify((status as { conditions?: unknown }).conditions, [
            'type',
            'status',
          ]).includes('"type":"Ready","status":"True"');
        const going = latest(life)?.status?.progress?.draining ?? 0;
        most = Math.max(most, going);
        if (going > 0) {
          readyWhenFirst ??= nodes.filter((node) => isNew(node) && isReady(node)).length;
        }
        return !['InProgress', undefined].includes(latest(life)?.status?.status);
      },
      4 * 3600,
    );
    expect(latest(life)?.status?.status).toBe('Successful');
    expect(readyWhenFirst).toBeGreaterThanOrEqual(1);
    expect(most).toBe(2);
    await untilAtRest(life, 7);
    expect(namesOf(life).filter((name) => old.includes(name))).toEqual([]);
    await life.end();
  });
});

describe('H9', () => {
  it('H9: a warm pool is refused by name, and nothing of what was asked for besides is done', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    const named = { clusterName: 'c', nodegroupName: 'ng' };
    const warmPoolConfig = { enabled: true, minSize: 1 };
    const words = await life.refused('UpdateNodegroupConfig', {
      ...named,
      warmPoolConfig,
      labels: { addOrUpdateLabels: { team: 'x' } },
    });
    expect(words).toBe('InvalidParameterException: warmPoolConfig is not supported by Drover');
    expect(life.group()?.spec.labels ?? {}).toEqual({});
    expect(life.updates()).toEqual([]);
    await life.end();
  });
});

describe('H27', () => {
  it('H27: what an update gives back is what it marked: another actor’s cordon stays', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 3, updateConfig: { updateStrategy: 'MINIMAL' } });
    await runApp(life, 3, 0);
    const [theirs = ''] = namesOf(life);
    const body = { spec: { unschedulable: true } };
    life.user.patch(resourceTypes.nodes, { name: theirs }, { type: 'merge', body });
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Failed');
    const cordoned = (): readonly string[] =>
      life
        .nodes()
        .filter(isCordoned)
        .map(({ metadata }) => String((metadata as { name?: unknown }).name));
    await life.until('its own marks are gone', () => cordoned().length === 1, 1800);
    await life.driver.advance(300);
    expect(cordoned()).toEqual([theirs]);
    await life.end();
  });
});

describe('H29', () => {
  it('H29: an eviction that is refused is tried again until it succeeds', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    await runApp(life, 4, 0);
    askFor(life, newest);
    await life.driver.advance(600);
    expect(latest(life)?.status?.status).toBe('InProgress');
    const budget = { namespace: 'default', name: 'web' };
    const patch = { spec: { maxUnavailable: 1 } };
    life.user.patch(resourceTypes.poddisruptionbudgets, budget, { type: 'merge', body: patch });
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Successful');
    await life.end();
  });

  it('H29: one that never may ends it in time, and every node is uncordoned', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    await runApp(life, 4, 0);
    const before = namesOf(life);
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status?.errors?.map(({ code }) => code)).toEqual(['PodEvictionFailure']);
    await untilAtRest(life, 2);
    expect(namesOf(life).toSorted()).toEqual(before.toSorted());
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    await life.end();
  });

  it('H29: a group that is being updated is not updated again', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    askFor(life, newest);
    await life.driver.advance(60);
    const named = { clusterName: 'c', nodegroupName: 'ng' };
    const words = await life.refused('UpdateNodegroupVersion', { ...named, releaseVersion: older });
    expect(words).toMatch(/^ResourceInUseException: /);
    await untilOver(life);
    await life.end();
  });
});

describe('H31', () => {
  it.each([5, 30, 55])(
    'H31: a process that dies %d s into the minute between empty and terminate makes no more nodes',
    async (seconds) => {
      const course = async (isKilled: boolean) => {
        const life = await GroupLife.begin();
        await makeOwnGroup(life, 2, 1);
        await runApp(life, 2, 1);
        const seen = new Set<string>();
        const look = (): void => {
          for (const name of namesOf(life)) seen.add(name);
        };
        askFor(life, newest);
        const isEmptied = (): boolean => {
          look();
          const all = life.world.kube.readAll(resourceTypes.nodedisruptions);
          return JSON.stringify([...all]).includes('"cooldown"');
        };
        await life.until('a node is empty and waits', isEmptied, 3600);
        await life.driver.advance(seconds);
        if (isKilled) life.killFor(20);
        const isOver = (): boolean => {
          look();
          return !['InProgress', undefined].includes(latest(life)?.status?.status);
        };
        await life.until('it is over', isOver, 4 * 3600);
        await untilAtRest(life, 2);
        const end = endState(life);
        expect(life.check().violations).toEqual([]);
        await life.end();
        return { end, made: seen.size };
      };
      const calm = await course(false);
      expect(calm.made).toBe(4);
      expect(await course(true)).toEqual(calm);
    },
  );
});
