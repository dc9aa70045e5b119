// The whole Kubernetes side: the same seed gives the same world, and a restart loses nothing.
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../api/json.ts';
import type { RowChange } from '../../../ports/index.ts';
import { Tables } from '../../kernel/index.ts';
import { resources } from '../actors/index.ts';
import { aDeployment, SmallWorld } from './small-world.ts';

const story = (world: SmallWorld): void => {
  world.ready(3);
  world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 5)));
  world.advance(20);
  const [doomed] = world.readyPods();
  const name = { namespace: 'demo', name: doomed?.metadata.name ?? '' };
  world.must(world.admin.delete(resources.pods, name));
  world.faults.inject('kubelet-stop', { node: 'n2' });
  world.advance(400);
};

const traceOf = (seed: number): string => {
  const world = new SmallWorld({ seed });
  story(world);
  return JSON.stringify(world.audit);
};

describe('the Kubernetes side', () => {
  it('lives the same life twice from one seed, and another from another', () => {
    const first = traceOf(7);
    expect(traceOf(7)).toBe(first);
    expect(traceOf(8)).not.toBe(first);
  });

  it.each([0.002, 0.05, 0.4, 1.1, 2.5, 5])(
    'goes on after a restart %d s into a rollout',
    (after) => {
      const world = new SmallWorld();
      world.ready(3);
      world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 6)));
      world.advance(after);
      const disk = new Map<string, RowChange>();
      const second = restarted(world, disk);
      second.until(60, () => second.readyPods().length === 6);
      second.must(second.admin.delete(resources.deployments, { namespace: 'demo', name: 'web' }));
      second.advance(0.3);
      const third = restarted(second, disk);
      expect([...third.kube.readAll(resources.nodes)]).toHaveLength(3);
      third.until(60, () => third.pods().length === 0);
      expect(third.cloud.held.size).toBe(0);
    },
  );
});

/** The world as a new process finds it on disk: everything flushed so far. */
const restarted = (world: SmallWorld, disk: Map<string, RowChange>): SmallWorld => {
  world.kernel.checkpoint();
  for (const change of world.tables.takeChanges()) {
    disk.set(`${change.table} ${change.key}`, change);
  }
  const tables = new Tables();
  for (const { table, key, value } of disk.values()) {
    if (value !== undefined) tables.restore(table, key, JSON.parse(JSON.stringify(value)) as Json);
  }
  return new SmallWorld({ tables, cloud: world.cloud });
};
