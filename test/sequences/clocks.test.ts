// A drain that one process starts and another one ends, with clocks that differ by minutes.
// Deadlines are written and compared in the API server's time: nothing is forced early, and no hook
// times out.
import { describe, expect, it } from 'vitest';
import { TerminationLife } from '../support/termination-world.ts';

const minutes = (count: number): number => count * 60_000;

describe('a leader whose clock is minutes off its predecessor’s', () => {
  it.each([
    { name: 'behind, then ahead', first: -5, second: 5 },
    { name: 'ahead, then behind', first: 5, second: -5 },
  ])('forces at the deadline that was written: $name', async ({ first, second }) => {
    const life = await TerminationLife.begin({ clockSkewMs: minutes(first) });
    life.deploy(3);
    life.budget('web', { minAvailable: 3 });
    await life.driver.advance(40);
    const before = life.seconds;
    life.terminate();
    await life.until(() => life.disruption()?.status?.phase === 'Draining');
    await life.driver.advance(60);
    life.kill();
    life.start(minutes(second));
    await life.until(() => life.disruption()?.status?.forcingSince !== undefined, 1200);
    // 15 minutes less the pod's grace of 30 s and the safety of 10 s.
    const forced = life.seconds - before;
    expect(forced).toBeGreaterThan(855);
    expect(forced).toBeLessThan(865);
    await life.ended();
    expect(life.disruption()?.status?.hooks).toMatchObject([{ state: 'Completed' }]);
    await life.end();
  });

  it('keeps a short hook alive', async () => {
    const life = await TerminationLife.begin({ clockSkewMs: minutes(5) });
    life.deploy(3);
    life.budget('web', { minAvailable: 3 });
    life.hookTimeout(60);
    await life.driver.advance(40);
    life.terminate();
    await life.until(() => life.disruption()?.status?.phase === 'Draining');
    await life.driver.advance(30);
    life.kill();
    life.start(minutes(-5));
    await life.driver.advance(300);
    expect(life.instanceState()).toBe('Terminating:Wait');
    await life.ended(1200);
    expect(life.disruption()?.status?.hooks).toMatchObject([{ state: 'Completed' }]);
    await life.end();
  });
});
