// Waiting for a drain: what is reported, once each, and when the wait ends.
import { describe, expect, it } from 'vitest';
import { aManualCause, anId, aPod, timePlus } from '../../../test/builders/core-termination.ts';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import type { NodeDisruptionStatus } from '../../api/disruption.ts';
import { resourceTypes } from '../../api/kube.ts';
import { DrainWait } from './wait.ts';

const setUp = (options: { readonly terminal?: boolean; readonly followUp?: 'Terminate' } = {}) => {
  const { followUp: wanted } = options;
  const followUp = wanted === undefined ? {} : { followUp: wanted };
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const told: string[] = [];
  const shown: string[] = [];
  const stop = new AbortController();
  const spec = { instanceId: anId, nodeName: 'n1', causes: [aManualCause(followUp)] };
  const status = (value: Partial<NodeDisruptionStatus> | undefined): void => {
    const seed = { name: anId, spec };
    kube.put(
      resourceTypes.nodedisruptions,
      value === undefined ? seed : { ...seed, status: { episode: 1, ...value } },
    );
  };
  status(undefined);
  const wait = new DrainWait(
    {
      kube,
      clock,
      signal: stop.signal,
      tell: (line) => told.push(line),
      progress: options.terminal === true ? (line) => shown.push(line) : undefined,
    },
    [{ name: anId, node: 'n1', causeId: 'manual/1' }],
  );
  return { clock, kube, told, shown, stop, status, wait };
};

const blocked: Partial<NodeDisruptionStatus> = {
  phase: 'Draining',
  podsTotal: 2,
  waitingOn: [
    {
      kind: 'pdb',
      pod: 'demo/p1',
      budgets: ['demo/b1'],
      message: 'm',
      neverAllows: false,
      since: timePlus(1),
    },
  ],
};

describe('DrainWait', () => {
  it('tells each change once and ends with the drain', async () => {
    const { clock, kube, told, status, wait } = setUp();
    const running = wait.run(undefined);
    await clock.advance(1500);
    status({ phase: 'Marking' });
    await clock.advance(1000);
    const { metadata, spec, status: podStatus } = aPod('p1');
    kube.put(resourceTypes.pods, { name: metadata.name, spec, status: podStatus });
    status(blocked);
    await clock.advance(5000);
    kube.remove(resourceTypes.pods, 'p1');
    status({ phase: 'Ended', outcome: 'Drained', message: 'empty', handledCauses: ['manual/1'] });
    await clock.advance(1000);
    expect((await running).how).toBe('ended');
    expect(told).toEqual([
      'n1: being excluded from load balancers and cordoned',
      'n1: excluded from load balancers and cordoned; pods are being evicted',
      'n1: 1 of 2 pods left',
      expect.stringMatching(/^n1: pod demo\/p1 waits for budget demo\/b1/),
      'n1: drained: empty',
    ]);
  });

  it('counts a pod that was told to stop as gone where its kubelet is dead', async () => {
    const { clock, kube, told, status, wait, stop } = setUp({ followUp: 'Terminate' });
    const conditions = [{ type: 'Ready', status: 'Unknown' }];
    kube.put(resourceTypes.nodes, { name: 'n1', spec: {}, status: { conditions } });
    for (const name of ['p1', 'p2']) {
      const { spec, status: podStatus } = aPod(name);
      kube.put(resourceTypes.pods, { name, spec, status: podStatus });
    }
    // Deleted at 0 s.
    const metadata = { deletionTimestamp: timePlus(600), deletionGracePeriodSeconds: 600 };
    const stopping = { type: 'merge', body: { metadata } } as const;
    await kube.patch(resourceTypes.pods, { name: 'p1' }, stopping);
    status({ phase: 'Draining', podsTotal: 2 });
    const running = wait.run(undefined);
    await clock.advance(40_000);
    stop.abort();
    await running;
    expect(told).toContain('n1: 1 of 2 pods left');
  });

  it('says once, after ten seconds, that no controller acts, and with what remedy', async () => {
    const { clock, told, wait, stop } = setUp();
    const running = wait.run(undefined);
    await clock.advance(9_000);
    expect(told).toEqual([]);
    await clock.advance(30_000);
    expect(told).toEqual([
      expect.stringMatching(/no controller has acted on n1.*drover controller/),
    ]);
    stop.abort();
    await running;
  });

  it('gives up when its own time is over', async () => {
    const { clock, wait, status } = setUp();
    status({ phase: 'Draining' });
    const running = wait.run(20_000);
    await clock.advance(25_000);
    const result = await running;
    expect(result.how).toBe('timedOut');
    expect(result.states.get(anId)?.kind).toBe('working');
  });

  it('ends at once on ^C', async () => {
    const { clock, wait, stop } = setUp();
    const running = wait.run(undefined);
    await clock.advance(300);
    stop.abort();
    await clock.settle();
    expect((await running).how).toBe('interrupted');
  });

  it('keeps asking while the server does not answer, and tells it once', async () => {
    const { clock, kube, told, wait, status } = setUp();
    kube.fail('get', 'Unreachable', { times: 5 });
    const running = wait.run(undefined);
    await clock.advance(4_000);
    status({ phase: 'Ended', outcome: 'Drained', handledCauses: ['manual/1'] });
    await clock.advance(5_000);
    expect((await running).how).toBe('ended');
    expect(told).toEqual([
      expect.stringMatching(/told to fail: Unreachable; the drain continues/),
      'n1: drained',
      'the API server answers again',
    ]);
  });

  it('throws what no waiting cures', async () => {
    const { kube, wait } = setUp();
    kube.fail('get', 'Forbidden');
    await expect(wait.run(undefined)).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('shows one line that is replaced on a terminal, and takes it away at the end', async () => {
    const { clock, shown, wait, status } = setUp({ terminal: true });
    status({ phase: 'Draining' });
    const running = wait.run(3_000);
    await clock.advance(4_000);
    await running;
    expect(shown).toEqual([
      expect.stringMatching(/^draining for 0s: n1/),
      expect.stringMatching(/^draining for 1s: n1/),
      expect.stringMatching(/^draining for 2s: n1/),
      '',
    ]);
  });
});
