// Causes of an update in the embedded world, with the real controllers. A node is held, released,
// drained, kept until its load balancers deregister it, and terminated. The tests also interrupt
// each step.
import { describe, expect, it } from 'vitest';
import type { DisruptionCause } from '../../src/api/disruption.ts';
import { TerminationLife } from '../support/termination-world.ts';

const t0 = Date.parse('2026-01-01T00:00:00.000Z');
/** The time `seconds` after the current one. */
const inSeconds = (life: TerminationLife, seconds: number): string =>
  new Date(t0 + (life.seconds + seconds) * 1000).toISOString();

const held = (life: TerminationLife, more: Partial<DisruptionCause> = {}): DisruptionCause => ({
  kind: 'Update',
  id: 'update/u-1',
  receivedAt: inSeconds(life, 0),
  onDeadline: 'fail',
  followUp: 'Replace',
  hold: true,
  cooldownSeconds: 60,
  ...more,
});
/** Releases the hold with the same write as the update controller. */
const lift = (life: TerminationLife, cause: DisruptionCause, seconds = 900): DisruptionCause => {
  const free = { ...cause, hold: false, deadline: inSeconds(life, seconds) };
  life.cause(free);
  return free;
};
const secondsOf = (time: string | undefined): number => (Date.parse(time ?? '') - t0) / 1000;
const groupSize = (life: TerminationLife) => {
  const answer = life.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {});
  const groups = (answer as { readonly AutoScalingGroups: readonly Record<string, unknown>[] })
    .AutoScalingGroups;
  return groups.find(({ AutoScalingGroupName: name }) => String(name).startsWith('eks-demo-ng'))
    ?.DesiredCapacity;
};
/** `episode.reason`, taken from the names of the events. */
const events = (life: TerminationLife): readonly string[] =>
  life.writes('events').map(({ name }) => name.slice(name.indexOf('.') + 1));
/** Prefers demo-ng's node for every pod of `web`. */
const onDemoNode = {
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          preference: {
            matchExpressions: [
              { key: 'eks.amazonaws.com/nodegroup', operator: 'In', values: ['demo-ng'] },
            ],
          },
        },
      ],
    },
  },
};
const evictions = (life: TerminationLife) => life.writes('pods', 'eviction');
const noHook = 'nobody terminates the instance, so no hook opens and no message comes';
const byHand = {
  'hooks-never-run-out': noHook,
  'hooks-complete-when-empty': noHook,
  'foreign-hooks-left-alone': noHook,
  'messages-are-durable': noHook,
};
const nothingEvicted = 'the node keeps its pods';
const stillHeld = {
  ...byHand,
  'evictions-within-budgets': nothingEvicted,
  'nothing-forced-early': nothingEvicted,
  'marks-before-eviction': nothingEvicted,
  'evictions-sent-once': nothingEvicted,
  'only-drainable-pods': nothingEvicted,
};

describe('a node whose turn has not come', () => {
  it('is marked and keeps its pods for an hour, also through a restart, and is then uncordoned', async () => {
    const life = await TerminationLife.begin();
    const cause = held(life);
    life.cause(cause);
    await life.driver.advance(10);
    const before = life.podsOn();
    expect(life.nodeObject()).toMatchObject({ spec: { unschedulable: true } });
    expect(life.disruption()?.status).toMatchObject({
      phase: 'Draining',
      waitingOn: [{ kind: 'hold', by: 'update u-1' }],
    });
    await life.driver.advance(1800);
    life.kill();
    life.start();
    await life.driver.advance(1800);
    expect(life.podsOn()).toEqual(before);
    expect(evictions(life)).toEqual([]);
    life.cause({ ...cause, cancelledAt: inSeconds(life, 0) });
    await life.ended();
    expect(life.disruption()?.status?.outcome).toBe('Cancelled');
    expect(life.nodeObject()).not.toHaveProperty('spec.unschedulable');
    await life.end({ settled: true, exempt: stillHeld });
  });

  it('is drained at once when it is terminated besides, and nothing of its time is waited', async () => {
    const life = await TerminationLife.begin();
    life.cause(held(life));
    await life.driver.advance(60);
    life.terminate();
    await life.until(() => life.instanceState() === undefined);
    expect(evictions(life).length).toBeGreaterThan(0);
    const { status } = life.disruption() ?? {};
    expect(status).toMatchObject({ episode: 1, phase: 'Ended', outcome: 'Drained' });
    await life.end({ settled: true });
  });
});

describe('a node whose turn has come', () => {
  it.each([
    ['Replace', 1],
    ['Terminate', 0],
  ] as const)('%s: empty, 60 s, gone; its hook waits no second time', async (followUp, desired) => {
    const life = await TerminationLife.begin();
    const cause = held(life, { followUp });
    life.cause(cause);
    await life.driver.advance(30);
    lift(life, cause);
    const { driver } = life;
    await life.until(() => life.disruption()?.status?.phase === 'Completing');
    const drainedAt = secondsOf(life.disruption()?.status?.drainedAt);
    const until = new Date(t0 + (drainedAt + 60) * 1000).toISOString();
    expect(life.disruption()?.status?.waitingOn).toEqual([{ kind: 'cooldown', until }]);
    await driver.advance(30);
    life.kill();
    life.start();
    await life.until(() => life.instanceState() !== 'InService');
    const terminatedAt = life.seconds;
    expect(terminatedAt - drainedAt).toBeGreaterThanOrEqual(60);
    expect(terminatedAt - drainedAt).toBeLessThan(62);
    await life.until(() => life.instanceState() === undefined);
    expect(life.seconds - terminatedAt).toBeLessThan(15);
    expect(life.disruption()?.status).toMatchObject({ episode: 2, outcome: 'Drained' });
    expect(events(life)).toEqual(['1.nodemarked', '1.nodedrained']);
    expect(groupSize(life)).toBe(desired);
    await driver.advance(120);
    expect(life.nodesOf('demo-ng')).toHaveLength(desired);
    expect(life.nodesOf('demo-ng')).not.toContain(life.node);
    await life.end({ settled: true });
  });

  it('names pod, budget and owner when a budget keeps it for 15 minutes, and keeps its instance', async () => {
    const life = await TerminationLife.begin();
    life.deploy(1, onDemoNode);
    life.budget('web', { maxUnavailable: 0 });
    await life.driver.advance(30);
    const cause = held(life);
    life.cause(cause);
    await life.driver.advance(30);
    const free = lift(life, cause);
    await life.ended(1000);
    const [pod] = life.podsOn(life.node, 'web');
    const { status } = life.disruption() ?? {};
    expect(status).toMatchObject({
      outcome: 'Failed',
      waitingOn: [
        { kind: 'pdb', pod: `default/${pod}`, budgets: ['default/web'], neverAllows: true },
      ],
    });
    expect(status?.waitingOn?.[0]).toHaveProperty('owner');
    expect(secondsOf(status?.endedAt)).toBeGreaterThanOrEqual(secondsOf(free.deadline));
    await life.driver.advance(300);
    expect(life.instanceState()).toBe('InService');
    expect(life.nodeObject()).toMatchObject({ spec: { unschedulable: true } });
    life.cause({ ...free, cancelledAt: inSeconds(life, 0) });
    await life.until(() => life.disruption()?.status?.outcome === 'Cancelled');
    await life.ended();
    expect(life.nodeObject()).not.toHaveProperty('spec.unschedulable');
    expect(life.writes('pods').every(({ subresource }) => subresource === 'eviction')).toBe(true);
    await life.end({ settled: true, exempt: byHand });
  });

  it('loses no pod by force before 15 minutes, however long its grace', async () => {
    const life = await TerminationLife.begin();
    life.deploy(2, { ...onDemoNode, terminationGracePeriodSeconds: 600 });
    life.budget('web', { maxUnavailable: 0 });
    await life.driver.advance(30);
    const cause = held(life, { onDeadline: 'force' });
    life.cause(cause);
    await life.driver.advance(30);
    const forceFrom = inSeconds(life, 900);
    life.cause({ ...cause, hold: false, forceFrom, deadline: inSeconds(life, 1200) });
    await life.until(() => life.disruption()?.status?.phase === 'Completing', 1300);
    const deletions = life.writes('pods').filter(({ verb }) => verb === 'delete');
    expect(deletions.length).toBeGreaterThan(0);
    const first = Math.min(...deletions.map(({ seconds }) => seconds));
    expect(first).toBeGreaterThanOrEqual(secondsOf(forceFrom));
    expect(first).toBeLessThan(secondsOf(forceFrom) + 2);
    await life.until(() => life.instanceState() === undefined, 200);
    await life.end({ settled: true });
  });
});

describe('a node that is uncordoned at once', () => {
  it.each(['eks', 'native'] as const)(
    'keeps no mark of %s where the watch is late and no answer came',
    async (compat) => {
      const life = await TerminationLife.begin({ tuning: { compat } });
      await life.driver.advance(30);
      life.faults = {
        kubeCall: ({ verb, resource }) =>
          verb === 'patch' && resource === 'nodes' ? { kind: 'lost' } : { kind: 'ok' },
        watchFrame: (resource) => ({
          lagMicros: resource === 'nodes' ? 15_000_000 : 0,
          breaks: false,
        }),
      };
      const asked = { kind: 'Manual', id: 'manual/1', receivedAt: '2026-01-01T00:00:30Z' } as const;
      const cause = { ...asked, onDeadline: 'fail', followUp: 'Release' } as const;
      life.cause(cause);
      await life.driver.advance(3);
      const marks = () =>
        JSON.stringify(life.nodeObject()).match(/exclude-from|unschedulable":true/g);
      expect(marks()).not.toBeNull();
      life.cause({ ...cause, cancelledAt: '2026-01-01T00:00:33Z' });
      await life.driver.advance(3);
      life.faults = {};
      await life.ended(120);
      expect(marks()).toBeNull();
      await life.end({ exempt: stillHeld });
    },
  );
});
