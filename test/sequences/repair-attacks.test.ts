// Node repair in a world that misleads it. Node objects are deleted together, instances never join,
// conditions flap, a stale writer sets Ready, and the controller dies in every phase.
import { describe, expect, it } from 'vitest';
import type { NodeRepair } from '../../src/api/node-repair.ts';
import type { GroupLife } from '../support/nodegroup-world.ts';
import {
  instanceOf,
  minutes,
  nodeName,
  repaired,
  repairsOf,
  requestRepair,
  setCondition,
  stopKubelet,
  terminations,
} from '../support/repair-world.ts';

const deleteNode = (life: GroupLife, name: string): void => {
  life.user.delete({ group: '', resource: 'nodes' }, { name });
};

const blockers = (repairs: readonly NodeRepair[]): readonly string[] =>
  repairs.map(({ status }) => (status?.blockedBy ?? []).map(({ kind }) => kind).join(','));

describe('Node objects that are deleted together', () => {
  it.each([2, 4])(
    'end none of %i machines, also after a restart',
    async (size) => {
      const life = await repaired(size);
      const names = Array.from({ length: size }, (_, index) => nodeName(life, index));
      for (const name of names) deleteNode(life, name);
      await life.driver.advance(minutes(10));
      life.killFor(minutes(1));
      await life.driver.advance(minutes(50));
      expect(terminations(life)).toEqual([]);
      expect(repairsOf(life)).toHaveLength(size);
      for (const kinds of blockers(repairsOf(life))) expect(kinds).toContain('sameSignal');
      await life.end();
    },
    60_000,
  );

  it('end none of their machines where no controller saw them go', async () => {
    const life = await repaired(3);
    await life.driver.advance(minutes(65));
    const names = [0, 1, 2].map((index) => nodeName(life, index));
    life.killFor(minutes(2));
    for (const name of names) deleteNode(life, name);
    await life.driver.advance(minutes(40));
    expect(terminations(life)).toEqual([]);
    await life.end();
  }, 60_000);
});

describe('an instance that never joins', () => {
  it('is replaced after the startup timeout of its group', async () => {
    const life = await repaired(2, { own: { startupTimeoutSeconds: 600 } });
    life.world.faults.inject('never-join', { group: 'ng' });
    life.patch({ spec: { scaling: { desired: 3 } } });
    await life.driver.advance(minutes(9));
    expect(terminations(life)).toEqual([]);
    // The launch hook keeps the instance out of service until the hook times out.
    await life.until('it is terminated', () => terminations(life).length === 1, minutes(60));
    expect(repairsOf(life)[0]?.spec).toMatchObject({
      condition: 'NodeRegistered',
      reason: 'NeverJoined',
    });
    life.world.faults.clear();
    await life.until('a new one joins', () => life.isActive(3), minutes(40));
    await life.end();
  }, 60_000);

  it('makes its group say that repairs do not help when its successors do not join', async () => {
    const life = await repaired(2, { own: { startupTimeoutSeconds: 300 } });
    life.world.faults.inject('never-join', { group: 'ng' });
    requestRepair(life, nodeName(life, 0), 'Replace');
    const issue = () => life.group()?.status?.health?.[0];
    const isTold = () => issue()?.code === 'RepairIneffective';
    await life.until('it is told', isTold, minutes(120));
    expect(issue()?.message).toMatch(/look at the image and the settings.*The image is ami-/);
    const conditions = life.group()?.status?.conditions ?? [];
    const of = (type: string) => conditions.find((one) => one.type === type);
    expect(of('Degraded')).toMatchObject({ status: 'True', reason: 'RepairIneffective' });
    expect(of('RepairIneffective')).toMatchObject({ status: 'True' });
    life.world.faults.clear();
    const isOver = () => life.isActive(2) && issue() === undefined;
    await life.until('the group is well again', isOver, minutes(400));
    await life.end();
  }, 60_000);
});

describe('a wait that is disturbed', () => {
  it('by a kubelet that flaps runs from the first flap on', async () => {
    const life = await repaired(2);
    const node = nodeName(life, 0);
    for (let round = 0; round < 9; round++) {
      stopKubelet(life, node);
      await life.driver.advance(minutes(2));
      life.world.faults.clear();
      await life.driver.advance(minutes(1));
    }
    expect(terminations(life)).toEqual([]);
    expect(repairsOf(life)).toHaveLength(1);
    stopKubelet(life, node);
    await life.until('it is terminated', () => terminations(life).length === 1, minutes(10));
    await life.end();
  }, 60_000);

  it('by a stale writer of Ready is not begun again', async () => {
    const life = await repaired(2);
    const node = nodeName(life, 0);
    stopKubelet(life, node);
    await life.driver.advance(minutes(20));
    setCondition(life, node, { type: 'Ready', status: 'True', reason: 'KubeletReady' });
    await life.driver.advance(minutes(9));
    expect(terminations(life)).toEqual([]);
    await life.until('it is terminated', () => terminations(life).length === 1, minutes(4));
    expect(repairsOf(life)).toHaveLength(1);
    await life.end();
  }, 60_000);
});

describe('a controller that dies after a write of a repair', () => {
  it.each([1, 2, 4, 5, 6, 8])(
    'terminates once nevertheless: write %i',
    async (n) => {
      let life: GroupLife | undefined;
      let writes = 0;
      let instance = '';
      life = await repaired(2, {
        afterWrite: ({ resource }) => {
          if (instance === '' || !/noderepairs|nodedisruptions/.test(resource)) return;
          writes += 1;
          if (writes === n) life?.killFor(90);
        },
      });
      const node = nodeName(life, 0);
      instance = instanceOf(life, node);
      stopKubelet(life, node);
      await life.driver.advance(minutes(29));
      expect(terminations(life)).toEqual([]);
      const succeeded = () => repairsOf(life as GroupLife)[0]?.status?.phase === 'Succeeded';
      await life.until('the repair has succeeded', succeeded, minutes(30));
      expect(terminations(life).map(({ InstanceId }) => InstanceId)).toEqual([instance]);
      expect(writes).toBeGreaterThanOrEqual(n);
      expect(repairsOf(life)).toHaveLength(1);
      await life.until('the group is whole again', () => life?.isActive(2) === true, minutes(15));
      await life.end();
    },
    60_000,
  );
});
