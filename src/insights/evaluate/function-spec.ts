// The form of a function of one event's values: number of arguments, and result.
import type { Value } from './values.ts';

/** Maximum length of a function's result: `replace` can square a message. */
export const maxTextLength = 4 * 1024 * 1024;

export interface FunctionSpec {
  readonly min: number;
  readonly max: number;
  readonly evaluate: (args: readonly Value[]) => Value;
}
