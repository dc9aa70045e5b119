// The syntax tree of a Logs Insights query. Data only; keeps positions for messages and names.
import type { DiffPeriod } from '../patterns/periods.ts';
import type { Span } from './query-error.ts';

export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '^';
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';

export interface FieldRef {
  readonly kind: 'field';
  /** Without backticks: `objectRef.name`, `annotations.authorization.k8s.io/decision`. */
  readonly name: string;
  /** The parts as written; text in backticks is one part, with or without dots. */
  readonly path: readonly string[];
  /**
   * `true` or `false` without backticks: the literal, unless a command defined a field of that
   * name.
   */
  readonly mayBeLiteral?: true;
  readonly span: Span;
}

export interface TextLiteral {
  readonly kind: 'text';
  readonly value: string;
  readonly span: Span;
}

export interface RegexLiteral {
  readonly kind: 'regex';
  /** As written between the slashes. */
  readonly source: string;
  readonly span: Span;
}

/** `parse F logfmt`, `parse F csv` */
export interface FormatWord {
  readonly kind: 'logfmt' | 'csv';
  readonly span: Span;
}

export type Expression =
  | FieldRef
  | TextLiteral
  | { readonly kind: 'number'; readonly value: number; readonly span: Span }
  | { readonly kind: 'duration'; readonly text: string; readonly span: Span }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: readonly Expression[];
      /** `count(*)` */
      readonly star: boolean;
      readonly span: Span;
    }
  | { readonly kind: 'negate'; readonly operand: Expression; readonly span: Span }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
      readonly span: Span;
    }
  | {
      readonly kind: 'compare';
      readonly operator: ComparisonOperator;
      readonly left: Expression;
      readonly right: Expression;
      readonly span: Span;
    }
  | {
      readonly kind: 'like';
      readonly operand: Expression;
      readonly pattern: Expression | RegexLiteral;
      readonly negated: boolean;
      readonly span: Span;
    }
  | {
      readonly kind: 'in';
      readonly operand: Expression;
      readonly items: readonly Expression[];
      readonly negated: boolean;
      readonly span: Span;
    }
  | {
      /** `F in (SOURCE 'g' | ... | fields F)` */
      readonly kind: 'inQuery';
      readonly operand: Expression;
      readonly query: Subquery;
      readonly negated: boolean;
      readonly span: Span;
    }
  | { readonly kind: 'not'; readonly operand: Expression; readonly span: Span }
  | {
      readonly kind: 'and' | 'or';
      /** Two or more: chains are flat, whatever their length. */
      readonly operands: readonly Expression[];
      readonly span: Span;
    };

export interface Subquery {
  /** The log to read; undefined for the query's own. */
  readonly source: string | undefined;
  readonly commands: readonly Command[];
  readonly span: Span;
}
export type InQuery = Extract<Expression, { readonly kind: 'inQuery' }>;

/** One side of a `join`: its prefix, and the field to compare. */
export interface JoinSide {
  readonly name: string;
  readonly field: FieldRef;
}

export interface NamedExpression {
  readonly expression: Expression;
  /** `as NAME`; without it the column is named by the expression's text. */
  readonly alias: string | undefined;
  readonly text: string;
  readonly span: Span;
}

export interface SortKey {
  readonly expression: Expression;
  readonly descending: boolean;
}

export type Command =
  | { readonly kind: 'fields'; readonly items: readonly NamedExpression[]; readonly span: Span }
  | { readonly kind: 'display'; readonly items: readonly NamedExpression[]; readonly span: Span }
  | { readonly kind: 'filter'; readonly condition: Expression; readonly span: Span }
  | {
      readonly kind: 'stats';
      readonly aggregates: readonly NamedExpression[];
      readonly by: readonly NamedExpression[];
      readonly span: Span;
    }
  | { readonly kind: 'sort'; readonly keys: readonly SortKey[]; readonly span: Span }
  | {
      readonly kind: 'limit';
      readonly count: number;
      /** `limit any`: the first rows found, without reading on. */
      readonly any: boolean;
      readonly span: Span;
    }
  | {
      readonly kind: 'parse';
      readonly operand: Expression;
      readonly pattern: TextLiteral | RegexLiteral | FormatWord;
      /** Names for a glob's stars, a regular expression's groups, or values; one name for a map. */
      readonly names: readonly string[];
      /** One row per match of a regular expression. */
      readonly multi: boolean;
      readonly span: Span;
    }
  /** `json field=F "path" as x` */
  | {
      readonly kind: 'json';
      readonly field: FieldRef;
      readonly path: string;
      readonly alias: string;
      readonly span: Span;
    }
  | { readonly kind: 'expand'; readonly field: FieldRef; readonly span: Span }
  | {
      readonly kind: 'addtotals';
      /** Name of the column with the rows' sums. */
      readonly column: string;
      readonly row: boolean;
      readonly col: boolean;
      /** Empty: all shown columns. */
      readonly fields: readonly FieldRef[];
      readonly span: Span;
    }
  | {
      readonly kind: 'accum';
      readonly field: FieldRef;
      readonly alias: string;
      readonly span: Span;
    }
  | {
      readonly kind: 'lookup';
      readonly table: { readonly name: string; readonly span: Span };
      /** Columns of the table and the fields that they must equal. */
      readonly match: readonly { readonly column: string; readonly field: FieldRef }[];
      readonly output: readonly string[];
      readonly span: Span;
    }
  | {
      readonly kind: 'cidrlookup';
      readonly table: { readonly name: string; readonly span: Span };
      readonly field: FieldRef;
      /** The table's column with the ranges; undefined when the table determines it. */
      readonly column: string | undefined;
      readonly output: readonly { readonly column: string; readonly alias: string }[];
      /** `OUTPUTNEW`: fields with a value keep it. */
      readonly onlyNew: boolean;
      readonly span: Span;
    }
  | { readonly kind: 'countFrequent'; readonly fields: readonly FieldRef[]; readonly span: Span }
  | {
      readonly kind: 'fillmissing';
      readonly values: readonly {
        readonly value: string | number;
        readonly name: string;
        readonly span: Span;
      }[];
      readonly span: Span;
    }
  /** Names, in which a star matches any text; empty: all shown columns. */
  | { readonly kind: 'filldown'; readonly names: readonly string[]; readonly span: Span }
  | {
      readonly kind: 'join';
      readonly type: 'inner' | 'left';
      readonly left: JoinSide;
      readonly right: JoinSide;
      readonly query: Subquery;
      readonly span: Span;
    }
  | {
      readonly kind: 'appendcols';
      /** Whether existing columns are overwritten. */
      readonly override: boolean;
      /** Maximum number of rows from the subquery. */
      readonly max: number;
      readonly query: Subquery;
      readonly span: Span;
    }
  | { readonly kind: 'dedup'; readonly fields: readonly Expression[]; readonly span: Span }
  | { readonly kind: 'pattern'; readonly operand: Expression; readonly span: Span }
  /** Always follows `pattern`. */
  | { readonly kind: 'diff'; readonly period: DiffPeriod; readonly span: Span }
  | {
      readonly kind: 'unnest';
      readonly field: Expression;
      readonly alias: string;
      readonly span: Span;
    };

export interface Query {
  readonly text: string;
  readonly commands: readonly Command[];
}
