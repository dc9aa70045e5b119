// Looks for one mutant: more and more lives until an oracle that should see it does, or the bound is
// reached. Says by whom it was found, and what else was said on the way.
import { liveBatch } from './child.ts';
import type { Mutant } from './mutant.ts';
import type { Tree } from './tree.ts';

export type Verdict = 'found' | 'elsewhere' | 'crash' | 'survived' | 'unmatched';

export interface Finding {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  readonly lives: number;
  readonly seconds: number;
  /** Where and by whom it was found. */
  readonly seed?: number;
  readonly oracle?: string;
  readonly message?: string;
  /** Other oracles that objected in some life, with the number of lives. */
  readonly others: Readonly<Record<string, number>>;
  /** Texts that are not there exactly once. */
  readonly complaints: readonly string[];
}

export const compatOf = (mutant: Mutant): 'eks' | 'native' => mutant.compat ?? 'eks';

/** Seeds from 1 on, in the rounds in which they are tried; the known ones first. */
export const roundsOf = (mutant: Mutant, most: number): readonly (readonly number[])[] => {
  const known = mutant.seeds ?? [];
  const rest = Array.from({ length: most }, (_, i) => i + 1).filter((n) => !known.includes(n));
  const rounds: (readonly number[])[] = known.length > 0 ? [known] : [];
  let from = 0;
  for (let size = 6; from < rest.length; size *= 2) {
    rounds.push(rest.slice(from, from + size));
    from += size;
  }
  return rounds;
};

/** A mutant may send the world in circles; a life takes a second. */
const lifeLimitMs = 90_000;

/** `deadline`: performance.now() after which no round is begun. */
export const hunt = async (
  tree: Tree,
  mutant: Mutant,
  options: { readonly most: number; readonly deadline: number },
): Promise<Finding> => {
  const startedAt = performance.now();
  const others: Record<string, number> = {};
  let lives = 0;
  let crash: string | undefined;
  const finding = (verdict: Verdict, more: Partial<Finding> = {}): Finding => {
    const seconds = (performance.now() - startedAt) / 1000;
    return { mutant, verdict, lives, seconds, others, complaints: [], ...more };
  };
  const complaints = tree.apply(mutant);
  if (complaints.length > 0) return finding('unmatched', { complaints });
  for (const seeds of roundsOf(mutant, options.most)) {
    if (performance.now() > options.deadline) break;
    const { root } = tree;
    const until = mutant.oracles;
    const batch = { root, seeds, compat: compatOf(mutant), until, lifeLimitMs };
    const result = await liveBatch(batch);
    crash ??= result.hung ? 'a life did not end' : result.crash;
    for (const { seed, said } of result.lives) {
      lives++;
      for (const oracle of Object.keys(said)) others[oracle] = (others[oracle] ?? 0) + 1;
      const oracle = mutant.oracles.find((name) => name in said);
      if (oracle === undefined) {
        crash ??= said['no-exception'];
        continue;
      }
      const { [oracle]: _found, ...rest } = others;
      return finding('found', { seed, oracle, message: said[oracle] ?? '', others: rest });
    }
  }
  if (Object.keys(others).some((oracle) => oracle !== 'no-exception')) return finding('elsewhere');
  return crash === undefined ? finding('survived') : finding('crash', { message: crash });
};
