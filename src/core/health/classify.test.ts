// The health of one instance, as a table.
import { describe, expect, it } from 'vitest';
import { aMember, atMinute, bad } from '../../../test/builders/core-repair.ts';
import { healthOf } from './index.ts';

const state = (...conditions: Parameters<typeof bad>[1][]) => {
  const { health } = aMember(1, 10, {
    conditions: conditions.map((one) => bad(0, { ...one })),
  });
  return [
    health.state,
    ...health.findings.map(({ condition, reason }) => `${condition} ${reason}`),
  ];
};

describe('the health of a node', () => {
  it.each([
    ['Healthy, every condition good', [], ['Healthy']],
    ['Unhealthy, its kubelet silent', [{}], ['Unhealthy', 'Ready NodeStatusUnknown']],
    [
      'Unhealthy, its kernel broken while its kubelet is Ready',
      [{ type: 'KernelReady', status: 'False' as const, reason: 'ForkFailedOutOfPIDs' }],
      ['Unhealthy', 'KernelReady ForkFailedOutOfPIDs'],
    ],
    [
      'Healthy, a condition of the agent Unknown',
      [{ type: 'KernelReady', status: 'Unknown' as const, reason: 'r' }],
      ['Healthy'],
    ],
    [
      'Pressure, its disk full: never repaired',
      [{ type: 'DiskPressure', status: 'True' as const, reason: 'KubeletHasDiskPressure' }],
      ['Pressure', 'DiskPressure KubeletHasDiskPressure'],
    ],
    [
      'Healthy, a condition that no rule names is False',
      [{ type: 'FrequentThing', status: 'False' as const, reason: 'r' }],
      ['Healthy'],
    ],
  ])('is %s', (_, conditions, expected) => {
    expect(state(...conditions)).toEqual(expected);
  });

  it('does not rest on an agent that is silent', () => {
    const condition = { type: 'KernelReady', status: 'False', reason: 'r' } as const;
    const heartbeat = (minute: number) => new Date(atMinute(minute)).toISOString();
    const of = (lastHeartbeatTime: string) =>
      aMember(1, 20, { conditions: [bad(0, { ...condition, lastHeartbeatTime })] }).health.state;
    expect(of(heartbeat(6))).toBe('Unhealthy');
    expect(of(heartbeat(4))).toBe('Healthy');
  });

  it('counts no time of the future, and none from before the node', () => {
    const future = aMember(1, 10, { conditions: [bad(60)] }).health;
    expect(future.since).toBe(atMinute(10));
    const past = aMember(1, 100, { created: 50, conditions: [bad(0)] }).health;
    expect(past.since).toBe(atMinute(50));
  });

  it('is Joining while it starts, and Unhealthy when it does not become Ready in time', () => {
    const of = (m: number) =>
      aMember(1, m, {
        created: 0,
        conditions: [bad(0, { status: 'False', reason: 'KubeletNotReady' })],
      }).health.state;
    expect(of(14)).toBe('Joining');
    expect(of(15)).toBe('Unhealthy');
  });

  it('of an instance without a node is Joining, then NeverJoined; deleted at once NodeDeleted', () => {
    const of = (m: number, more: object = {}) => {
      const { state: word, findings } = healthOf({
        node: undefined,
        launchedAt: atMinute(0),
        now: atMinute(m),
        ...more,
      });
      return [word, findings[0]?.reason];
    };
    expect(of(14)).toEqual(['Joining', undefined]);
    expect(of(15)).toEqual(['Unhealthy', 'NeverJoined']);
    expect(of(15, { startupTimeoutMs: 0 })).toEqual(['Joining', undefined]);
    expect(of(5, { missedSince: atMinute(5) })).toEqual(['Unhealthy', 'NodeDeleted']);
  });

  it("follows EC2's status checks", () => {
    const { node } = aMember(1, 10);
    const impaired = [{ check: 'system', since: atMinute(2) }] as const;
    const health = healthOf({ node, impaired, now: atMinute(10) });
    expect(health).toMatchObject({ state: 'Unhealthy', since: atMinute(2) });
    expect(health.findings[0]).toMatchObject({ condition: 'SystemStatus', reason: 'Impaired' });
  });
});
