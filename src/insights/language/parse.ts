// Parses a query's text to its syntax tree: commands between `|`. An unsupported command is refused
// with its name and place, never skipped: a result without it would be silently wrong.
import { diffPeriods } from '../patterns/periods.ts';
import type { Command, Expression, NamedExpression, Query, SortKey, Subquery } from './ast.ts';
import { ExpressionParser } from './parse-expression.ts';
import { type RowCommandKind, rowCommands, rowCommandWords } from './parse-rows.ts';
import { closest, QueryError } from './query-error.ts';
import { Scanner } from './scanner.ts';

/** StartQuery's own limit on queryString. */
export const maxQueryLength = 10_000;
/** Maximum of `limit` (CWL_QuerySyntax-Limit). */
const maxLimit = 100_000;

/** For a log group of the standard class. */
const maxStats = 10;

const supported = [
  ...(['fields', 'display', 'filter', 'where', 'stats', 'sort', 'limit', 'dedup'] as const),
  ...(['unnest', 'pattern', 'diff'] as const),
  ...rowCommandWords,
] as const;

/** Commands of the language that are not supported, with a reason or an alternative. */
const refused: Readonly<Record<string, string>> = {
  anomaly: 'it compares with a trained model, which only CloudWatch has',
  unmask: 'nothing is masked in a file; write `fields`',
  filterindex: 'there are no field indexes; write `filter`',
  source: 'name the files on the command line, or the log group in the call',
  subqueries: 'they stand in a filter: `filter F in (... | fields F)`',
  relevantfields: 'how it measures relevance is not documented',
  autoregress: 'what it calls its columns is not documented',
  logcompare: 'write `pattern @message | diff`, or run two queries',
  outlier: 'how it is computed is not documented',
  sessionize: 'what it calls its columns is not documented',
};

export const parseQuery = (text: string): Query => new QueryParser(text).query();

class QueryParser {
  readonly #scan: Scanner;
  readonly #expressions: ExpressionParser;
  /** Whether a subquery is being parsed. */
  #isWithin = false;

  constructor(text: string) {
    if (text.length > maxQueryLength) {
      const span = { start: maxQueryLength, end: maxQueryLength + 1 };
      throw new QueryError(`a query has at most ${maxQueryLength} characters`, span);
    }
    this.#scan = new Scanner(text);
    this.#expressions = new ExpressionParser(this.#scan, () => this.#subquery());
  }

  query(): Query {
    const scan = this.#scan;
    if (scan.atEnd) {
      throw new QueryError('the query is empty', { start: 0, end: 1 }, supportedHint);
    }
    const commands = this.#commands();
    if (!scan.atEnd) throw this.#unexpected('`|` or the end of the query');
    return { text: scan.text, commands };
  }

  #commands(): readonly Command[] {
    const commands: Command[] = [];
    do commands.push(this.#command(commands));
    while (this.#scan.symbol('|'));
    return commands;
  }

  #subquery(): Subquery | undefined {
    const scan = this.#scan;
    const { at: start } = scan;
    if (!beginsQuery.test(scan.text.slice(start, start + 200))) return undefined;
    return this.#within(start);
  }

  #within(start: number): Subquery {
    const scan = this.#scan;
    if (this.#isWithin) {
      throw new QueryError('a subquery stands within no other', scan.here().span);
    }
    this.#isWithin = true;
    let source: string | undefined;
    if (scan.keyword('source')) {
      source = scan.quoted() ?? (hasStar.test(scan.text.slice(scan.at)) ? '' : scan.starred());
      if (source === undefined || source === '') throw this.#unexpected('the name of a log');
    }
    const hasCommands = source === undefined || scan.symbol('|');
    const commands = hasCommands ? this.#commands() : [];
    this.#isWithin = false;
    return { source, commands, span: scan.span(start) };
  }

  #command(before: readonly Command[]): Command {
    const { shown, span } = this.#scan.here();
    const word = this.#scan.word();
    if (word === undefined) {
      throw new QueryError(`expected a command, found ${shown}`, span, supportedHint);
    }
    const end = span.start + word.length;
    const kind = supported.find((one) => one.toLowerCase() === spelled(word));
    if (kind === undefined) throw unknownCommand(word, { start: span.start, end });
    if (before.at(-1)?.kind === 'dedup' && kind !== 'limit') {
      throw new QueryError(
        `\`${kind}\` cannot follow \`dedup\`: only \`limit\` can`,
        { start: span.start, end },
        'put it before `dedup`',
      );
    }
    const command = this.#parsers[kind](span.start);
    refuseOrder(command, before);
    return command;
  }

  readonly #parsers: Readonly<Record<(typeof supported)[number], (start: number) => Command>> = {
    fields: (start) => ({ kind: 'fields', items: this.#named(), span: this.#scan.span(start) }),
    display: (start) => ({ kind: 'display', items: this.#named(), span: this.#scan.span(start) }),
    filter: (start) => this.#filter(start),
    where: (start) => this.#filter(start),
    stats: (start) => this.#stats(start),
    sort: (start) => this.#sort(start),
    limit: (start) => this.#limit(start),
    parse: (start) => this.#ofRows('parse', start),
    json: (start) => this.#ofRows('json', start),
    expand: (start) => this.#ofRows('expand', start),
    addtotals: (start) => this.#ofRows('addtotals', start),
    accum: (start) => this.#ofRows('accum', start),
    filldown: (start) => this.#ofRows('filldown', start),
    lookup: (start) => this.#ofRows('lookup', start),
    cidrlookup: (start) => this.#ofRows('cidrlookup', start),
    countFrequent: (start) => this.#ofRows('countFrequent', start),
    fillmissing: (start) => this.#ofRows('fillmissing', start),
    join: (start) => this.#ofRows('join', start),
    appendcols: (start) => this.#ofRows('appendcols', start),
    dedup: (start) => ({
      kind: 'dedup',
      fields: this.#list(() => this.#expressions.expression()),
      span: this.#scan.span(start),
    }),
    unnest: (start) => this.#unnest(start),
    pattern: (start) => ({
      kind: 'pattern',
      operand: this.#expressions.expression(),
      span: this.#scan.span(start),
    }),
    diff: (start) => this.#diff(start),
  };

  #list<T>(item: () => T): readonly T[] {
    const { shown, span } = this.#scan.here();
    if (shown === '`,`') {
      const hint =
        'a name is missing before the comma; was `@timestamp` or another lost in copying?';
      throw new QueryError('expected a field or an expression, found `,`', span, hint);
    }
    const items = [item()];
    // The item's parser reports a `|` or a second comma after a comma.
    while (this.#scan.symbol(',')) items.push(item());
    return items;
  }

  #named(): readonly NamedExpression[] {
    return this.#list(() => this.#namedOne());
  }

  #namedOne(): NamedExpression {
    const start = this.#scan.at;
    const expression = this.#expressions.expression();
    const text = this.#scan.text.slice(start, this.#scan.lastEnd).replace(/\s+/g, ' ');
    const alias = this.#scan.keyword('as') ? this.#alias() : undefined;
    const name = expression.kind === 'field' ? expression.name : text;
    return { expression, alias, text: name, span: this.#scan.span(start) };
  }

  #alias(): string {
    const { shown, span } = this.#scan.here();
    const path = this.#scan.path();
    if (path === undefined) throw new QueryError(`expected a name, found ${shown}`, span);
    return path.join('.');
  }

  #stats(start: number): Command {
    const aggregates = this.#named();
    const by = this.#scan.keyword('by') ? this.#named() : [];
    if (this.#scan.peekKeyword('offset')) {
      throw new QueryError(
        '`offset` is not evaluated here: which way it shifts the bins is not documented',
        this.#scan.here().span,
        'write `datefloor(toMillis(@timestamp) - 3600000, 5m)` or `+`, whichever you mean',
      );
    }
    return { kind: 'stats', aggregates, by, span: this.#scan.span(start) };
  }

  #sort(start: number): Command {
    const keys = this.#list((): SortKey => {
      const expression = this.#expressions.expression();
      const descending = this.#scan.keyword('desc');
      if (!descending) this.#scan.keyword('asc');
      return { expression, descending };
    });
    return { kind: 'sort', keys, span: this.#scan.span(start) };
  }

  #limit(start: number): Command {
    const any = this.#scan.keyword('any');
    const { span } = this.#scan.here();
    const digits = this.#scan.integer();
    const count = Number(digits);
    if (digits === undefined || count < 1 || count > maxLimit) {
      throw new QueryError(`\`limit\` takes a whole number from 1 to ${maxLimit}`, span);
    }
    return { kind: 'limit', count, any, span: this.#scan.span(start) };
  }

  #filter(start: number): Command {
    const condition = this.#expressions.expression();
    return { kind: 'filter', condition, span: this.#scan.span(start) };
  }

  #ofRows(kind: RowCommandKind, start: number): Command {
    return rowCommands[kind]({
      scan: this.#scan,
      expressions: this.#expressions,
      start,
      alias: () => this.#alias(),
      list: (item) => this.#list(item),
      unexpected: (wanted) => this.#unexpected(wanted),
      subquery: () => {
        const query = this.#within(this.#scan.at);
        if (!this.#scan.symbol(')')) throw this.#unexpected('`|` or `)` after the subquery');
        return query;
      },
    });
  }

  #unnest(start: number): Command {
    const field: Expression = this.#expressions.expression();
    if (!this.#scan.keyword('into') && !this.#scan.keyword('as')) {
      throw this.#unexpected('`into` and a name');
    }
    return { kind: 'unnest', field, alias: this.#alias(), span: this.#scan.span(start) };
  }

  #diff(start: number): Command {
    const { shown, span } = this.#scan.here();
    const word = this.#scan.word();
    const period = diffPeriods.find((one) => one.toLowerCase() === word?.toLowerCase());
    if (word !== undefined && period === undefined) {
      const near = closest(word, diffPeriods);
      const hint = near === undefined ? undefined : `did you mean \`${near}\`?`;
      throw new QueryError(
        `\`diff\` takes nothing or one of ${diffPeriods.join(', ')}, not ${shown}`,
        span,
        hint,
      );
    }
    return { kind: 'diff', period: period ?? 'previous', span: this.#scan.span(start) };
  }

  #unexpected(wanted: string): QueryError {
    const { shown, span } = this.#scan.here();
    const after = /^`(?:&&|&)`$/.test(shown) ? 'write `and`' : undefined;
    return new QueryError(`expected ${wanted}, found ${shown}`, span, after);
  }
}

/** Refuses a command that may not follow the commands before it. */
const refuseOrder = (command: Command, before: readonly Command[]): void => {
  const kinds = before.map(({ kind }) => kind);
  const { kind, span } = command;
  if (kind === 'stats' && kinds.filter((one) => one === 'stats').length >= maxStats) {
    throw new QueryError(`a query has at most ${maxStats} \`stats\``, span);
  }
  if (kind === 'join' && kinds.includes('join')) {
    throw new QueryError('a query has one `join`', span, 'run two queries, or `filter F in (...)`');
  }
  if (kind === 'pattern' && (kinds.includes('pattern') || kinds.includes('stats'))) {
    throw new QueryError('`pattern` takes events: it stands once, before `stats`', span);
  }
  if (kind === 'fillmissing' && kinds.at(-1) !== 'stats') {
    throw new QueryError('`fillmissing` stands right behind `stats ... by bin(...)`', span);
  }
  if (kind !== 'diff') return;
  if (kinds.at(-1) !== 'pattern') {
    throw new QueryError('`diff` compares patterns: it stands after `pattern` alone', span);
  }
  const cut = before.find((one) => ['limit', 'dedup', 'join', 'appendcols'].includes(one.kind));
  if (cut !== undefined) {
    throw new QueryError(
      `\`${cut.kind}\` before \`pattern\` leaves \`diff\` parts of two time ranges to compare`,
      cut.span,
      'put it after `diff`',
    );
  }
};

/** `countFrequent` is documented with two spellings. */
const spelled = (word: string): string => word.toLowerCase().replace(/^count_f/, 'countf');

/** A bare name denotes one log. */
const hasStar = /^[^\s|)]*\*/;

/** A command, followed by something that does not end a list's item. */
const beginsQuery = new RegExp(`^(?:source|${supported.join('|')})\\s+[^\\s,)=!<>+*%^/-]`, 'i');

const supportedHint = `commands: ${supported.join(', ')}`;

const unknownCommand = (word: string, span: { start: number; end: number }): QueryError => {
  const lower = word.toLowerCase();
  const reason = Object.hasOwn(refused, lower) ? refused[lower] : undefined;
  if (reason !== undefined) {
    return new QueryError(`\`${word}\` is not evaluated here`, span, reason);
  }
  const near = closest(word, supported);
  const hint = near === undefined ? supportedHint : `did you mean \`${near}\`? ${supportedHint}`;
  return new QueryError(`\`${word}\` is not a command`, span, hint);
};
