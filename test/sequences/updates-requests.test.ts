// What an update costs others while it waits: pods are not listed again before something can have
// changed, and the cloud is not asked about instances that neither come nor go.
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
    // Two nodes together would take longer than a drain may: the second is not let through the
    // gate.
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
    // By the drain itself and by the gate; one for each of four nodes every 2 s would be more than
    // 2.
    expect((listed - before) / (life.seconds - since)).toBeLessThan(1);
    // Little was started or ended meanwhile: what there is to tell of room has been told.
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
    // Six nodes go one at a time: for each a size and a maximum, once.
    expect(life.called('UpdateAutoScalingGroup') - before).toBeLessThanOrEqual(6 * 2);
    expect(latest(life)?.status?.status).toBe('Successful');
    await life.end();
  });
});
