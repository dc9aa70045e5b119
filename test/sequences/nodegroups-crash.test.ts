// One complete life of a node group, with the process killed after each kind of its writes in
// turn, and with faults on all calls. Every run reaches the same end, with one Auto Scaling group
// and nothing left over.
import { describe, expect, it } from 'vitest';
import type { NetworkFaults, Write } from '../../src/sim/ports/network.ts';
import { type Kills, killedInTurn, noKills } from '../support/kills.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

/**
 * Created with one node, scaled up to three, scaled down to one under a budget, relabelled,
 * deleted.
 */
const wholeLife = async (life: GroupLife): Promise<void> => {
  const nodeRole = life.createRole('mine');
  await life.create({ nodeRole, scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 1 } });
  await life.until('the group is ACTIVE', () => life.isActive(1), 1800);
  const uid = life.group()?.metadata.uid ?? '';
  life.patch({ spec: { scaling: { desired: 3 } } });
  await life.until('there are three', () => life.isActive(3), 1800);
  await life.updateConfig({
    scalingConfig: { desiredSize: 1 },
    labels: { addOrUpdateLabels: { tier: 'web' } },
  });
  await life.until(
    'the update has ended',
    () => life.updates()[0]?.status?.status !== 'InProgress' && life.isActive(1),
    1800,
  );
  expect(life.updates()[0]?.status).toMatchObject({ status: 'Successful' });
  await life.until('the others are gone', () => life.nodes().length === 1, 600);
  const labels = life.nodes().map(({ metadata }) => JSON.stringify(metadata));
  expect(labels).toHaveLength(1);
  expect(labels[0]).toContain('"tier":"web"');
  expect(life.autoScalingGroups()).toHaveLength(1);
  await life.delete();
  await life.until(
    'it is gone',
    () => life.group() === undefined && life.nodes().length === 0,
    1800,
  );
  // The cluster's garbage collector deletes the updates.
  await life.driver.advance(30);
  life.expectNothingLeft('ng', uid);
  expect(life.mapRoles()).not.toContain('role/mine');
};

/**
 * Scaled down while a budget holds its pods: the nodes are uncordoned and the update has failed.
 */
const heldLife = async (life: GroupLife): Promise<void> => {
  await life.create({ scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 2 } });
  await life.until('the group is ACTIVE', () => life.isActive(2), 1800);
  life.deploy(2, 0);
  await life.driver.advance(30);
  await life.updateConfig({ scalingConfig: { desiredSize: 1 } });
  const ended = () => (life.updates()[0]?.status?.status ?? 'InProgress') !== 'InProgress';
  await life.until('the update has ended', ended, 1800);
  expect(life.updates()[0]?.status).toMatchObject({
    status: 'Failed',
    errors: [{ code: 'PodEvictionFailure' }],
  });
  await life.driver.advance(60);
  expect(life.group()?.spec.scaling.desired).toBe(2);
  expect(life.group()?.status).toMatchObject({ failure: { code: 'PodEvictionFailure' } });
  expect(life.group()?.status?.scaleIn).toBeUndefined();
  const marked = life.nodes().map(({ spec }) => JSON.stringify(spec));
  expect(marked.filter((spec) => spec.includes('"unschedulable":true'))).toEqual([]);
  expect(marked).toHaveLength(2);
};

/** Runs a life with kills after writes. Returns all writes. */
const livedWithKills = async (
  tell: (life: GroupLife) => Promise<void>,
  { killsAfter }: Kills,
): Promise<readonly Write[]> => {
  const writes: Write[] = [];
  let begun = false;
  const life = await GroupLife.begin({
    afterWrite: (call) => {
      expect(life?.autoScalingGroups().length ?? 0).toBeLessThanOrEqual(1);
      if (!begun) return;
      writes.push(call);
      if (killsAfter(call)) life.killFor(3);
    },
  });
  begun = true;
  await tell(life);
  const { violations } = life.check();
  expect(violations).toEqual([]);
  await life.end();
  return writes;
};

const faulty = (random: () => number, rate: number): Partial<NetworkFaults> => ({
  kubeCall: ({ verb }) => {
    const roll = random();
    if (roll < rate)
      return { kind: 'refused', code: verb === 'patch' ? 'Conflict' : 'ServerError' };
    return roll < rate * 1.5 && verb !== 'watch' && verb !== 'list'
      ? { kind: 'lost' }
      : { kind: 'ok' };
  },
  cloudCall: (operation) => {
    const roll = random();
    if (roll < rate) return { kind: 'refused', code: 'Throttled' };
    return roll < rate * 1.5 && operation !== 'ReceiveMessage' ? { kind: 'lost' } : { kind: 'ok' };
  },
  watchFrame: () => {
    const roll = random();
    return { lagMicros: roll < rate ? 8_000_000 * random() : 0, breaks: roll > 1 - rate / 2 };
  },
});

/**
 * Kills the process after writes of the story in turn; there must be more than `atLeast`
 * writes.
 */
const survives = async (
  tell: (life: GroupLife) => Promise<void>,
  atLeast: number,
): Promise<void> => {
  const writes = await livedWithKills(tell, noKills);
  // Fewer writes would mean that the story does not exercise all its steps.
  expect(writes.length).toBeGreaterThan(atLeast);
  await killedInTurn(writes, async (kills) => void (await livedWithKills(tell, kills)));
};

describe('a process that is killed', () => {
  it('after each kind of write in a node group’s life comes to the same end', async () => {
    await survives(wholeLife, 40);
  }, 240_000);

  it('after each kind of write of a scale-in that budgets hold says that it failed', async () => {
    await survives(heldLife, 25);
  }, 240_000);
});

describe('calls that fail, answers that are lost, watches that lag', () => {
  it.each([1, 2, 3, 4])('do not change the end: seed %i', async (seed) => {
    const life = await GroupLife.begin({ seed });
    const random = life.world.kernel.random('test.faults');
    life.faults = faulty(() => random.next(), 0.08);
    await wholeLife(life);
    await life.end();
  });
});
