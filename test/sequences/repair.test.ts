// Node repair in the embedded world and in virtual time: when a node is replaced, how, and what
// keeps it from being replaced.
import { describe, expect, it } from 'vitest';
import {
  disruptionOf,
  instanceOf,
  minutes,
  nodeName,
  repaired,
  repairsOf,
  stopKubelet,
  terminations,
} from '../support/repair-world.ts';

describe('a node whose kubelet is dead', () => {
  it('is replaced after 30 minutes by one call without decrement, and a new node is Ready', async () => {
    const life = await repaired(2);
    const node = nodeName(life, 0);
    const instance = instanceOf(life, node);
    stopKubelet(life, node);
    await life.driver.advance(minutes(29));
    expect(terminations(life)).toEqual([]);
    const [waiting] = repairsOf(life);
    expect(waiting?.status).toMatchObject({ phase: 'Waiting', action: 'Replace' });
    expect(waiting?.spec).toMatchObject({ nodeGroup: 'ng', instanceId: instance });
    await life.driver.advance(minutes(3));
    const call = { InstanceId: instance, ShouldDecrementDesiredCapacity: false };
    expect(terminations(life)).toEqual([call]);
    await life.until('the group is whole again', () => life.isActive(2), minutes(15));
    await life.until('it is told', () => repairsOf(life)[0]?.status?.phase === 'Succeeded', 60);
    expect(terminations(life)).toEqual([call]);
    expect(life.nodes().map((one) => JSON.stringify(one))).not.toContain(instance);
    expect(disruptionOf(life, instance)?.spec.causes[0]).toMatchObject({ kind: 'Repair' });
    expect(life.group()?.spec.scaling.desired).toBe(2);
    await life.end();
  }, 60_000);
});
