// What a drain waits for before it evicts a pod, and how it spaces forced deletions, by the drain
// policy of the group, in the embedded world.
import { describe, expect, it } from 'vitest';
import { explainDisruption } from '../../src/core/explain/index.ts';
import { type Audited, TerminationLife } from '../support/termination-world.ts';

const begin = () => TerminationLife.begin();
const guarded = { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } };
const explained = (life: TerminationLife): string => {
  const disruption = life.disruption();
  return disruption === undefined ? '' : explainDisruption(disruption).join('\n');
};
const removals = (life: TerminationLife, prefix: string): readonly Audited[] =>
  life.writes('pods').filter(({ name, verb, subresource }) => {
    const removes = verb === 'delete' || (verb === 'create' && subresource === 'eviction');
    return removes && name.startsWith(prefix);
  });
const startOf = (life: TerminationLife): number =>
  Math.round(life.writes('nodes')[0]?.seconds ?? Number.NaN);
/** Seconds from the first mark to each removal. */
const times = (life: TerminationLife, prefix: string): readonly number[] =>
  removals(life, prefix).map(({ seconds }) => Math.round(seconds) - startOf(life));
const jobOn = (life: TerminationLife, seconds: number) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'work' },
  spec: {
    backoffLimit: 0,
    template: {
      metadata: { annotations: { 'world.drover.dev/run-seconds': String(seconds) } },
      spec: {
        restartPolicy: 'Never',
        nodeSelector: { 'kubernetes.io/hostname': life.node },
        containers: [{ name: 'main', image: 'example/work:1' }],
      },
    },
  },
});

describe('pods that a drain waits for', () => {
  it('by their annotation: for half of the time, named, then evicted', async () => {
    const life = await begin();
    life.pod('guarded', guarded);
    life.pod('plain');
    await life.driver.advance(20);
    life.terminate();
    await life.driver.advance(60);
    expect(times(life, 'plain')).toEqual([0]);
    expect(explained(life)).toMatch(
      /pod default\/guarded has karpenter.sh\/do-not-disrupt=true; it is evicted at .* if it is still here; forced at/,
    );
    await life.ended(900);
    expect(times(life, 'guarded')).toEqual([450]);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    await life.end();
  });

  it('as long as the policy says, across a restart of the controller', async () => {
    const life = await begin();
    life.drainPolicy({ doNotEvict: { waitSeconds: 120 } });
    life.pod('guarded', guarded);
    await life.driver.advance(20);
    life.terminate();
    await life.driver.advance(100);
    life.kill();
    life.start();
    await life.ended(900);
    expect(times(life, 'guarded')).toEqual([120]);
    await life.end();
  });

  it('not when a spot interruption arrives: it is evicted at once', async () => {
    const life = await begin();
    life.pod('guarded', guarded);
    await life.driver.advance(20);
    life.terminate();
    await life.driver.advance(60);
    expect(times(life, 'guarded')).toEqual([]);
    const at = new Date(life.world.kernel.now() / 1000).toISOString();
    life.cause({
      kind: 'SpotInterruption',
      id: 'spot',
      receivedAt: at,
      onDeadline: 'force',
      followUp: 'Release',
      confirmation: { state: 'Confirmed', at, reason: 'EC2 says so' },
    });
    await life.driver.advance(5);
    expect(removals(life, 'guarded').map(({ verb }) => verb)).toEqual(['create']);
    await life.ended(300);
    await life.end();
  });

  it('of a Job that completes: it is never evicted', async () => {
    const life = await begin();
    life.create('batch', 'jobs', jobOn(life, 200));
    await life.driver.advance(20);
    life.terminate();
    await life.driver.advance(30);
    expect(explained(life)).toMatch(/pod default\/work-\w+ of Job\/work may complete/);
    await life.ended(900);
    expect(times(life, 'work')).toEqual([]);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    await life.end();
  });

  it('of a Job that does not: it is evicted after the wait of the policy', async () => {
    const life = await begin();
    life.drainPolicy({ jobs: { waitSeconds: 60 } });
    life.create('batch', 'jobs', jobOn(life, 2000));
    await life.driver.advance(20);
    life.terminate();
    await life.driver.advance(100);
    expect(times(life, 'work')[0]).toBe(60);
    await life.end({ settled: false });
  });
});

describe('the order and the pace of removals', () => {
  it('goes by tiers of priority, each when the former is empty or its wait is over', async () => {
    const life = await begin();
    life.drainPolicy({
      tiers: [{ priority: 0, waitSeconds: 60 }, { priority: 2_000_000_000 }],
    });
    life.pod('web', { labels: { app: 'web' } });
    life.pod('critical', {}, { priorityClassName: 'system-cluster-critical' });
    life.budget('web', { maxUnavailable: 0 });
    await life.driver.advance(20);
    life.terminate();
    await life.driver.advance(40);
    expect(times(life, 'critical')).toEqual([]);
    expect(explained(life)).toMatch(
      /pod default\/critical is system-critical and goes after \d other pods?, or from/,
    );
    await life.driver.advance(40);
    expect(times(life, 'critical')).toEqual([60]);
    await life.ended(900);
    await life.end();
  });

  it('forces the pods of a node one after another, the last before the deadline', async () => {
    const life = await begin();
    life.drainPolicy({ timeoutSeconds: 600, forceIntervalSeconds: 20 });
    for (const name of ['web-1', 'web-2', 'web-3']) life.pod(name, { labels: { app: 'web' } });
    life.budget('web', { maxUnavailable: 0 });
    await life.driver.advance(20);
    life.terminate();
    await life.ended(900);
    const forced = removals(life, 'web').filter(({ verb }) => verb === 'delete');
    const [a = 0, b = 0, c = 0] = forced.map(({ seconds }) => seconds);
    expect(forced).toHaveLength(3);
    expect([b - a, c - b].map(Math.round)).toEqual([20, 20]);
    expect(Math.round(c) - startOf(life)).toBeLessThanOrEqual(560);
    expect(life.disruption()?.status?.outcome).toBe('Forced');
    await life.end();
  });
});
