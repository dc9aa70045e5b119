// A lifecycle hook until its end: heartbeats until Auto Scaling confirms its completion, and the
// reported state of a hook that Drover did not complete.
import { describe, expect, it } from 'vitest';
import { explainDisruption } from '../../src/core/explain/index.ts';
import { TerminationLife } from '../support/termination-world.ts';

const explained = (life: TerminationLife): string => {
  const disruption = life.disruption();
  return disruption === undefined ? '' : explainDisruption(disruption).join('\n');
};
/** `episode.reason` of each event. */
const events = (life: TerminationLife): readonly string[] =>
  life.writes('events').map(({ name }) => name.slice(name.indexOf('.') + 1));
const terminating = async (): Promise<TerminationLife> => {
  const life = await TerminationLife.begin();
  life.hookTimeout(60);
  await life.driver.advance(40);
  life.terminate();
  await life.until(() => life.disruption()?.status?.phase === 'Draining');
  return life;
};

describe('a hook whose completion is refused', () => {
  it('is kept by heartbeats in Completing until the call goes through', async () => {
    const life = await terminating();
    life.faults.cloudCall = (operation) =>
      operation === 'CompleteLifecycleAction'
        ? { kind: 'refused', code: 'ServerError' }
        : { kind: 'ok' };
    await life.until(() => life.disruption()?.status?.phase === 'Completing');
    await life.driver.advance(300);
    expect(life.instanceState()).toBe('Terminating:Wait');
    life.faults = {};
    await life.ended();
    expect(life.disruption()?.status?.hooks).toMatchObject([{ state: 'Completed' }]);
    await life.until(() => life.instanceState() === undefined);
    await life.end();
  });
});

describe('a hook that ends without us', () => {
  it('is shown as timed out where no heartbeat came through', async () => {
    const life = await terminating();
    life.faults.cloudCall = () => ({ kind: 'refused', code: 'ServerError' });
    await life.driver.advance(90);
    life.faults = {};
    await life.ended();
    expect(life.disruption()?.status?.hooks).toMatchObject([{ state: 'Expired' }]);
    expect(explained(life)).toContain('ended by Auto Scaling: it timed out');
    const message = 'empty; hook Terminate-LC-Hook had timed out';
    expect(life.disruption()?.status).toMatchObject({ outcome: 'Drained', message });
    const refused = 'the cloud refuses every call until the hook has ended';
    await life.end({ exempt: { 'hooks-complete-when-empty': refused } });
  });

  it('is shown as ended while its pods still leave, where another caller completed it', async () => {
    const life = await TerminationLife.begin();
    life.deploy(3);
    life.budget('web', { minAvailable: 3 });
    life.hookTimeout(60);
    life.hookTimeout(3600, 'another');
    await life.driver.advance(40);
    life.terminate();
    await life.until(() => life.disruption()?.status?.phase === 'Draining');
    await life.driver.advance(5);
    life.completeHook();
    await life.until(() => life.disruption()?.status?.hooks?.[0]?.state === 'Gone', 60);
    expect(life.disruption()?.status?.phase).toBe('Draining');
    expect(explained(life)).toContain('ended: Auto Scaling no longer waits in it');
    expect(events(life)).toContain('1.hookended');
    life.completeHook('another');
    await life.ended();
    const message = 'the instance is gone; hook Terminate-LC-Hook had ended';
    expect(life.disruption()?.status).toMatchObject({ outcome: 'InstanceGone', message });
    const others = 'other callers complete both hooks';
    await life.end({ exempt: { 'hooks-complete-when-empty': others } });
  });
});

describe('a hook of which a forged message names a token', () => {
  it('is kept and completed nevertheless', async () => {
    const life = await TerminationLife.begin();
    life.deploy(3);
    life.budget('web', { minAvailable: 3 });
    life.drainPolicy({ timeoutSeconds: 400 });
    life.hookTimeout(60);
    await life.driver.advance(40);
    life.world.faults.inject('message-loss', {});
    life.terminate();
    await life.driver.advance(1);
    life.world.faults.clear();
    life.forgedHookNotice('forged');
    await life.until(() => life.disruption()?.status?.phase === 'Draining');
    await life.driver.advance(300);
    expect(life.instanceState()).toBe('Terminating:Wait');
    expect(life.disruption()?.status).toMatchObject({ phase: 'Draining' });
    await life.ended();
    expect(life.disruption()?.status?.hooks).toMatchObject([{ state: 'Completed' }]);
    await life.until(() => life.instanceState() === undefined);
    await life.end();
  });
});
