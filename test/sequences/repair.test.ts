// Node repair in the embedded world and in virtual time: when and how a node is replaced, and what
// prevents its replacement.
import { describe, expect, it } from 'vitest';
import {
  disruptionOf,
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

describe('a wait', () => {
  it('is neither begun again nor skipped by a restart of the controller', async () => {
    const life = await repaired(2);
    stopKubelet(life, nodeName(life, 0));
    await life.driver.advance(minutes(20));
    life.killFor(minutes(5));
    await life.driver.advance(minutes(9));
    expect(terminations(life)).toEqual([]);
    await life.driver.advance(minutes(4));
    expect(terminations(life)).toHaveLength(1);
    expect(repairsOf(life)).toHaveLength(1);
    await life.end();
  }, 60_000);

  it('ends when the node recovers, and nothing is terminated', async () => {
    const life = await repaired(2);
    stopKubelet(life, nodeName(life, 0));
    await life.driver.advance(minutes(20));
    life.world.faults.clear();
    await life.driver.advance(minutes(30));
    expect(terminations(life)).toEqual([]);
    expect(repairsOf(life)[0]?.status?.phase).toBe('Cancelled');
    await life.end();
  }, 60_000);
});

describe('a node whose kubelet lives', () => {
  it('is drained within its budgets before it is replaced for its kernel', async () => {
    const life = await repaired(2);
    life.deploy(4, 1);
    await life.driver.advance(60);
    const node = nodeName(life, 0);
    const instance = instanceOf(life, node);
    setCondition(life, node, {
      type: 'KernelReady',
      status: 'False',
      reason: 'ForkFailedOutOfPIDs',
    });
    await life.until('it is terminated', () => terminations(life).length === 1, minutes(40));
    expect(disruptionOf(life, instance)?.status).toMatchObject({ outcome: 'Drained' });
    await life.until('the group is whole again', () => life.isActive(2), minutes(20));
    expect(life.runningPods('web')).toBe(4);
    await life.end();
  }, 60_000);

  it('is rebooted where a rule says so, and serves again with another boot id', async () => {
    const rules = [{ condition: 'KernelReady', waitSeconds: 60, actions: ['Reboot', 'Replace'] }];
    const life = await repaired(2, { own: { rules } });
    const node = nodeName(life, 0);
    const bootId = () => {
      const one = life.nodes().find(({ metadata }) => JSON.stringify(metadata).includes(node));
      return JSON.stringify(one).match(/"bootID":"([^"]+)"/)?.[1];
    };
    const before = bootId();
    setCondition(life, node, { type: 'KernelReady', status: 'False', reason: 'KernelBug' });
    await life.until('it has rebooted', () => bootId() !== before, minutes(15));
    setCondition(life, node, { type: 'KernelReady', status: 'True', reason: 'KernelReady' });
    const succeeded = () => repairsOf(life)[0]?.status?.phase === 'Succeeded';
    await life.until('the repair has succeeded', succeeded, minutes(15));
    expect(life.called('RebootInstances')).toBe(1);
    expect(terminations(life)).toEqual([]);
    await life.until('the node serves again', () => life.isActive(2), minutes(5));
    await life.end();
  }, 60_000);
});

describe("EC2's status checks", () => {
  it.each(['instance', 'system'] as const)(
    'replace an instance whose %s check fails for 30 minutes',
    async (check) => {
      const life = await repaired(2);
      const node = nodeName(life, 0);
      const instance = instanceOf(life, node);
      life.world.faults.inject(`${check}-impaired`, { node });
      await life.driver.advance(minutes(29));
      expect(terminations(life)).toEqual([]);
      const condition = check === 'instance' ? 'InstanceStatus' : 'SystemStatus';
      expect(repairsOf(life)[0]?.spec).toMatchObject({ condition, reason: 'Impaired' });
      await life.until('it is terminated', () => terminations(life).length === 1, minutes(5));
      expect(terminations(life)[0]?.InstanceId).toBe(instance);
      await life.until('the group is whole again', () => life.isActive(2), minutes(20));
      await life.end();
    },
    60_000,
  );

  it('lead to nothing when they pass again', async () => {
    const life = await repaired(2);
    life.world.faults.inject('system-impaired', { node: nodeName(life, 0) });
    await life.driver.advance(minutes(20));
    life.world.faults.clear();
    await life.driver.advance(minutes(20));
    expect(terminations(life)).toEqual([]);
    expect(repairsOf(life)[0]?.status?.phase).toBe('Cancelled');
    await life.end();
  }, 60_000);
});

describe('a repair by hand', () => {
  it('replaces a healthy node of a group that repairs nothing by itself', async () => {
    const life = await repaired(2, { config: { enabled: false } });
    const node = nodeName(life, 0);
    const instance = instanceOf(life, node);
    requestRepair(life, node, 'Replace');
    await life.until('it is terminated', () => terminations(life).length === 1, minutes(5));
    const call = { InstanceId: instance, ShouldDecrementDesiredCapacity: false };
    expect(terminations(life)).toEqual([call]);
    const succeeded = () => repairsOf(life)[0]?.status?.phase === 'Succeeded';
    await life.until('the repair has succeeded', succeeded, minutes(15));
    expect(disruptionOf(life, instance)?.spec.causes[0]?.requestedBy).toBe('an operator');
    await life.end();
  }, 60_000);

  it('reboots once, and replaces nothing when that does not help', async () => {
    const life = await repaired(2);
    const node = nodeName(life, 0);
    requestRepair(life, node, 'Reboot');
    await life.until('it has rebooted', () => life.called('RebootInstances') === 1, minutes(5));
    stopKubelet(life, node);
    const failed = () => repairsOf(life)[0]?.status?.phase === 'Failed';
    await life.until('the repair has failed', failed, minutes(20));
    expect(terminations(life)).toEqual([]);
    await life.end();
  }, 60_000);
});

describe('an instance without a node', () => {
  it('whose Node object was deleted is replaced after a minute', async () => {
    const life = await repaired(2);
    const node = nodeName(life, 0);
    const instance = instanceOf(life, node);
    life.user.delete({ group: '', resource: 'nodes' }, { name: node });
    await life.until('it is terminated', () => terminations(life).length === 1, minutes(10));
    expect(terminations(life)[0]?.InstanceId).toBe(instance);
    expect(repairsOf(life)[0]?.spec.reason).toBe('NodeDeleted');
    await life.until('the group is whole again', () => life.isActive(2), minutes(20));
    await life.end();
  }, 60_000);
});
