// Leader election between processes that share a Lease, in virtual time.
import { describe, expect, it } from 'vitest';
import { CollectingLog, TestRandom, VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../api/kube.ts';
import { aborted, sleepOrAbort } from './abort.ts';
import { LeaderElector, type Term } from './leader.ts';

const lease = { namespace: 'kube-system', name: 'drover' };

const setUp = () => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const log: string[] = [];
  const candidate = (identity: string, ownKube = kube, ownClock = clock) => {
    const stop = new AbortController();
    const random = new TestRandom(identity.length);
    const elector = new LeaderElector({
      kube: ownKube,
      clock: ownClock,
      random,
      log: new CollectingLog(),
      ...lease,
      identity,
    });
    const terms: Term[] = [];
    const running = elector.run(async (term, signal) => {
      terms.push(term);
      log.push(`${identity} leads`);
      while (await sleepOrAbort(ownClock, 1_000, signal));
      log.push(`${identity} stops`);
    }, stop.signal);
    return { elector, stop, running, terms };
  };
  return { clock, kube, log, candidate };
};

describe('leader election', () => {
  it('has one leader, whose lease is renewed', async () => {
    const { clock, kube, log, candidate } = setUp();
    const a = candidate('a');
    const b = candidate('bb');
    await clock.advance(120_000);
    expect(log).toEqual(['a leads']);
    expect([a.elector.isLeader(), b.elector.isLeader()]).toEqual([true, false]);
    expect(kube.peek(resourceTypes.leases, lease)?.spec).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      leaseTransitions: expect.any(Number),
      renewTime: expect.stringMatching(/\.\d{6}Z$/),
    });
  });

  it('hands over at once on shutdown, after the work has stopped', async () => {
    const { clock, log, candidate } = setUp();
    const a = candidate('a');
    await clock.settle();
    const b = candidate('bb');
    await clock.advance(10_000);
    a.stop.abort(new Error('bye'));
    await a.running;
    await clock.advance(3_000);
    expect(log).toEqual(['a leads', 'a stops', 'bb leads']);
    expect(a.elector.isLeader()).toBe(false);
    const [first] = a.terms;
    expect(b.terms).toEqual([{ epoch: (first?.epoch ?? 0) + 1 }]);
  });

  it('is no leader once its renewals fail for ten seconds, before the lease runs out', async () => {
    const { clock, kube, log, candidate } = setUp();
    const a = candidate('a');
    await clock.advance(5_000);
    kube.fail('get', 'Unreachable', { times: 1_000 });
    await clock.advance(8_000);
    expect(log).toEqual(['a leads']);
    await clock.advance(4_000);
    expect(a.elector.isLeader()).toBe(false);
    expect(log).toEqual(['a leads', 'a stops']);
    kube.heal();
    await clock.advance(20_000);
    expect(log.at(-1)).toBe('a leads');
    expect(a.terms).toHaveLength(2);
    expect(a.terms[1]).toEqual(a.terms[0]);
  });

  it('counts on from the time where a user deleted the Lease, so that no epoch comes again', async () => {
    const { clock, kube, candidate } = setUp();
    const a = candidate('a');
    await clock.settle();
    a.stop.abort(new Error('bye'));
    await a.running;
    const b = candidate('bb');
    await clock.advance(3_000);
    b.stop.abort(new Error('bye'));
    await b.running;
    await kube.delete(resourceTypes.leases, lease);
    const c = candidate('c');
    await clock.settle();
    const [before, after] = [b.terms[0]?.epoch ?? 0, c.terms[0]?.epoch ?? 0];
    expect(before).toBeGreaterThan(a.terms[0]?.epoch ?? Number.POSITIVE_INFINITY);
    expect(after).toBeGreaterThan(before);
  });

  it('waits for a dead leader’s lease to run out, then leads with a higher epoch', async () => {
    const { clock, kube, log, candidate } = setUp();
    kube.put(resourceTypes.leases, {
      ...lease,
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, leaseTransitions: 6 },
    });
    const a = candidate('a');
    await clock.advance(14_000);
    expect(log).toEqual([]);
    await clock.advance(5_000);
    expect(log).toEqual(['a leads']);
    expect(a.terms).toEqual([{ epoch: 7 }]);
  });

  it('has one winner when two see the lease run out at the same moment', async () => {
    const { clock, kube, log } = setUp();
    kube.put(resourceTypes.leases, { ...lease, spec: { holderIdentity: '' } });
    for (const identity of ['x', 'y']) {
      const random = new TestRandom();
      const elector = new LeaderElector({
        kube,
        clock,
        random,
        log: new CollectingLog(),
        ...lease,
        identity,
      });
      void elector.run(async (_, signal) => {
        log.push(identity);
        await aborted(signal);
      }, new AbortController().signal);
    }
    await clock.advance(5_000);
    expect(log).toHaveLength(1);
  });

  it.each([
    ['a pause', 11_000],
    ['a clock that was set back', -60_000],
  ])('does not trust itself after %s', async (_, jump) => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    await clock.advance(5_000);
    expect(a.elector.isLeader()).toBe(true);
    clock.jump(jump);
    expect(a.elector.isLeader()).toBe(false);
  });

  it('loses against another who took the lease meanwhile', async () => {
    const { clock, kube, log, candidate } = setUp();
    const a = candidate('a');
    await clock.advance(5_000);
    kube.put(resourceTypes.leases, {
      ...lease,
      spec: { holderIdentity: 'x', leaseDurationSeconds: 15, leaseTransitions: 2 },
    });
    await clock.advance(4_000);
    expect(log).toEqual(['a leads', 'a stops']);
    expect(a.elector.isLeader()).toBe(false);
  });

  it('ends and releases when the work fails, with the work’s error', async () => {
    const { clock, kube } = setUp();
    const random = new TestRandom();
    const log = new CollectingLog();
    const elector = new LeaderElector({ kube, clock, random, log, ...lease, identity: 'a' });
    const running = elector.run(async () => {
      throw new Error('work broke');
    }, new AbortController().signal);
    await expect(running).rejects.toThrow('work broke');
    const spec = kube.peek(resourceTypes.leases, lease)?.spec;
    expect(spec).toMatchObject({ holderIdentity: '' });
  });
});
