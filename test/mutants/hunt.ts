// Looks for one mutant: its story, the life that is known to show it, then more and more lives
// until an oracle that should see it does, or the bound is reached. Says who noticed, and what else
// was said.
import { liveBatch } from './child.ts';
import type { LifeReport } from './lives.ts';
import { compatOf, type Mutant } from './mutant.ts';
import type { Tree } from './tree.ts';

export type Verdict = 'found' | 'elsewhere' | 'crash' | 'survived' | 'unmatched';

export interface Finding {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  readonly lives: number;
  readonly seconds: number;
  /** The seed or story in which an oracle that is named for it noticed. */
  readonly life?: string;
  /** Everybody who noticed there; where it was not found, with the number of lives. */
  readonly noticedBy: readonly string[];
  /** What the first of them said; what went wrong otherwise. */
  readonly message: string;
}

/** A mutant may send the world in circles; a life takes a second, more on a busy machine. */
const lifeLimitMs = 45_000;
/** So many lives may hang or crash before the hunt is given up. */
const mostCrashes = 3;
const firstRound = 6;

/**
 * The lives of a hunt in the rounds in which they are tried. `hint`: the seed that showed it last
 * time; seeds show something else after each change of the simulation, so it is a start and no
 * more.
 */
export const roundsOf = (
  mutant: Mutant,
  options: { readonly hint: string | undefined; readonly most: number },
): readonly (readonly string[])[] => {
  const { hint, most } = options;
  const known = [...(mutant.story === undefined ? [] : [mutant.story]), ...(hint ? [hint] : [])];
  const seeds = Array.from({ length: most }, (_, i) => String(i + 1));
  const rest = seeds.filter((seed) => seed !== hint);
  const rounds: (readonly string[])[] = known.length > 0 ? [[...new Set(known)]] : [];
  let from = 0;
  for (let size = firstRound; from < rest.length; size *= 2) {
    rounds.push(rest.slice(from, from + size));
    from += size;
  }
  return rounds;
};

/** Counts who objected, over lives in which nobody did that should have. */
class Others {
  readonly #lives = new Map<string, number>();
  exception: string | undefined;

  note({ said }: LifeReport): void {
    this.exception ??= said['no-exception'];
    for (const oracle of Object.keys(said)) {
      this.#lives.set(oracle, (this.#lives.get(oracle) ?? 0) + 1);
    }
  }
  get names(): readonly string[] {
    return [...this.#lives].map(([oracle, lives]) => `${oracle} (${lives})`);
  }
  get objected(): boolean {
    return [...this.#lives.keys()].some((oracle) => oracle !== 'no-exception');
  }
}

/** `deadline`: performance.now() after which no round is begun. */
export const hunt = async (
  tree: Tree,
  mutant: Mutant,
  options: {
    readonly hint: string | undefined;
    readonly most: number;
    readonly deadline: number;
  },
): Promise<Finding> => {
  const startedAt = performance.now();
  const others = new Others();
  let lives = 0;
  const crashes: string[] = [];
  const finding = (verdict: Verdict, more: Partial<Finding> = {}): Finding => {
    const seconds = (performance.now() - startedAt) / 1000;
    return { mutant, verdict, lives, seconds, noticedBy: others.names, message: '', ...more };
  };
  const complaints = tree.apply(mutant);
  if (complaints.length > 0) return finding('unmatched', { message: complaints.join('; ') });
  const { root } = tree;
  const batch = { root, compat: compatOf(mutant), until: mutant.oracles, lifeLimitMs };
  const rounds = [...roundsOf(mutant, options)];
  for (let round = rounds.shift(); round !== undefined; round = rounds.shift()) {
    if (performance.now() > options.deadline || crashes.length >= mostCrashes) break;
    const result = await liveBatch({ ...batch, lives: round });
    for (const report of result.lives) {
      lives++;
      const { life, said } = report;
      const oracle = mutant.oracles.find((name) => name in said);
      if (oracle !== undefined) {
        return finding('found', {
          life,
          noticedBy: Object.keys(said),
          message: said[oracle] ?? '',
        });
      }
      others.note(report);
    }
    if (result.crash === undefined && !result.hung) continue;
    crashes.push(result.crash ?? 'a life did not end');
    // The rest of the round, without the life that did not come to its end.
    const rest = round.slice(result.lives.length + 1);
    if (rest.length > 0) rounds.unshift(rest);
  }
  if (others.objected) return finding('elsewhere');
  const message = crashes[0] ?? others.exception;
  return message === undefined ? finding('survived') : finding('crash', { message });
};
