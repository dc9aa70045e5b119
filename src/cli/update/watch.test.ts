// Watching an update: what is drawn, what is printed, when it ends and with which exit code.
import { describe, expect, it } from 'vitest';
import { aGroup, anUpdate, blocked, running } from '../../../test/builders/cli-update.ts';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { NodeGroupUpdateStatus } from '../../api/nodegroup-update.ts';
import { exitCodeOf, UpdateWatch } from './watch.ts';

const setUp = (size?: { readonly columns: number; readonly rows: number }) => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const told: string[] = [];
  const drawn: (readonly string[])[] = [];
  const stop = new AbortController();
  const status = (value: NodeGroupUpdateStatus | undefined): void => {
    const { spec } = anUpdate();
    const seed = { name: 'u1', spec };
    kube.put(
      resourceTypes.nodegroupupdates,
      value === undefined ? seed : { ...seed, status: value },
    );
  };
  const { spec } = aGroup();
  kube.put(resourceTypes.nodegroups, { name: 'ng', spec });
  status(undefined);
  const watch = new UpdateWatch(
    {
      kube,
      clock,
      signal: stop.signal,
      now: async () => clock.now(),
      tell: (line) => told.push(line),
      screen: size && {
        size: () => size,
        draw: (lines) => drawn.push(lines),
        keys: () => () => undefined,
      },
    },
    'u1',
  );
  return { clock, kube, told, drawn, stop, status, watch };
};

describe('the watch of an update', () => {
  it.each([
    ['Successful', 0],
    ['Failed', 1],
    ['Cancelled', 3],
  ] as const)('ends with it: %s is exit code %d', async (word, code) => {
    const { clock, status, watch } = setUp();
    const watching = watch.run(undefined);
    await clock.advance(2500);
    status({ ...running, status: word });
    await clock.advance(1000);
    const result = await watching;
    expect(result.how).toBe('ended');
    expect(exitCodeOf(result)).toBe(code);
  });

  it('tells changes where there is no terminal, once each', async () => {
    const { clock, kube, told, status, watch } = setUp();
    const watching = watch.run(undefined);
    await clock.advance(1500);
    const { spec, status: part } = blocked(1);
    kube.put(resourceTypes.nodedisruptions, { name: 'i-1', spec, status: part ?? {} });
    status(running);
    await clock.advance(5000);
    status({ ...running, status: 'Successful', phase: 'Ended' });
    await clock.advance(1000);
    await watching;
    expect(told).toEqual([
      'update u1 of ng: ? -> 1.32.9-20260919',
      'phase Preparing',
      'phase Rolling',
      'n1: draining',
      expect.stringMatching(/^n1: pod web\/web-1-0 of ReplicaSet\/web waits/),
      '2 of 5 nodes done',
      'phase Ended',
    ]);
  });

  it('draws a screen that leaves the last line free, and takes it away at the end', async () => {
    const { clock, told, drawn, status, watch } = setUp({ columns: 30, rows: 4 });
    const watching = watch.run(undefined);
    status(running);
    await clock.advance(1500);
    status({ ...running, status: 'Successful' });
    await clock.advance(1000);
    await watching;
    expect(told).toEqual([]);
    expect(drawn.length).toBeGreaterThanOrEqual(3);
    expect(drawn.at(-1)).toEqual([]);
    for (const lines of drawn) expect(lines.length).toBeLessThanOrEqual(3);
    expect(drawn[1]?.[0]).toBe('ng in c: 1.32.9-20260905 -> 1…');
  });

  it('gives up, stops at ^C, and ends with an update that was deleted; it continues meanwhile', async () => {
    const late = setUp();
    const giving = late.watch.run(3000);
    await late.clock.advance(4000);
    const timedOut = await giving;
    expect([timedOut.how, exitCodeOf(timedOut)]).toEqual(['timedOut', 4]);

    const stopped = setUp();
    const stopping = stopped.watch.run(undefined);
    await stopped.clock.advance(100);
    stopped.stop.abort();
    await stopped.clock.advance(1);
    expect(exitCodeOf(await stopping)).toBe(130);

    const gone = setUp();
    const going = gone.watch.run(undefined);
    await gone.clock.advance(500);
    gone.kube.remove(resourceTypes.nodegroupupdates, 'u1');
    await gone.clock.advance(1000);
    const result = await going;
    expect([result.how, exitCodeOf(result)]).toEqual(['gone', 1]);
  });

  it('says once that no controller acts, and that the server does not answer', async () => {
    const { clock, kube, told, stop, watch } = setUp();
    const watching = watch.run(undefined);
    await clock.advance(15_000);
    expect(told.filter((line) => line.includes('no controller has acted'))).toHaveLength(1);
    kube.fail('get', 'Unreachable', { times: 2 });
    await clock.advance(5000);
    expect(told.slice(-2)).toEqual([
      expect.stringMatching(/; the update continues; retrying$/),
      'the API server answers again',
    ]);
    stop.abort();
    await clock.advance(1);
    await watching;
  });
});
