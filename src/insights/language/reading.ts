// Parser functions shared by the parsers of single commands. Knows no command.
import type { Subquery } from './ast.ts';
import type { ExpressionParser } from './parse-expression.ts';
import type { QueryError } from './query-error.ts';
import type { Scanner } from './scanner.ts';

/** The part of the query parser that command parsers use. */
export interface Reading {
  readonly scan: Scanner;
  readonly expressions: ExpressionParser;
  /** Start of the command. */
  readonly start: number;
  readonly alias: () => string;
  readonly list: <T>(item: () => T) => readonly T[];
  readonly unexpected: (wanted: string) => QueryError;
  /** The text between brackets, up to the closing one. */
  readonly subquery: () => Subquery;
}

/** Parses `name=` if present. */
export const option = ({ scan }: Reading, name: string): boolean => {
  if (!scan.peekKeyword(name)) return false;
  if (!/^\s*=/.test(scan.text.slice(scan.at + name.length, scan.at + name.length + 20)))
    return false;
  return scan.keyword(name) && scan.symbol('=');
};

export const truth = (reading: Reading): boolean => {
  if (reading.scan.keyword('true')) return true;
  if (reading.scan.keyword('false')) return false;
  throw reading.unexpected('`true` or `false`');
};

/** Whether the command ends; a subquery's also ends before its bracket. */
export const isOver = (scan: Scanner): boolean =>
  scan.atEnd || scan.peekSymbol('|') || scan.peekSymbol(')');
