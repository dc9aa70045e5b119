// All matches of a regular expression in a text, for `parse ... multi` and `regexReplace`. Stops a
// query whose expression would scan a text repeatedly.
import { QueryLimitError } from '../language/query-error.ts';
import { type LinearRegex, type Match, RegexWorkError } from '../regex/index.ts';

/** Throws QueryLimitError. */
export function* allMatches(regex: LinearRegex, text: string): Generator<Match, void> {
  try {
    yield* regex.findAll(text);
  } catch (error) {
    if (!(error instanceof RegexWorkError)) throw error;
    throw new QueryLimitError(
      `finding all matches of a regular expression looks at a text of ${text.length} characters ` +
        'over and over; end what it repeats sooner, such as `[^"]*` for `.*`, or filter ' +
        'such texts out',
    );
  }
}
