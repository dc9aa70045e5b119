// What a function of one event's values is: how many it takes, and what comes of them.
import type { Value } from './values.ts';

export interface FunctionSpec {
  readonly min: number;
  readonly max: number;
  readonly evaluate: (args: readonly Value[]) => Value;
}
