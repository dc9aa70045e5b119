// Deltas of the page's rows: a reader that applies them to a snapshot has the next snapshot.
import { describe, expect, it } from 'vitest';
import { type PageBudget, type PageDelta, pageLimits } from '../api/page.ts';
import { RowStore } from './row-store.ts';

const aRow = (key: string, allowed = 0): PageBudget => ({
  key,
  rule: 'maxUnavailable 0',
  allowed,
  healthy: 1,
  desired: 1,
  expected: 1,
  drains: [],
  wait: null,
});

type Change = readonly ['put', string, number?] | readonly ['remove', string];
const apply = (store: RowStore, changes: readonly Change[]): RowStore => {
  for (const [kind, key, allowed] of changes) {
    if (kind === 'put') store.put('budget', aRow(key, allowed));
    else store.remove('budget', key);
  }
  return store;
};
const taken = (store: RowStore): Pick<PageDelta, 'set' | 'gone'> | undefined => {
  const { set = '', gone = '' } = store.take() ?? {};
  return set === '' ? undefined : { set: JSON.parse(set), gone: JSON.parse(gone) };
};
const shown = (store: RowStore): readonly PageBudget[] => JSON.parse(store.rowsJson()).budget;

describe('a delta of rows', () => {
  const set = (...rows: readonly PageBudget[]) => ({ set: { budget: rows }, gone: {} });
  const rows: readonly [string, readonly Change[], ReturnType<typeof taken>][] = [
    ['is none where rows are put again as they were', [['put', 'a']], undefined],
    [
      'is the last state of a row that changed twice',
      [
        ['put', 'a', 1],
        ['put', 'a', 2],
      ],
      set(aRow('a', 2)),
    ],
    ['is none for the removal of an unknown row', [['remove', 'x']], undefined],
    [
      'says that a row is gone, once',
      [
        ['remove', 'a'],
        ['remove', 'a'],
      ],
      { set: {}, gone: { budget: ['a'] } },
    ],
    [
      'has the new row where one went and came back',
      [
        ['remove', 'a'],
        ['put', 'a', 3],
      ],
      set(aRow('a', 3)),
    ],
    [
      'has no row that came and went',
      [
        ['put', 'b'],
        ['remove', 'b'],
      ],
      { set: {}, gone: { budget: ['b'] } },
    ],
  ];
  for (const [what, changes, delta] of rows) {
    it(what, () => {
      const store = apply(new RowStore(), [['put', 'a']]);
      store.take();
      expect(taken(apply(store, changes))).toEqual(delta);
      expect(taken(store), 'taken once').toBeUndefined();
    });
  }

  it('applied to a snapshot gives the next snapshot', () => {
    const store = apply(new RowStore(), [
      ['put', 'a'],
      ['put', 'b'],
      ['put', 'c'],
    ]);
    const reader = new Map(shown(store).map((row) => [row.key, row]));
    store.take();
    const delta = taken(
      apply(store, [
        ['put', 'b', 5],
        ['remove', 'a'],
        ['put', 'd'],
        ['put', 'a', 9],
      ]),
    );
    for (const key of delta?.gone.budget ?? []) reader.delete(key);
    for (const row of delta?.set.budget ?? []) reader.set(row.key, row);
    const byKey = (x: PageBudget, y: PageBudget) => x.key.localeCompare(y.key);
    expect([...reader.values()].sort(byKey)).toEqual([...shown(store)].sort(byKey));
  });
});

describe('rows beyond the limit', () => {
  it('are counted, are never sent, and leave known rows up to date', () => {
    const store = new RowStore();
    for (let at = 0; at < pageLimits.budgets; at++) store.put('budget', aRow(`b${at}`));
    store.take();
    apply(store, [
      ['put', 'x'],
      ['put', 'x', 1],
      ['put', 'y'],
    ]);
    expect([store.left().budget, taken(store)]).toEqual([2, undefined]);
    expect(taken(apply(store, [['put', 'b0', 7]]))?.set.budget).toEqual([aRow('b0', 7)]);
    apply(store, [
      ['remove', 'b1'],
      ['put', 'x', 2],
      ['remove', 'y'],
    ]);
    expect(taken(store)).toEqual({ set: { budget: [aRow('x', 2)] }, gone: { budget: ['b1'] } });
    expect([store.left().budget, shown(store).length]).toEqual([0, pageLimits.budgets]);
  });
});
