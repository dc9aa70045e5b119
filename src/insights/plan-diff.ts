// The two time ranges of a `diff`, which the preceding `pattern` counts in.
import type { Command } from './language/ast.ts';
import { QueryError } from './language/query-error.ts';
import { periodBefore, type TimeRange } from './patterns/periods.ts';

/** The requested range and the previous one; undefined when no `diff` follows. */
export const rangesOf = (
  following: Command | undefined,
  range: TimeRange | undefined,
): readonly [TimeRange, TimeRange] | undefined => {
  if (following?.kind !== 'diff') return undefined;
  if (range === undefined) {
    throw new QueryError(
      '`diff` compares a time range with the one before it, and no range is given',
      following.span,
      'say where it begins and ends, with --start and --end',
    );
  }
  return [range, periodBefore(range, following.period)];
};
