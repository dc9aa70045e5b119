// The number of an update's requests while it waits. It does not list pods before anything can have
// changed, and does not describe instances unless some start or terminate.
import { describe, expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';
import { askFor, latest, makeGroup, newest, runApp, untilOver } from '../support/update-world.ts';

const lists = new Set(['pods', 'poddisruptionbudgets']);

describe('an update that waits', () => {
  it('for the gate looks at pods now and then, not every other second', async () => {
    const life = await GroupLife.begin();
    let listed = 0;
    life.faults.kubeCall = ({ verb, resource }) => {
      if (verb === 'list' && lists.has(resource)) listed += 1;
      return { kind: 'ok' };
    };
    await makeGroup(life, { desired: 4, maxSize: 9 });
    life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE', maxUnavailable: 2 } } });
    // Two nodes together would exceed the drain timeout, so the gate does not release the second.
    await runApp(life, 40, 1);
    life.patch({ spec: { drain: { timeoutSeconds: 200 } } });
    askFor(life, newest);
    const draining = (): number => latest(life)?.status?.progress?.draining ?? 0;
    await life.until('the first drain', () => draining() === 1, 3600);
    await life.driver.advance(5);
    const [before, since] = [listed, life.seconds];
    const activities = life.called('DescribeScalingActivities');
    await life.until('the second drain', () => draining() !== 1, 3600);
    expect(life.seconds - since).toBeGreaterThan(20);
    // The drain and the gate list pods; a list for each of four nodes every 2 s would exceed 2.
    expect((listed - before) / (life.seconds - since)).toBeLessThan(1);
    // Few instances started or terminated, so few scaling activities had to be read.
    const asked = life.called('DescribeScalingActivities') - activities;
    expect(asked).toBeLessThan(8);
    await life.end();
  });

  it('for a cooldown asks the cloud as often as when nothing is updated', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 2 });
    life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE' } } });
    askFor(life, newest);
    const isCooling = (): boolean =>
      [...life.world.kube.readAll({ group: 'drover.dev', resource: 'nodedisruptions' })].some(
        ({ status }) => JSON.stringify(status ?? {}).includes('"cooldown"'),
      );
    await life.until('a cooldown', isCooling, 3600);
    await life.driver.advance(8);
    const before = life.called('DescribeAutoScalingGroups');
    await life.driver.advance(45);
    expect(isCooling()).toBe(true);
    expect(life.called('DescribeAutoScalingGroups') - before).toBeLessThan(10);
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Successful');
    await life.end();
  });

  it('for a surplus to leave does not ask for the same size again and again', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 2, maxSize: 2, zones: 3 });
    askFor(life, newest);
    const phase = () => latest(life)?.status?.phase;
    await life.until('the surplus goes', () => phase() === 'ScalingDown', 7200);
    const before = life.called('UpdateAutoScalingGroup');
    await untilOver(life);
    // Six nodes are terminated one at a time: each needs one change of size and maximum.
    expect(life.called('UpdateAutoScalingGroup') - before).toBeLessThanOrEqual(6 * 2);
    expect(latest(life)?.status?.status).toBe('Successful');
    await life.end();
  });
});
