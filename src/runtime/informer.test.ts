// The informer against a server with every known kind of misbehaviour.
import { describe, expect, it } from 'vitest';
import { CollectingLog, TestRandom, VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { type KubeObject, resourceTypes } from '../api/kube.ts';
import { KubeError } from '../ports/index.ts';
import { Informer, type InformerOptions } from './informer.ts';
import type { Change } from './object-cache.ts';

interface Thing extends KubeObject {
  readonly spec?: { readonly zone?: string; readonly noise?: string };
}
const things = resourceTypes.nodes;

const setUp = (more: Partial<InformerOptions<Thing>> = {}) => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const log = new CollectingLog();
  const stop = new AbortController();
  const random = new TestRandom();
  const informer = new Informer<Thing>({ kube, clock, random, log, type: things, ...more });
  const seen: string[] = [];
  informer.onChange((change) => seen.push(asText(change)));
  const start = async () => {
    const running = informer.run(stop.signal);
    await clock.settle();
    return running;
  };
  return { clock, kube, log, stop, informer, seen, start };
};
const asText = ({ kind, object }: Change<Thing>): string =>
  `${kind} ${object.metadata.name}${object.spec?.zone ?? ''}`;
const put = (kube: FakeKube, name: string, zone = '') => kube.put(things, { name, spec: { zone } });

describe('the informer', () => {
  it('lists, watches, and tells each change once', async () => {
    const { kube, clock, informer, seen, start } = setUp();
    put(kube, 'n1');
    expect(informer.hasSynced()).toBe(false);
    void start();
    await clock.settle();
    expect(informer.hasSynced()).toBe(true);
    put(kube, 'n2', '-a');
    put(kube, 'n2', '-b');
    kube.remove(things, 'n1');
    await clock.settle();
    expect(seen).toEqual(['added n1', 'added n2-a', 'changed n2-b', 'removed n1']);
    expect(informer.list().map((node) => node.metadata.name)).toEqual(['n2']);
    expect(kube.count('list')).toBe(1);
  });

  it('keeps what `project` leaves, and finds by index', async () => {
    const { kube, informer, start, clock } = setUp({
      project: ({ apiVersion, kind, metadata, spec }) => ({
        apiVersion,
        kind,
        metadata,
        spec: { zone: spec?.zone ?? '' },
      }),
      indexes: { zone: (node) => [node.spec?.zone ?? ''] },
    });
    kube.put(things, { name: 'n1', spec: { zone: 'a', noise: 'x' } });
    put(kube, 'n2', 'a');
    void start();
    await clock.settle();
    expect(informer.get('n1')?.spec).toEqual({ zone: 'a' });
    const inZone = (zone: string) => informer.index('zone', zone).map((n) => n.metadata.name);
    expect(inZone('a')).toEqual(['n1', 'n2']);
    put(kube, 'n1', 'b');
    kube.remove(things, 'n2');
    await clock.settle();
    expect([inZone('a'), inZone('b')]).toEqual([[], ['n1']]);
    expect(() => informer.index('colour', 'red')).toThrow('no index colour');
  });

  it('continues from where it was when the server ends the watch', async () => {
    const { kube, clock, seen, start } = setUp();
    put(kube, 'n1');
    void start();
    await clock.advance(5_000);
    kube.closeWatches();
    put(kube, 'n2');
    await clock.advance(5_000);
    expect(seen).toEqual(['added n1', 'added n2']);
    expect(kube.count('list')).toBe(1);
    expect(kube.openWatches).toBe(1);
  });

  it('lists again after 410 and tells the difference', async () => {
    const { kube, clock, seen, start } = setUp();
    put(kube, 'n1');
    put(kube, 'n2');
    put(kube, 'n3');
    void start();
    await clock.advance(2_000);
    seen.length = 0;
    kube.silent = true;
    kube.remove(things, 'n1');
    put(kube, 'n2', '-new');
    put(kube, 'n4');
    kube.silent = false;
    kube.closeWatches(new KubeError('Expired', 'too old'));
    await clock.advance(100);
    expect(seen.sort()).toEqual(['added n4', 'changed n2-new', 'removed n1']);
    expect(kube.count('list')).toBe(2);
  });

  it('tells an object that was replaced under its name as removed and added', async () => {
    const { kube, clock, seen, start } = setUp();
    put(kube, 'n1', '-old');
    void start();
    await clock.advance(2_000);
    kube.silent = true;
    kube.remove(things, 'n1');
    put(kube, 'n1', '-new');
    kube.silent = false;
    kube.closeWatches(new KubeError('Expired', 'too old'));
    await clock.advance(100);
    expect(seen).toEqual(['added n1-old', 'removed n1-old', 'added n1-new']);
  });

  it('ignores repeated, late and posthumous events', async () => {
    const { kube, clock, seen, informer, start } = setUp();
    const first = put(kube, 'n1', '-1');
    void start();
    await clock.settle();
    const second = put(kube, 'n1', '-2');
    kube.inject(things, { type: 'MODIFIED', object: second });
    kube.inject(things, { type: 'MODIFIED', object: first });
    kube.inject(things, { type: 'DELETED', object: first });
    await clock.settle();
    expect(seen).toEqual(['added n1-1', 'changed n1-2']);
    kube.remove(things, 'n1');
    kube.inject(things, { type: 'MODIFIED', object: second });
    kube.inject(things, { type: 'ADDED', object: first });
    await clock.settle();
    expect(seen.slice(2)).toEqual(['removed n1-2']);
    expect(informer.size).toBe(0);
    expect(informer.stats.ignoredEvents).toBe(5);
  });

  it('ignores an event about something that was gone before the list', async () => {
    const { kube, clock, seen, start } = setUp();
    const gone = put(kube, 'n0');
    kube.remove(things, 'n0');
    void start();
    await clock.settle();
    kube.inject(things, { type: 'ADDED', object: gone });
    await clock.settle();
    expect(seen).toEqual([]);
  });

  it('takes an object back that left its selector and returns', async () => {
    const { kube, clock, seen, start } = setUp();
    const first = put(kube, 'n1', '-1');
    void start();
    await clock.settle();
    const left = { ...first, metadata: { ...first.metadata, resourceVersion: '110' } };
    const back = { ...first, metadata: { ...first.metadata, resourceVersion: '111' } };
    kube.inject(things, { type: 'DELETED', object: left });
    kube.inject(things, { type: 'ADDED', object: back });
    await clock.settle();
    expect(seen).toEqual(['added n1-1', 'removed n1-1', 'added n1-1']);
  });

  it('does not believe a list that is older than what it has seen', async () => {
    const { kube, clock, log, seen, informer, start } = setUp();
    put(kube, 'n1', '-1');
    kube.rememberForStaleLists(things, 0);
    void start();
    await clock.advance(2_000);
    kube.rememberForStaleLists(things, 3);
    put(kube, 'n1', '-2');
    await clock.settle();
    kube.closeWatches(new KubeError('Expired', 'too old'));
    await clock.advance(60_000);
    expect(seen).toEqual(['added n1-1', 'changed n1-2']);
    expect(informer.stats.staleLists).toBe(3);
    expect(log.messages('warn')).toContain('list is older than what was seen, listing again');
    expect(kube.openWatches).toBe(1);
  });

  it('follows a server whose past was restored, and says so', async () => {
    const { kube, clock, log, seen, informer, start } = setUp();
    put(kube, 'n1', '-1');
    void start();
    await clock.advance(2_000);
    kube.setRevision(50);
    put(kube, 'n1', '-restored');
    kube.closeWatches(new KubeError('Expired', 'another history'));
    await clock.advance(600_000);
    expect(seen.at(-1)).toBe('changed n1-restored');
    expect(log.messages('error')).toContain(
      'server went back in time, taking its state as restored',
    );
    put(kube, 'n1', '-after');
    await clock.settle();
    expect(informer.get('n1')?.spec?.zone).toBe('-after');
  });

  it('opens another watch when one falls silent, but not while bookmarks come', async () => {
    const { kube, clock, informer, seen, start } = setUp();
    void start();
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(60_000);
      kube.bookmark();
    }
    expect(kube.count('watch')).toBe(1);
    kube.silent = true;
    put(kube, 'n1');
    await clock.advance(179_000);
    expect(seen).toEqual([]);
    kube.silent = false;
    await clock.advance(62_000);
    expect(informer.stats.stalledWatches).toBe(1);
    expect(seen).toEqual(['added n1']);
  });

  it('is patient with a server that is away, and does not storm it', async () => {
    const { kube, clock, seen, start } = setUp();
    kube.fail('list', 'Unreachable', { times: 1_000 });
    kube.fail('watch', 'Unreachable', { times: 1_000 });
    void start();
    await clock.advance(300_000);
    expect(kube.count('list')).toBeLessThan(60);
    kube.heal();
    put(kube, 'n1');
    await clock.advance(31_000);
    expect(seen).toEqual(['added n1']);
  });

  it.each([
    ['end at once', undefined],
    ['answer 410 each time', new KubeError('Expired', 'x')],
  ])('does not spin when watches %s', async (_, error) => {
    const { kube, clock, start } = setUp();
    void start();
    for (let i = 0; i < 600; i++) {
      kube.closeWatches(error);
      await clock.advance(100);
    }
    expect(kube.count('watch')).toBeLessThan(60);
  });

  it('does not let a listener that throws harm the others', async () => {
    const { kube, clock, informer, log, start } = setUp();
    const others: string[] = [];
    informer.onChange(() => {
      throw new Error('listener bug');
    });
    const stopListening = informer.onChange((change) => others.push(asText(change)));
    put(kube, 'n1');
    void start();
    await clock.settle();
    stopListening();
    put(kube, 'n2');
    await clock.settle();
    expect(others).toEqual(['added n1']);
    expect(informer.stats.listenerErrors).toBe(2);
    expect(log.messages('error')).toContain('listener failed');
  });

  it('tells a late listener what is known already', async () => {
    const { kube, clock, informer, start } = setUp();
    put(kube, 'n1');
    void start();
    await clock.settle();
    const late: string[] = [];
    informer.onChange((change) => late.push(asText(change)));
    expect(late).toEqual(['added n1']);
  });

  it('waits until it has seen a write of ours, by event or bookmark', async () => {
    const { kube, clock, informer, start, stop } = setUp();
    void start();
    await clock.settle();
    kube.silent = true;
    const written = put(kube, 'n1').metadata.resourceVersion;
    let seen: boolean | undefined;
    void informer.observedAtLeast(written, stop.signal).then((value) => {
      seen = value;
    });
    await clock.advance(1_000);
    expect([seen, informer.hasObserved(written)]).toEqual([undefined, false]);
    kube.silent = false;
    kube.bookmark();
    await clock.settle();
    expect([seen, informer.hasObserved(written)]).toEqual([true, true]);
  });

  it('gives up waiting for its own write after half a minute', async () => {
    const { kube, clock, informer, start, stop } = setUp();
    void start();
    await clock.settle();
    kube.silent = true;
    const written = put(kube, 'n1').metadata.resourceVersion;
    const waiting = informer.observedAtLeast(written, stop.signal);
    await clock.advance(30_000);
    expect(await waiting).toBe(false);
  });

  it('leaves nothing running when stopped', async () => {
    const { kube, clock, informer, stop, start } = setUp();
    const running = start();
    await clock.settle();
    stop.abort(new Error('stop'));
    await clock.settle();
    await running;
    expect([kube.openWatches, clock.sleeping]).toEqual([0, 0]);
    await expect(informer.observedAtLeast('999', stop.signal)).rejects.toThrow('stop');
  });

  it('refuses resourceVersions that cannot be compared', async () => {
    const { informer } = setUp();
    expect(() => informer.hasObserved('abc')).not.toThrow();
    const signal = new AbortController().signal;
    await expect(informer.observedAtLeast('abc', signal)).rejects.toThrow('not a number');
  });
});
