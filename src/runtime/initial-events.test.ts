// The informer that reads its first state by the watch itself, and what it knows to be complete.
import { describe, expect, it } from 'vitest';
import { CollectingLog, TestRandom, VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { type EpochMs, epochMs, parseTime } from '../api/brand.ts';
import { type KubeObject, resourceTypes } from '../api/kube.ts';
import { KubeError } from '../ports/index.ts';
import { Informer } from './informer.ts';
import { InitialEvents } from './initial-events.ts';

const things = resourceTypes.nodes;

const writtenAfter = ({ metadata }: KubeObject): EpochMs | undefined =>
  parseTime(metadata.annotations?.at);

const setUp = () => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const stop = new AbortController();
  const initialEvents = new InitialEvents();
  const options = { kube, clock, random: new TestRandom(), log: new CollectingLog() };
  const informer = new Informer({ ...options, type: things, initialEvents, writtenAfter });
  const seen: string[] = [];
  informer.onChange(({ kind, object }) => seen.push(`${kind} ${object.metadata.name}`));
  const requests = () => kube.requests.map(({ verb }) => verb);
  const startedAt = clock.now();
  /** A write that the server stamps with this second after the start. */
  const putAt = (name: string, second: number) => {
    const at = new Date(startedAt + second * 1000).toISOString();
    return kube.put(things, { name, annotations: { at } });
  };
  const start = async () => {
    void informer.run(stop.signal);
    await clock.settle();
  };
  const completeFor = () =>
    informer.completeAt === undefined ? undefined : informer.completeAt - startedAt;
  return { clock, kube, informer, initialEvents, seen, requests, putAt, start, completeFor };
};

describe('an informer that begins with its watch', () => {
  it('reads the present objects and all changes with one request', async () => {
    const { kube, clock, informer, seen, requests, start } = setUp();
    kube.put(things, { name: 'n1' });
    await start();
    expect(informer.hasSynced()).toBe(true);
    kube.put(things, { name: 'n2' });
    kube.remove(things, 'n1');
    await clock.settle();
    expect(seen).toEqual(['added n1', 'added n2', 'removed n1']);
    expect(requests()).toEqual(['watch']);
    expect(informer.stats.gaps).toBe(0);
  });

  it('keeps what the server changed before it ended the present objects', async () => {
    const { kube, clock, informer, requests, start } = setUp();
    kube.initialEvents = 'endless';
    kube.put(things, { name: 'gone' });
    kube.put(things, { name: 'changed', labels: { at: 'first' } });
    await start();
    kube.remove(things, 'gone');
    kube.put(things, { name: 'changed', labels: { at: 'last' } });
    kube.put(things, { name: 'new' });
    await clock.settle();
    expect(informer.hasSynced()).toBe(false);
    kube.bookmark(true);
    await clock.settle();
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['changed', 'new']);
    expect(informer.get('changed')?.metadata.labels).toEqual({ at: 'last' });
    expect(requests()).toEqual(['watch']);
  });

  it('lists at once where such a watch is refused, and never asks for one again', async () => {
    const { kube, clock, initialEvents, seen, requests, start } = setUp();
    kube.initialEvents = 'refused';
    kube.put(things, { name: 'n1' });
    await start();
    expect(seen).toEqual(['added n1']);
    expect(requests()).toEqual(['watch', 'list', 'watch']);
    await clock.advance(24 * 3600_000);
    expect(initialEvents.isServed(clock.now())).toBe(false);
  });

  it.each(['endless', 'ServerError'] as const)('asks again 10 min after %s', async (how) => {
    const { kube, clock, initialEvents, seen, requests, start } = setUp();
    if (how === 'endless') kube.initialEvents = how;
    else kube.fail('watch', how);
    kube.put(things, { name: 'n1' });
    await start();
    await clock.advance(5_000);
    expect(seen).toEqual(['added n1']);
    expect(requests()).toEqual(['watch', 'list', 'watch']);
    await clock.advance(594_000);
    expect(initialEvents.isServed(clock.now())).toBe(false);
    await clock.advance(6_000);
    expect(initialEvents.isServed(clock.now())).toBe(true);
  });

  it('lists after a failure that says nothing about the server', async () => {
    const { kube, clock, initialEvents, seen, start } = setUp();
    kube.fail('watch', 'Unreachable');
    kube.put(things, { name: 'n1' });
    await start();
    await clock.advance(300);
    expect(seen).toEqual(['added n1']);
    expect(initialEvents.isServed(clock.now())).toBe(true);
  });

  it('lists only after the wait that a busy server asks for', async () => {
    const { kube, clock, requests, start } = setUp();
    kube.fail('watch', 'TooManyRequests', { retryAfterSeconds: 7 });
    await start();
    await clock.advance(6_900);
    expect(requests()).toEqual(['watch']);
    await clock.advance(100);
    expect(requests()).toEqual(['watch', 'list', 'watch']);
  });

  it('resumes from the version it has seen when that watch ends', async () => {
    const { kube, clock, informer, seen, requests, start } = setUp();
    kube.put(things, { name: 'n1' });
    await start();
    await clock.advance(2_000);
    kube.closeWatches();
    kube.put(things, { name: 'n2' });
    await clock.advance(2_000);
    expect(seen).toEqual(['added n1', 'added n2']);
    expect(requests()).toEqual(['watch', 'watch']);
    expect(informer.stats.gaps).toBe(1);
  });
});

describe('what an informer knows to be complete', () => {
  it('begins with the request of the first state, and follows the stamps of events', async () => {
    const { clock, putAt, start, completeFor } = setUp();
    expect(completeFor()).toBeUndefined();
    await start();
    expect(completeFor()).toBe(0);
    await clock.advance(9_000);
    putAt('n1', 7);
    await clock.settle();
    expect(completeFor()).toBe(7_000);
    putAt('n2', 3);
    await clock.settle();
    expect(completeFor()).toBe(7_000);
  });

  it('does not believe a stamp of the future', async () => {
    const { clock, putAt, start, completeFor } = setUp();
    await start();
    putAt('n1', 60);
    await clock.settle();
    expect(completeFor()).toBe(0);
  });

  it('stands still after a reconnect, until the next list', async () => {
    const { kube, clock, informer, putAt, start, completeFor } = setUp();
    await start();
    await clock.advance(2_000);
    kube.closeWatches();
    await clock.advance(2_000);
    putAt('n1', 3);
    await clock.settle();
    expect(informer.size).toBe(1);
    expect(completeFor()).toBe(0);
    kube.closeWatches(new KubeError('Expired', 'too old'));
    await clock.advance(2_000);
    expect(informer.completeAt).toBeGreaterThanOrEqual(epochMs(clock.now() - 2_000));
  });
});
