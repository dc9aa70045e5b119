// What a mutant is: one deliberate mistake in the code, and the oracle that has to notice it. Data
// only; `run.ts` applies it.

export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  /** Exact text that occurs once in the file. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  /** Any of these proves that it was noticed; the first is the one it is there for. */
  readonly oracles: readonly [string, ...string[]];
  /** timing = the right thing at the wrong moment or in the wrong order. */
  readonly kind: 'logic' | 'timing';
  readonly edits: readonly [Edit, ...Edit[]];
  readonly compat?: 'eks' | 'native';
  /** A story of stories.ts that leads to it, where lives hardly ever come by. */
  readonly story?: string;
}

export const compatOf = (mutant: Mutant): 'eks' | 'native' => mutant.compat ?? 'eks';
