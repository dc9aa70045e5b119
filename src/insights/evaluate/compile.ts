// Compiles expressions to functions of a row. Everything known from the query alone is evaluated
// once, and invalid expressions are refused here with their place.
import type { Expression, InQuery, RegexLiteral } from '../language/ast.ts';
import { closest, QueryError, type Span } from '../language/query-error.ts';
import type { TimeRange } from '../patterns/periods.ts';
import { LinearRegex, RegexError } from '../regex/index.ts';
import { maxTextLength } from './function-spec.ts';
import { findFunction, finite, functionNames } from './functions.ts';
import { allMatches } from './matches.ts';
import type { Names, Read, Row } from './row.ts';
import { ceilTo, floorTo, type Period, parsePeriod } from './time.ts';
import type { ValueSet } from './value-set.ts';
import { equals, isTrue, ordered, toNumber, toText, type Value } from './values.ts';

export interface CompileContext {
  readonly names: Names;
  /** Result of `now()`, epoch milliseconds. */
  readonly nowMs: number;
  /** The requested time range, if it has a start. */
  readonly range: TimeRange | undefined;
  /** Called for a field that cannot have a value here. */
  readonly notice: (text: string) => void;
  /** Result of a subquery, once it has been evaluated. */
  readonly subquery: (expression: InQuery) => ValueSet;
}

const arithmetic = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
  '^': (a: number, b: number) => a ** b,
} as const;

const comparison = {
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
} as const;

export const compile = (expression: Expression, context: CompileContext): Read => {
  switch (expression.kind) {
    case 'field':
      return compileField(expression, context);
    case 'text':
    case 'number': {
      const { value } = expression;
      return () => value;
    }
    case 'duration':
      throw new QueryError(
        `a length of time stands only in \`bin\`, \`datefloor\` and \`dateceil\``,
        expression.span,
      );
    case 'call':
      return compileCall(expression, context);
    case 'negate': {
      const operand = compile(expression.operand, context);
      return (row) => {
        const value = toNumber(operand(row));
        return value === undefined ? undefined : -value;
      };
    }
    case 'binary': {
      const [left, right] = both(expression, context);
      const compute = arithmetic[expression.operator];
      return (row) => {
        const [a, b] = [toNumber(left(row)), toNumber(right(row))];
        return a === undefined || b === undefined ? undefined : finite(compute(a, b));
      };
    }
    case 'compare':
      return compileComparison(expression, context);
    case 'like':
      return compileLike(expression, context);
    case 'in': {
      const operand = compile(expression.operand, context);
      const items = expression.items.map((item) => compile(item, context));
      const { negated } = expression;
      return (row) => {
        const value = operand(row);
        if (value === undefined) return false;
        return items.some((item) => equals(value, item(row))) !== negated;
      };
    }
    case 'inQuery': {
      const operand = compile(expression.operand, context);
      const values = context.subquery(expression);
      const { negated } = expression;
      return (row) => {
        const value = operand(row);
        return value !== undefined && values.has(value) !== negated;
      };
    }
    case 'not': {
      const operand = compile(expression.operand, context);
      return (row) => !isTrue(operand(row));
    }
    case 'and': {
      const operands = expression.operands.map((one) => compile(one, context));
      return (row) => operands.every((one) => isTrue(one(row)));
    }
    case 'or': {
      const operands = expression.operands.map((one) => compile(one, context));
      return (row) => operands.some((one) => isTrue(one(row)));
    }
  }
};

const both = (
  { left, right }: { readonly left: Expression; readonly right: Expression },
  context: CompileContext,
): readonly [Read, Read] => [compile(left, context), compile(right, context)];

const compileField = (
  field: Expression & { readonly kind: 'field' },
  { names, notice }: CompileContext,
): Read => {
  if (field.mayBeLiteral === true && !names.listed.includes(field.name)) {
    const value = field.name.toLowerCase() === 'true';
    return () => value;
  }
  if (!names.has(field.name)) {
    const near = closest(field.name, names.listed);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    notice(
      `${field.name} has no value after \`stats\`: there are ${names.listed.join(', ')}${hint}`,
    );
  }
  return names.read(field.name, field.path);
};

/** A comparison with a missing value is false, including `!=`. */
const compileComparison = (
  expression: Expression & { readonly kind: 'compare' },
  context: CompileContext,
): Read => {
  const [left, right] = both(expression, context);
  const { operator } = expression;
  if (operator === '=') return (row) => equals(left(row), right(row));
  if (operator === '!=') {
    return (row) => {
      const [a, b] = [left(row), right(row)];
      return a !== undefined && b !== undefined && !equals(a, b);
    };
  }
  const test = comparison[operator];
  return (row) => {
    const order = ordered(left(row), right(row));
    return order !== undefined && test(order);
  };
};

const compileLike = (
  expression: Expression & { readonly kind: 'like' },
  context: CompileContext,
): Read => {
  const operand = compile(expression.operand, context);
  const { pattern, negated } = expression;
  if (pattern.kind === 'regex') {
    const regex = compileRegex(pattern);
    return textTest(operand, negated, (text) => regex.test(text));
  }
  if (pattern.kind === 'text') {
    const { value } = pattern;
    return textTest(operand, negated, (text) => text.includes(value));
  }
  const part = compile(pattern, context);
  return (row) => {
    const [text, wanted] = [toText(operand(row)), toText(part(row))];
    return text !== undefined && wanted !== undefined && text.includes(wanted) !== negated;
  };
};

/** Caches the last text: repeated values, such as a stream's name, are tested once. */
const textTest = (operand: Read, negated: boolean, test: (text: string) => boolean): Read => {
  let last: string | undefined;
  let answer = false;
  return (row) => {
    const text = toText(operand(row));
    if (text === undefined) return false;
    if (text !== last) {
      answer = test(text) !== negated;
      last = text;
    }
    return answer;
  };
};

export const compileRegex = (literal: RegexLiteral): LinearRegex => {
  try {
    return new LinearRegex(literal.source);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    // The literal's span starts at its slash.
    const start = literal.span.start + 1 + error.at;
    throw new QueryError(`regular expression: ${error.message}`, {
      start,
      end: start + error.length,
    });
  }
};

const compileCall = (
  call: Expression & { readonly kind: 'call' },
  context: CompileContext,
): Read => {
  const name = call.name.toLowerCase();
  if (name === 'now') {
    checkCount(call, 0, 0);
    const seconds = Math.floor(context.nowMs / 1000);
    return () => seconds;
  }
  if (dateFunctions.includes(name)) return compileDate(call, context);
  if (rangeFunctions.includes(name)) return compileRange(call, context);
  if (replaceFunctions.includes(name)) return compileReplace(call, context);
  const spec = findFunction(name);
  if (spec === undefined) throw unknownFunction(call);
  checkCount(call, spec.min, spec.max);
  const args = call.args.map((arg) => compile(arg, context));
  return (row) => spec.evaluate(args.map((arg) => arg(row)));
};

const dateFunctions = ['bin', 'datefloor', 'dateceil'];
const rangeFunctions = ['querystarttime', 'queryendtime', 'querytimerange'];
/** CloudWatch supports both spellings. */
const replaceFunctions = ['regexreplace', 'regex_replace'];
const compiled = ['now', ...dateFunctions, ...rangeFunctions, ...replaceFunctions];

/** A function of one event's values. */
export const isFunction = (name: string): boolean => {
  const lower = name.toLowerCase();
  return compiled.includes(lower) || findFunction(lower) !== undefined;
};

/** Functions of the language that are not supported, with a reason or an alternative. */
const refusedFunctions: Readonly<Partial<Record<string, string>>> = {
  parsedate: 'its formats are those of Java; write `toMillis(@timestamp)` where that is the date',
  formatdate: 'write `datefloor`, or take parts of `@timestamp` with `substr`',
  strftime: 'write `datefloor`, or take parts of `@timestamp` with `substr`',
  rate: 'what it answers differs from its documentation; write `sum(x) / 5 ... by bin(5m)`',
  histogram: 'its documentation and what it answers differ; write `by floor(x / 50) * 50`',
  values: 'how CloudWatch shows lists is not documented; write `stats count(*) by x, y`',
  collect_values: 'how CloudWatch shows lists is not documented; write `stats count(*) by x, y`',
  variance: 'which of the two it is is not documented; write `stddev(x)`',
  topk: 'it is not documented; write `stats count(*) as n by x | sort n desc | limit 5`',
};

export const unknownFunction = (call: Expression & { readonly kind: 'call' }): QueryError => {
  const span = { start: call.span.start, end: call.span.start + call.name.length };
  if (isAggregate(call.name)) {
    return new QueryError(
      `\`${call.name}\` counts over many events and stands only in \`stats\``,
      span,
    );
  }
  const reason = refusedFunctions[call.name.toLowerCase()];
  if (reason !== undefined) {
    return new QueryError(`\`${call.name}\` is not evaluated here`, span, reason);
  }
  const near = closest(call.name, [...functionNames, ...aggregateNames]);
  const hint =
    near === undefined ? `functions: ${functionNames.join(', ')}` : `did you mean \`${near}\`?`;
  return new QueryError(`\`${call.name}\` is not a function`, span, hint);
};

export const aggregateNames: readonly string[] = [
  ...['count', 'count_distinct', 'avg', 'sum', 'min', 'max', 'pct', 'percentile', 'median'],
  ...['stddev', 'earliest', 'latest', 'sortsFirst', 'sortsLast'],
  ...['count_over_time', 'countOverTime', 'sum_over_time', 'sumOverTime'],
];

export const isAggregate = (name: string): boolean =>
  aggregateNames.some((one) => one.toLowerCase() === name.toLowerCase());

export const checkCount = (
  call: Expression & { readonly kind: 'call' },
  min: number,
  max: number,
): void => {
  const count = call.args.length;
  if (!call.star && count >= min && count <= max) return;
  const wanted = min === max ? String(min) : `${min} to ${max}`;
  const given = call.star ? '`*`' : String(count);
  throw new QueryError(
    `\`${call.name}\` takes ${wanted} argument${wanted === '1' ? '' : 's'}, not ${given}`,
    call.span,
  );
};

export const periodOf = (expression: Expression | undefined, span: Span): Period => {
  const period = expression?.kind === 'duration' ? parsePeriod(expression.text) : undefined;
  if (period !== undefined) return period;
  throw new QueryError(
    'expected a length of time such as `5m`, `1h` or `1d`',
    expression?.span ?? span,
  );
};

const compileDate = (
  call: Expression & { readonly kind: 'call' },
  context: CompileContext,
): Read => {
  const isBin = call.name.toLowerCase() === 'bin';
  const wanted = isBin ? 1 : 2;
  checkCount(call, wanted, wanted);
  const period = periodOf(call.args[wanted - 1], call.span);
  const [of] = call.args;
  const moment = isBin || of === undefined ? timestamp(context) : compile(of, context);
  const round = call.name.toLowerCase() === 'dateceil' ? ceilTo : floorTo;
  return (row: Row): Value => {
    const ms = toNumber(moment(row));
    return ms === undefined ? undefined : round(ms, period);
  };
};

/** The requested time range, in milliseconds. */
const compileRange = (
  call: Expression & { readonly kind: 'call' },
  { range }: CompileContext,
): Read => {
  checkCount(call, 0, 0);
  if (range === undefined) {
    throw new QueryError(
      `\`${call.name}\` tells of the time range, and none is given`,
      call.span,
      'say where it begins and ends, with --start and --end',
    );
  }
  const { startMs, endMs } = range;
  const name = call.name.toLowerCase();
  const value =
    name === 'querystarttime' ? startMs : name === 'queryendtime' ? endMs : endMs - startMs;
  return () => value;
};

/**
 * The expression and the replacement must be literals of the query: how to reference groups is not
 * documented.
 */
const compileReplace = (
  call: Expression & { readonly kind: 'call' },
  context: CompileContext,
): Read => {
  checkCount(call, 3, 3);
  const [of, pattern, by] = call.args;
  if (of === undefined || pattern?.kind !== 'text' || by?.kind !== 'text') {
    throw new QueryError(
      `\`${call.name}\` takes a regular expression and a text, both in quotes`,
      (pattern?.kind === 'text' ? by : pattern)?.span ?? call.span,
    );
  }
  if (/[$\\][0-9{]/.test(by.value)) {
    throw new QueryError(
      'groups in a replacement are not documented',
      by.span,
      'take the parts with `parse`, and put them together with `concat`',
    );
  }
  const { value: source, span } = pattern;
  const regex = compileRegex({ kind: 'regex', source, span });
  const read = compile(of, context);
  return (row) => {
    const text = toText(read(row));
    if (text === undefined || !regex.test(text)) return text;
    let [made, at] = ['', 0];
    for (const { start, end } of allMatches(regex, text)) {
      made += text.slice(at, start) + by.value;
      at = end;
      if (made.length + text.length - at > maxTextLength) return undefined;
    }
    return made + text.slice(at);
  };
};

const timestamp = ({ names }: CompileContext): Read => names.read('@timestamp', ['@timestamp']);
