// Parses expressions by recursive descent: or, and, not, comparison, sum, product, power, sign,
// primary. Determines meaning only, never values.
import type {
  BinaryOperator,
  ComparisonOperator,
  Expression,
  RegexLiteral,
  Subquery,
} from './ast.ts';
import { QueryError } from './query-error.ts';
import type { Scanner } from './scanner.ts';

/** Limits nesting: a query may be 10,000 brackets. */
const maxDepth = 100;
/** Maximum operators of one rank in a row that nest to the left, `1 + 1 + ...`. */
const maxChain = 500;

const literal = /^(?:true|false)$/i;

const reserved = new Set(['and', 'or', 'not', 'like', 'in', 'as', 'by', 'asc', 'desc']);

const comparisons: readonly (readonly [text: string, operator: ComparisonOperator])[] = [
  ['==', '='],
  ['!=', '!='],
  ['<=', '<='],
  ['>=', '>='],
  ['=', '='],
  ['<', '<'],
  ['>', '>'],
];

export class ExpressionParser {
  readonly #scan: Scanner;
  /** Parses a query at this position; undefined when there is none. */
  readonly #subquery: () => Subquery | undefined;
  #depth = 0;

  constructor(scanner: Scanner, subquery: () => Subquery | undefined) {
    this.#scan = scanner;
    this.#subquery = subquery;
  }

  expression(): Expression {
    return this.#nested(() => this.#chain('or', () => this.#and()));
  }

  #nested(parse: () => Expression): Expression {
    this.#depth++;
    if (this.#depth > maxDepth) {
      const { span } = this.#scan.here();
      throw new QueryError(`expressions are nested deeper than ${maxDepth}`, span);
    }
    const found = parse();
    this.#depth--;
    return found;
  }

  #and(): Expression {
    return this.#chain('and', () => this.#not());
  }

  #chain(kind: 'and' | 'or', operand: () => Expression): Expression {
    const start = this.#scan.at;
    const first = operand();
    if (!this.#scan.peekKeyword(kind)) return first;
    const operands = [first];
    while (this.#scan.keyword(kind)) operands.push(operand());
    return { kind, operands, span: this.#scan.span(start) };
  }

  #not(): Expression {
    const start = this.#scan.at;
    if (!this.#scan.keyword('not')) return this.#comparison();
    const operand = this.#nested(() => this.#not());
    return { kind: 'not', operand, span: this.#scan.span(start) };
  }

  #comparison(): Expression {
    const scan = this.#scan;
    const start = scan.at;
    const left = this.#sum();
    if (scan.symbol('=~')) return this.#like(left, start, false);
    for (const [text, operator] of comparisons) {
      if (!scan.symbol(text)) continue;
      const right = this.#sum();
      return { kind: 'compare', operator, left, right, span: scan.span(start) };
    }
    const negated = scan.keyword('not');
    if (scan.keyword('like')) return this.#like(left, start, negated);
    if (scan.keyword('in')) return this.#in(left, start, negated);
    if (negated) throw this.#unexpected('`like` or `in` after `not`');
    return left;
  }

  #like(operand: Expression, start: number, negated: boolean): Expression {
    const pattern = this.regex() ?? this.#sum();
    return { kind: 'like', operand, pattern, negated, span: this.#scan.span(start) };
  }

  regex(): RegexLiteral | undefined {
    const start = this.#scan.at;
    const source = this.#scan.regex();
    return source === undefined
      ? undefined
      : { kind: 'regex', source, span: this.#scan.span(start) };
  }

  #in(operand: Expression, start: number, negated: boolean): Expression {
    const close = this.#scan.symbol('[') ? ']' : ')';
    if (close === ')' && !this.#scan.symbol('(')) throw this.#unexpected('`[` after `in`');
    const query = close === ')' ? this.#subquery() : undefined;
    if (query !== undefined) {
      if (!this.#scan.symbol(')')) throw this.#unexpected('`|` or `)` after the subquery');
      return { kind: 'inQuery', operand, query, negated, span: this.#scan.span(start) };
    }
    const items: Expression[] = [];
    do items.push(this.#sum());
    while (this.#scan.symbol(','));
    if (!this.#scan.symbol(close)) throw this.#unexpected(`\`,\` or \`${close}\``);
    return { kind: 'in', operand, items, negated, span: this.#scan.span(start) };
  }

  #sum(): Expression {
    return this.#left(['+', '-'], () => this.#left(['*', '/', '%'], () => this.#power()));
  }

  #left(operators: readonly BinaryOperator[], operand: () => Expression): Expression {
    const start = this.#scan.at;
    let left = operand();
    for (let count = 0; ; count++) {
      const operator = operators.find((one) => this.#scan.symbol(one));
      if (operator === undefined) return left;
      if (count === maxChain) {
        throw new QueryError(`more than ${maxChain} operators in a row`, this.#scan.span(start));
      }
      const right = operand();
      left = { kind: 'binary', operator, left, right, span: this.#scan.span(start) };
    }
  }

  /** Right-associative: `2 ^ 3 ^ 2` is `2 ^ (3 ^ 2)`. */
  #power(): Expression {
    const start = this.#scan.at;
    const left = this.#sign();
    if (!this.#scan.symbol('^')) return left;
    const right = this.#nested(() => this.#power());
    return { kind: 'binary', operator: '^', left, right, span: this.#scan.span(start) };
  }

  #sign(): Expression {
    const start = this.#scan.at;
    if (!this.#scan.symbol('-')) return this.primary();
    const operand = this.#nested(() => this.#sign());
    return { kind: 'negate', operand, span: this.#scan.span(start) };
  }

  /** One value, which may be followed by a pattern that starts with `/`. */
  primary(): Expression {
    const scan = this.#scan;
    const start = scan.at;
    const text = scan.quoted();
    if (text !== undefined) return { kind: 'text', value: text, span: scan.span(start) };
    if (scan.symbol('(')) {
      const inner = this.expression();
      if (!scan.symbol(')')) throw this.#unexpected('`)`');
      return inner;
    }
    const number = scan.number();
    if (number !== undefined) return this.#numeric(number, start);
    const word = scan.peekWord();
    if (word !== undefined && reserved.has(word.toLowerCase()) && scan.peekKeyword(word)) {
      throw this.#unexpected('a field, a value or a function');
    }
    const path = scan.path();
    if (path === undefined) throw this.#unexpected('a field, a value or a function');
    const span = scan.span(start);
    const [name] = path;
    if (scan.text[span.end] === '(' && path.length === 1 && name !== undefined) {
      return this.#call(name, start);
    }
    const field = { kind: 'field', name: path.join('.'), path, span } as const;
    const mayBeLiteral = literal.test(field.name) && scan.text[start] !== '`';
    return mayBeLiteral ? { ...field, mayBeLiteral } : field;
  }

  #numeric(text: string, start: number): Expression {
    const span = this.#scan.span(start);
    const value = Number(text);
    if (!Number.isNaN(value)) return { kind: 'number', value, span };
    if (/^[0-9]+[A-Za-z]+$/.test(text)) return { kind: 'duration', text, span };
    throw new QueryError(
      `\`${text}\` is neither a number nor a length of time such as \`5m\``,
      span,
    );
  }

  #call(name: string, start: number): Expression {
    const scan = this.#scan;
    scan.symbol('(');
    if (scan.symbol(')')) {
      return { kind: 'call', name, args: [], star: false, span: scan.span(start) };
    }
    const star = scan.symbol('*');
    const args: Expression[] = [];
    if (!star) {
      do args.push(this.#regexText() ?? this.expression());
      while (scan.symbol(','));
    }
    if (!scan.symbol(')')) throw this.#unexpected('`,` or `)`');
    return { kind: 'call', name, args, star, span: scan.span(start) };
  }

  /** An argument between slashes is a regular expression. */
  #regexText(): Expression | undefined {
    const found = this.regex();
    return found === undefined
      ? undefined
      : { kind: 'text', value: found.source, span: found.span };
  }

  #unexpected(wanted: string): QueryError {
    const { shown, span } = this.#scan.here();
    const hint =
      shown === '`&`'
        ? 'write `and`'
        : shown === '`/`'
          ? 'a regular expression stands after `like` or `=~` alone'
          : undefined;
    return new QueryError(`expected ${wanted}, found ${shown}`, span, hint);
  }
}
