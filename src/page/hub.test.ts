// The stream of the page under a flood: readers that are fast, slow, stuck, and new again.
import { describe, expect, it } from 'vitest';
import { CollectingLog, TestRandom, VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { resourceTypes } from '../api/kube.ts';
import { type PageDelta, type PageEntry, type PageSnapshot, pageLimits } from '../api/page.ts';
import type { JournalEntry } from '../ports/index.ts';
import { PageHub } from './hub.ts';
import { JournalRing } from './journal-ring.ts';
import type { PageEvent, PageReader } from './readers.ts';

/** A reader whose connection takes `room` characters until it is emptied. */
class Connection implements PageReader {
  readonly events: PageEvent[] = [];
  readonly #room: number;
  #waiting = 0;
  highest = 0;
  isEnded = false;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room;
  }

  send(event: PageEvent): boolean {
    this.events.push(event);
    this.#waiting += event.data.length;
    this.highest = Math.max(this.highest, this.#waiting);
    return this.#waiting < this.#room;
  }
  end(): void {
    this.isEnded = true;
  }
  empty(): void {
    this.#waiting = 0;
  }
  get deltas(): readonly PageDelta[] {
    return this.events
      .filter(({ event }) => event === 'delta')
      .map(({ data }) => JSON.parse(data) as PageDelta);
  }
  get kinds(): readonly string[] {
    return this.events.map(({ event }) => event).filter((event) => event !== 'beat');
  }
}

const nodeCount = 300;
const nodeName = (at: number): string => `n${at}`;

const aHub = async () => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const putNode = (name: string, kubeletVersion = 'v1.32.0') =>
    kube.put(resourceTypes.nodes, { name, spec: {}, status: { nodeInfo: { kubeletVersion } } });
  for (let at = 0; at < nodeCount; at++) putNode(nodeName(at));
  const journal = new JournalRing();
  const end = new AbortController();
  const hub = new PageHub({
    kube,
    clock,
    wall: clock,
    random: new TestRandom(),
    log: new CollectingLog(),
    journal,
    speed: () => 1,
    server: { version: 'test', world: null, hasJournal: true, actions: false },
    signal: end.signal,
  });
  const recorder = journal.tee({ record: () => undefined }, clock);
  const record = (count: number, text = ''): void => {
    for (let at = 0; at < count; at++) {
      const facts = { pod: `shop/cart-${journal.count}`, node: nodeName(at % nodeCount), text };
      recorder.record({
        type: 'pod:evicted',
        subject: `i-${journal.count}`,
        facts,
      } as unknown as JournalEntry);
    }
  };
  const snapshot = async (): Promise<PageSnapshot> => {
    const asked = hub.snapshot();
    await clock.advance(1_000);
    return JSON.parse(await asked) as PageSnapshot;
  };
  return { clock, hub, putNode, record, snapshot, end: () => end.abort() };
};

/** 6,000 entries and 5,000 changes of nodes a second, for `seconds`. */
const flood = async (
  { clock, putNode, record }: Awaited<ReturnType<typeof aHub>>,
  seconds: number,
): Promise<void> => {
  for (let tick = 0; tick < seconds * 20; tick++) {
    record(300);
    for (let at = 0; at < 250; at++) putNode(nodeName((tick + at) % nodeCount), `v${tick}`);
    await clock.advance(50);
  }
  await clock.advance(500);
};

const journalAfter = (first: PageSnapshot, deltas: readonly PageDelta[]) => {
  let known: { entries: readonly PageEntry[]; recorded: number } = {
    entries: first.journal,
    recorded: first.recorded,
  };
  for (const { journal, recorded } of deltas) {
    const isNext = known.recorded + journal.length === recorded;
    known = { entries: isNext ? [...known.entries, ...journal] : journal, recorded };
  }
  return known;
};

describe('the stream under a flood of 11,000 events a second', () => {
  it('sends at most four deltas a second, the last state of each row, and says what is left out', async () => {
    const life = await aHub();
    const first = await life.snapshot();
    const reader = new Connection();
    await life.hub.subscribe(first.id, reader);
    await flood(life, 2);
    expect(reader.deltas.length).toBeLessThanOrEqual(2 * 4 + 3);
    const rows = new Map(first.rows.node.map((row) => [row.key, row]));
    for (const { set } of reader.deltas) for (const row of set.node ?? []) rows.set(row.key, row);
    const after = await life.snapshot();
    expect([...rows.values()]).toEqual(
      after.rows.node.toSorted(
        (a, b) => [...rows.keys()].indexOf(a.key) - [...rows.keys()].indexOf(b.key),
      ),
    );
    const { entries, recorded } = journalAfter(first, reader.deltas);
    expect(recorded).toBe(2 * 6_000);
    expect(entries.at(-1)?.subject).toBe(`i-${recorded - 1}`);
    expect(entries.length).toBeLessThanOrEqual(pageLimits.journal);
    expect(entries.map(({ subject }) => subject)).toEqual(
      entries.map((_, at) => `i-${recorded - entries.length + at}`),
    );
    life.end();
  });

  it('sends nothing more into a full connection, and then what was missed, or `resync`', async () => {
    const life = await aHub();
    const first = await life.snapshot();
    const slow = new Connection(50_000);
    const fast = new Connection();
    const { resume } = await life.hub.subscribe(first.id, slow);
    await life.hub.subscribe(first.id, fast);
    await flood(life, 1);
    expect(slow.deltas).toHaveLength(1);
    expect(slow.events.map(({ event }) => event)).toEqual(['beat', 'delta']);
    while (slow.deltas.length < fast.deltas.length) {
      slow.empty();
      resume();
    }
    expect(slow.deltas).toEqual(fast.deltas);
    // More than the number of deltas that are kept.
    for (let tick = 0; tick < 20; tick++) {
      life.record(pageLimits.journal, 'x'.repeat(3_000));
      await life.clock.advance(250);
    }
    slow.empty();
    resume();
    expect(slow.kinds.at(-1)).toBe('resync');
    life.end();
  });

  it('ends a reader that reads nothing for 15 seconds, and no other', async () => {
    const life = await aHub();
    const { id } = await life.snapshot();
    const [stuck, fine] = [new Connection(1), new Connection()];
    await life.hub.subscribe(id, stuck);
    await life.hub.subscribe(id, fine);
    life.record(1);
    await life.clock.advance(14_000);
    expect(stuck.isEnded).toBe(false);
    await life.clock.advance(2_000);
    expect([stuck.isEnded, fine.isEnded]).toEqual([true, false]);
    life.end();
  });

  it('keeps a slow reader that is full at each tick and emptied between, until it stops', async () => {
    const life = await aHub();
    const { id } = await life.snapshot();
    const slow = new Connection(1);
    const { resume } = await life.hub.subscribe(id, slow);
    const ticks = 80;
    for (let tick = 0; tick < ticks; tick++) {
      life.record(1);
      await life.clock.advance(250);
      slow.empty();
      resume();
    }
    expect([slow.deltas.length, slow.isEnded]).toEqual([ticks, false]);
    await life.clock.advance(14_500);
    expect(slow.isEnded).toBe(false);
    await life.clock.advance(1_000);
    expect(slow.isEnded).toBe(true);
    life.end();
  });

  it('bounds a delta of long entries, and sends a reader of another process to the snapshot', async () => {
    const life = await aHub();
    const { id, recorded } = await life.snapshot();
    const [reader, stranger] = [new Connection(), new Connection()];
    await life.hub.subscribe(id, reader);
    await life.hub.subscribe('other-5', stranger);
    expect(stranger.kinds).toEqual(['resync']);
    life.record(pageLimits.journal, 'x'.repeat(3_000));
    await life.clock.advance(300);
    const [delta] = reader.deltas;
    expect(delta?.recorded).toBe(recorded + pageLimits.journal);
    expect(delta?.journal.at(-1)?.subject).toBe(`i-${pageLimits.journal - 1}`);
    expect(reader.highest).toBeLessThan(260_000);
    life.end();
  });
});
