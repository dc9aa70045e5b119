// A mutant is one deliberate mistake in the code, with the oracles that must report it. Data only;
// `run.ts` applies it.

export interface Edit {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Exact text that occurs once in the file. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  /**
   * A report by any of these proves that the mutant is found; the first is the one that it tests.
   */
  readonly oracles: readonly [string, ...string[]];
  /** timing = a correct action at the wrong moment or in the wrong order. */
  readonly kind: 'logic' | 'timing';
  readonly edits: readonly [Edit, ...Edit[]];
  readonly compat?: 'eks' | 'native';
  /** A story of stories.ts that reaches the mutant if random lives rarely do. */
  readonly story?: string;
}

export const compatOf = (mutant: Mutant): 'eks' | 'native' => mutant.compat ?? 'eks';
