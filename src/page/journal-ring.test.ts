// The page's part of the journal: bounded in entries and in the size of each.
import { describe, expect, it } from 'vitest';
import { t0 } from '../../test/builders/core-drain.ts';
import { pageLimits } from '../api/page.ts';
import type { JournalEntry } from '../ports/index.ts';
import { JournalRing } from './journal-ring.ts';

const aRing = () => {
  const passed: Omit<JournalEntry, 'at'>[] = [];
  const ring = new JournalRing();
  const journal = ring.tee({ record: (entry) => void passed.push(entry) }, { now: () => t0 });
  const record = (count: number, facts = {}): void => {
    for (let at = 0; at < count; at++) {
      journal.record({ type: 'pod:evicted', subject: `s${ring.count}`, facts } as JournalEntry);
    }
  };
  return { ring, record, passed };
};

describe('the ring of the journal', () => {
  it('keeps the newest entries, oldest first, and passes all of them on', () => {
    const { ring, record, passed } = aRing();
    record(pageLimits.journal + 3);
    const subjects = ring.all().map(({ subject }) => subject);
    expect(subjects).toHaveLength(pageLimits.journal);
    expect([subjects[0], subjects.at(-1)]).toEqual(['s3', `s${pageLimits.journal + 2}`]);
    expect(passed).toHaveLength(pageLimits.journal + 3);
  });

  const rows: readonly [string, number, number, number][] = [
    ['nothing to a reader that has all', 10, 10, 0],
    ['what came since', 10, 7, 3],
    [
      'what is kept to a reader that is too far behind',
      pageLimits.journal + 50,
      2,
      pageLimits.journal,
    ],
    ['nothing to a position of another process', 10, 99, 0],
  ];
  for (const [what, recorded, since, count] of rows) {
    it(`gives ${what}`, () => {
      const { ring, record } = aRing();
      record(recorded);
      const found = ring.since(since);
      expect(found).toHaveLength(count);
      if (count > 0) expect(found.at(-1)?.subject).toBe(`s${recorded - 1}`);
    });
  }

  it('cuts long facts for the page alone', () => {
    const { ring, record, passed } = aRing();
    const facts = { nodes: Array.from({ length: 5_000 }, (_, at) => `n${at}`) };
    record(1, facts);
    expect(String(ring.all()[0]?.facts.text)).toHaveLength(4_000 + '...'.length);
    expect(passed[0]?.facts).toEqual(facts);
  });
});
