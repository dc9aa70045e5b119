// What a function of one event's values is: how many it takes, and what comes of them.
import type { Value } from './values.ts';

/** Longest text that a function makes: `replace` can square a message. */
export const maxTextLength = 4 * 1024 * 1024;

export interface FunctionSpec {
  readonly min: number;
  readonly max: number;
  readonly evaluate: (args: readonly Value[]) => Value;
}
