// Hunts one mutant. It runs the mutant's story, the life that showed it last time, and then more
// lives until one of its oracles reports it or the bound is reached. Returns the oracles that
// reported it, and other violations.
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
  /** The seed or story in which one of its oracles reported it. */
  readonly life?: string;
  /** All oracles that reported it there; if it was not found, with the number of lives. */
  readonly noticedBy: readonly string[];
  /** The first oracle's message, or the error. */
  readonly message: string;
}

/**
 * A mutant may put the world into an endless loop; a life takes a second, more on a busy machine.
 */
const lifeLimitMs = 45_000;
/** The hunt ends after this many lives that hang or crash. */
const mostCrashes = 3;
const firstRound = 6;

/**
 * The lives of a hunt in the rounds in which they are tried. `hint` is the seed that showed the
 * mutant last time. It is only a start, since each change of the simulation changes what a seed
 * shows.
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

/**
 * Counts other oracles that reported violations, over lives in which none of the mutant's own did.
 */
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

/** `deadline`: performance.now() after which no round starts. */
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
    // The rest of the round, without the life that did not end.
    const rest = round.slice(result.lives.length + 1);
    if (rest.length > 0) rounds.unshift(rest);
  }
  if (others.objected) return finding('elsewhere');
  const message = crashes[0] ?? others.exception;
  return message === undefined ? finding('survived') : finding('crash', { message });
};
