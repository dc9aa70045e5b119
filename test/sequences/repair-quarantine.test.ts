// Quarantine in the embedded world: a sick node is drained, leaves its group for a new one, stays
// for inspection, and is terminated at the time limit or with its group.
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import {
  instanceOf,
  minutes,
  nodeName,
  repaired,
  repairsOf,
  requestRepair,
  setCondition,
  terminations,
} from '../support/repair-world.ts';

const own = {
  rules: [{ condition: 'KernelReady', waitSeconds: 60, actions: ['Quarantine'] }],
  quarantine: { timeLimitSeconds: 7200 },
};
const broken = { type: 'KernelReady', status: 'False', reason: 'ForkFailedOutOfPIDs' };

const quarantined = async (pods = 4) => {
  const life = await repaired(2, { own });
  if (pods > 0) life.deploy(pods, 1);
  await life.driver.advance(60);
  const node = nodeName(life, 0);
  const instance = instanceOf(life, node);
  setCondition(life, node, broken);
  const phase = () => repairsOf(life)[0]?.status?.phase;
  await life.until('it is in quarantine', () => phase() === 'Quarantined', minutes(30));
  const calls = (operation: string) => life.calls.filter((call) => call.operation === operation);
  const ended = () => calls('TerminateInstances').map(({ input }) => input);
  const isThere = () => life.nodes().some((one) => objectOr(one.metadata).name === node);
  return { life, node, instance, phase, calls, ended, isThere };
};

describe('a node in quarantine', () => {
  it('leaves its group with a replacement, stays cordoned, and ends at the limit', async () => {
    const { life, node, instance, phase, calls, ended, isThere } = await quarantined();
    const detached = calls('DetachInstances').map(({ input }) => input);
    expect(detached).toMatchObject([
      { InstanceIds: [instance], ShouldDecrementDesiredCapacity: false },
    ]);
    await life.until('the group is whole', () => life.isActive(2), minutes(15));
    expect(JSON.stringify(life.autoScalingGroups())).not.toContain(instance);
    const kept = life.nodes().find((one) => objectOr(one.metadata).name === node);
    expect(objectOr(kept?.spec).unschedulable).toBe(true);

    // One is the limit: the next sick node is replaced.
    const other = life.nodes().find((one) => objectOr(one.metadata).name !== node);
    setCondition(life, String(objectOr(other?.metadata).name), broken);
    await life.until('it is replaced', () => terminations(life).length === 1, minutes(40));
    expect(calls('DetachInstances')).toHaveLength(1);

    await life.driver.advance(minutes(60));
    expect(ended()).toEqual([]);
    expect(isThere()).toBe(true);
    await life.until('its limit has passed', () => phase() === 'Succeeded', minutes(70));
    expect(ended()).toEqual([{ InstanceIds: [instance] }]);
    await life.until('its Node is gone', () => !isThere(), minutes(10));
    expect(life.group()?.spec.scaling.desired).toBe(2);
    await life.end();
  }, 60_000);

  it('is there because an operator asked, and is left alone where that is impossible', async () => {
    const life = await repaired(2);
    const [first, second] = [nodeName(life, 0), nodeName(life, 1)];
    const [asked, other] = [instanceOf(life, first), instanceOf(life, second)];
    const phaseOf = (id: string) =>
      repairsOf(life).find(({ spec }) => spec.instanceId === id)?.status;
    requestRepair(life, first, 'Quarantine');
    await life.until(
      'it is in quarantine',
      () => phaseOf(asked)?.phase === 'Quarantined',
      minutes(30),
    );
    await life.until('the group is whole', () => life.isActive(2), minutes(15));
    // The limit is one: the second is refused, and not terminated instead.
    requestRepair(life, second, 'Quarantine');
    await life.until(
      'the second is refused',
      () => phaseOf(other)?.phase === 'Cancelled',
      minutes(5),
    );
    expect(phaseOf(other)?.message).toContain('1 of 1 instances are in quarantine');
    await life.driver.advance(minutes(10));
    expect(terminations(life)).toEqual([]);
    expect(JSON.stringify(life.autoScalingGroups())).toContain(other);
    await life.end();
  }, 60_000);

  it('ends with its group', async () => {
    const { life, instance, ended } = await quarantined(0);
    await life.delete();
    await life.until('the group is gone', () => life.group() === undefined, minutes(60));
    await life.until('its Node is gone', () => life.nodes().length === 0, minutes(15));
    expect(ended()).toEqual([{ InstanceIds: [instance] }]);
    await life.end();
  }, 60_000);

  it('stays, cordoned, when its group is released', async () => {
    const { life, node, instance, ended, isThere } = await quarantined(0);
    life.patch({ spec: { deletionPolicy: 'Retain' } });
    life.user.delete(resourceTypes.nodegroups, { name: 'ng' });
    await life.until('the group is gone', () => life.group() === undefined, minutes(10));
    await life.driver.advance(minutes(30));
    expect(ended()).toEqual([]);
    expect(isThere()).toBe(true);
    const kept = life.nodes().find((one) => objectOr(one.metadata).name === node);
    expect(objectOr(kept?.spec).unschedulable).toBe(true);

    // A NodeDisruption alone does not make Drover terminate an instance of the account.
    const cause = {
      kind: 'Repair',
      id: 'forged',
      receivedAt: '2030-01-01T00:00:00Z',
      onDeadline: 'force',
      followUp: 'Terminate',
      isDetached: true,
    };
    life.user.patch(
      resourceTypes.nodedisruptions,
      { name: instance },
      {
        type: 'merge',
        body: { spec: { causes: [cause] } },
      },
    );
    await life.driver.advance(minutes(10));
    expect(ended()).toEqual([]);
    await life.end();
  }, 60_000);

  it('is terminated once, whatever dies at the limit', async () => {
    const { life, ended, phase } = await quarantined();
    await life.driver.advance(minutes(110));
    life.killFor(minutes(30));
    await life.until('its limit has passed', () => phase() === 'Succeeded', minutes(90));
    expect(ended()).toHaveLength(1);
    await life.end();
  }, 60_000);
});
