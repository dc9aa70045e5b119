// The list of mutants matches the current code: each still applies, and each oracle has enough of
// them. `npm run mutants` shows whether the oracles report them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutantsFile, mutantsPage } from '../../scripts/print-mutants.ts';
import { oracles } from '../../world/check/index.ts';
import { roundsOf } from './hunt.ts';
import { mutants } from './list/index.ts';
import type { Mutant } from './mutant.ts';
import { complaintsOf, reportFinding } from './report.ts';
import { storyNames } from './stories.ts';
import { plant } from './tree.ts';

const repository = join(import.meta.dirname, '..', '..');
const stories = new Set(storyNames);
const aMutant = (more: Partial<Mutant> = {}): Mutant => ({
  name: 'm1',
  oracles: ['o1'],
  kind: 'timing',
  edits: [{ file: 'src/core/x.ts', find: 'a', replace: 'b' }],
  ...more,
});

describe('the list of mutants', () => {
  it('has three of core or controllers for each oracle, one of timing', () => {
    const names = new Set(oracles.map(({ name }) => name));
    expect(complaintsOf(mutants, { oracles: names, stories })).toEqual([]);
  });

  it.each(mutants)('$name still applies: else change it to what the code says now', (mutant) => {
    const texts = new Map<string, string>();
    for (const edit of mutant.edits) {
      const path = join(repository, edit.file);
      const planted = plant(texts.get(path) ?? readFileSync(path, 'utf8'), edit);
      expect(planted).not.toHaveProperty('complaint');
      if ('text' in planted) texts.set(path, planted.text);
    }
  });

  it('is the table of docs/designs/mutants.md, as `node scripts/print-mutants.ts` prints it', () => {
    expect(readFileSync(mutantsFile, 'utf8')).toBe(mutantsPage());
  });

  it('is refused with too few, none of timing, unknown names, or the world’s alone', () => {
    const three = (more: Partial<Mutant> = {}) =>
      ['m1', 'm2', 'm3'].map((name) => aMutant({ name, ...more }));
    const known = { oracles: new Set(['o1']), stories: new Set(['s1']) };
    const complaints = (list: readonly Mutant[]) => complaintsOf(list, known);
    const ofWorld = [{ file: 'world/x.ts', find: 'a', replace: 'b' }] as const;
    expect(complaints(three({ story: 's1' }))).toEqual([]);
    expect(complaints(three().slice(1))).toHaveLength(1);
    expect(complaints(three({ kind: 'logic' }))).toHaveLength(1);
    expect(complaints(three({ edits: ofWorld }))).toHaveLength(1);
    expect(complaints([...three(), aMutant()])).toEqual(['two mutants are called m1']);
    expect(complaints([...three(), aMutant({ name: 'm4', oracles: ['o2'] })])).toHaveLength(1);
    expect(complaints([...three(), aMutant({ name: 'm4', story: 's2' })])).toHaveLength(1);
  });
});

describe('planting', () => {
  const edit = { file: 'x.ts', find: 'a < b', replace: 'a <= $&' };

  it('changes the one place, to the letter', () => {
    expect(plant('if (a < b) {', edit)).toEqual({ text: 'if (a <= $&) {' });
  });

  it('is refused where the text is gone, there twice, or would not change', () => {
    expect(plant('if (a > b) {', edit)).toHaveProperty('complaint');
    expect(plant('a < b; a < b', edit)).toHaveProperty('complaint');
    expect(plant('a < b', { ...edit, replace: 'a < b' })).toHaveProperty('complaint');
  });
});

describe('a hunt', () => {
  it('begins with the story and the hint, and continues without them', () => {
    const rounds = roundsOf(aMutant({ story: 's1' }), { hint: '9', most: 10 });
    expect(rounds).toEqual([
      ['s1', '9'],
      ['1', '2', '3', '4', '5', '6'],
      ['7', '8', '10'],
    ]);
    expect(roundsOf(aMutant(), { hint: undefined, most: 2 })).toEqual([['1', '2']]);
  });

  it('says so when only another oracle noticed, or no one', () => {
    const facts = { mutant: aMutant(), lives: 1, seconds: 0, noticedBy: ['o2 (1)'], message: '' };
    const told = (verdict: 'elsewhere' | 'crash' | 'survived') =>
      reportFinding({ ...facts, verdict }, false).join();
    expect(told('elsewhere')).toContain('NOT BY IT, only by o2 (1)');
    expect(told('survived')).toContain('NOBODY');
    expect(told('crash')).toContain('only crashed');
  });
});
