import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defined } from '../../src/api/defined.ts';
import {
  type Actor,
  Kernel,
  nameSuffix,
  SeededRandom,
  Tables,
  uuid,
  type WorldEvent,
} from './index.ts';

const recorder = (): Actor & { readonly seen: WorldEvent[] } => {
  const seen: WorldEvent[] = [];
  return { name: 'a', seen, handle: (event) => void seen.push(event) };
};

const aKernel = (tables?: Tables): Kernel =>
  new Kernel({ seed: 7, startAt: 1_000_000, ...defined({ tables }) });

/** The state after a restart: rows written by changes, as a store would keep them. */
const reload = (kernel: Kernel, rows: Map<string, Map<string, unknown>>): Tables => {
  kernel.checkpoint();
  for (const change of kernel.tables.takeChanges()) {
    const table = rows.get(change.table) ?? new Map<string, unknown>();
    if (change.value === undefined) table.delete(change.key);
    else table.set(change.key, JSON.parse(JSON.stringify(change.value)));
    rows.set(change.table, table);
  }
  const tables = new Tables();
  for (const [table, entries] of rows) {
    for (const [key, value] of entries) tables.restore(table, key, value as never);
  }
  return tables;
};

describe('the kernel', () => {
  it('handles events in order of time, then of scheduling', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 200 }), (delays) => {
        const kernel = aKernel();
        const actor = recorder();
        kernel.register(actor);
        for (const [index, delay] of delays.entries()) {
          kernel.schedule({ afterMicros: delay, actor: 'a', kind: 'k', args: { index } });
        }
        while (kernel.step());
        const expected = delays
          .map((delay, index) => ({ delay, index }))
          .sort((a, b) => a.delay - b.delay || a.index - b.index)
          .map(({ index }) => index);
        expect(actor.seen.map((event) => event.args.index)).toEqual(expected);
      }),
    );
  });

  it('never runs a cancelled event, and cancelling a past one does nothing', () => {
    const kernel = aKernel();
    const actor = recorder();
    kernel.register(actor);
    const first = kernel.schedule({ afterMicros: 1, actor: 'a', kind: 'first' });
    const second = kernel.schedule({ afterMicros: 2, actor: 'a', kind: 'second' });
    kernel.cancel(second);
    kernel.step();
    kernel.cancel(first);
    expect(kernel.nextAt()).toBeUndefined();
    expect(kernel.step()).toBe(false);
    expect(actor.seen.map((event) => event.kind)).toEqual(['first']);
  });

  it('continues after a restart with its time, its events and its chance, but without callbacks', () => {
    const rows = new Map<string, Map<string, unknown>>();
    const before = aKernel();
    before.register(recorder());
    before.schedule({ afterMicros: 5, actor: 'a', kind: 'done' });
    before.step();
    before.schedule({ afterMicros: 10, actor: 'a', kind: 'kept', args: { n: 1 } });
    before.after(3, () => {
      throw new Error('a callback outlived its process');
    });
    before.random('x').next();
    const after = aKernel(reload(before, rows));
    const actor = recorder();
    after.register(actor);
    expect(after.now()).toBe(before.now());
    while (after.step());
    expect(actor.seen).toMatchObject([{ kind: 'kept', args: { n: 1 }, at: 1_000_015 }]);
    expect(after.random('x').next()).toBe(before.random('x').next());
  });

  it('refuses to move time over an event that is due', () => {
    const kernel = aKernel();
    kernel.after(10, () => {});
    expect(() => kernel.advanceTo(1_000_020)).toThrow('still due');
    kernel.advanceTo(1_000_009);
    expect(kernel.now()).toBe(1_000_009);
  });

  it('fails loudly for an event whose actor no one registered', () => {
    const kernel = aKernel();
    kernel.schedule({ afterMicros: 1, actor: 'nobody', kind: 'k' });
    expect(() => kernel.step()).toThrow('unknown actor nobody');
  });
});

describe('seeded chance', () => {
  it('is the same for the same seed and name, and independent of other components', () => {
    const numbers = (names: readonly string[]): number[] => {
      const kernel = aKernel();
      for (const name of names) kernel.random(name).next();
      return [kernel.random('x').next(), kernel.random('x').next()];
    };
    expect(numbers(['a', 'b'])).toEqual(numbers([]));
    expect(SeededRandom.split(7, 'x').next()).not.toBe(SeededRandom.split(8, 'x').next());
    expect(SeededRandom.split(7, 'x').next()).not.toBe(SeededRandom.split(7, 'y').next());
  });

  it('makes names and ids of the right form', () => {
    const random = SeededRandom.split(1, 'ids');
    expect(uuid(random)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(nameSuffix(random)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });
});
