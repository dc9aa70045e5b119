// The error in a query: what, where, and what to write instead. Every refusal of the language is
// one of these; unsupported parts are never skipped.

/** Half-open range of UTF-16 units of the query's text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly span: Span;
  readonly hint: string | undefined;

  constructor(message: string, span: Span, hint?: string) {
    super(message);
    this.span = span;
    this.hint = hint;
  }
}

/** Evaluation stopped because it would exceed a resource limit. */
export class QueryLimitError extends Error {
  override readonly name = 'QueryLimitError';
}

/** Line and column of a position, both counted from one. */
export const positionOf = (
  text: string,
  at: number,
): { readonly line: number; readonly column: number } => {
  const before = text.slice(0, at);
  const lastBreak = before.lastIndexOf('\n');
  return { line: before.split('\n').length, column: at - lastBreak };
};

/** A query may be one line of thousands of characters: this many are shown around the place. */
const shownUnits = 72;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed.
const control = /[\u0000-\u001f\u007f-\u009f]/g;

/** Unit by unit, so that positions stay valid. */
export const visible = (text: string): string => text.replace(control, ' ');

/** A column of a lookup table may have any name. */
const escaped = (text: string): string =>
  text.replace(control, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The message with its place, the line with a mark below it, and the remedy. */
export const explainQueryError = (text: string, error: QueryError): string => {
  const { line, column } = positionOf(text, error.span.start);
  const whole = visible(text.split('\n')[line - 1] ?? '');
  const from = Math.max(0, column - 1 - shownUnits / 2);
  const shown = whole.slice(from, from + shownUnits);
  const room = Math.max(1, shown.length - (column - 1 - from));
  const length = Math.max(1, Math.min(error.span.end - error.span.start, room));
  const mark = `${' '.repeat(column - 1 - from)}${'^'.repeat(length)}`;
  const hint = error.hint === undefined ? [] : [`  ${escaped(error.hint)}`];
  return [
    `line ${line}, column ${column}: ${escaped(error.message)}`,
    `  ${shown}`,
    `  ${mark}`,
    ...hint,
  ].join('\n');
};

/** The candidate within two edits, for "did you mean". */
export const closest = (word: string, candidates: readonly string[]): string | undefined => {
  const lower = word.toLowerCase().slice(0, 40);
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of candidates) {
    const distance = editDistance(lower, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
};

const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};
