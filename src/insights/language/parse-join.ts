// Parses `join` and `appendcols`. `join` compares one pair of fields, as documented.
import type { Command, FieldRef } from './ast.ts';
import { QueryError } from './query-error.ts';
import { option, type Reading, truth } from './reading.ts';

const sideName = ({ scan, unexpected }: Reading): string => {
  const name = scan.word();
  if (name === undefined) throw unexpected('a name for one side');
  return name;
};

const options = (reading: Reading) => {
  const { scan, unexpected } = reading;
  let type: 'inner' | 'left' = 'inner';
  let [left, right]: (string | undefined)[] = [];
  for (;;) {
    if (option(reading, 'type')) {
      if (scan.keyword('left')) type = 'left';
      else if (scan.keyword('inner')) type = 'inner';
      else throw unexpected('`inner` or `left`');
    } else if (option(reading, 'left')) left = sideName(reading);
    else if (option(reading, 'right')) right = sideName(reading);
    else break;
  }
  if (left === undefined) throw unexpected('`left=` and a name for the rows before `join`');
  if (right === undefined) throw unexpected('`right=` and a name for the rows in brackets');
  return { type, left, right };
};

export const join = (reading: Reading): Command => {
  const { scan, start, unexpected } = reading;
  const { type, left, right } = options(reading);
  if (left === right) {
    throw new QueryError(`both sides of \`join\` are called ${left}`, scan.span(start));
  }
  if (!scan.keyword('where')) throw unexpected('`where` and a pair of fields');
  const key = (): readonly [side: string, field: FieldRef] => {
    const at = scan.at;
    const [side, ...path] = scan.path() ?? [];
    const span = scan.span(at);
    if (side === undefined) throw unexpected(`a field of \`${left}\` or \`${right}\``);
    if ((side !== left && side !== right) || path.length === 0) {
      throw new QueryError(
        `\`where\` compares a field of each side: \`${left}.\` or \`${right}.\` and its name`,
        span,
      );
    }
    return [side, { kind: 'field', name: path.join('.'), path, span }];
  };
  const first = key();
  if (!scan.symbol('==') && !scan.symbol('=')) throw unexpected('`=`');
  const second = key();
  if (first[0] === second[0]) throw sameSide(second[1], left, right);
  if (scan.peekKeyword('and') || scan.peekKeyword('or')) {
    const { span } = scan.here();
    throw new QueryError('`join` compares one pair of fields', span, 'put a `filter` behind it');
  }
  const [ofLeft, ofRight] = first[0] === left ? [first[1], second[1]] : [second[1], first[1]];
  if (!scan.symbol('(')) throw unexpected('`(` and what to join with');
  const query = reading.subquery();
  return {
    kind: 'join',
    type,
    left: { name: left, field: ofLeft },
    right: { name: right, field: ofRight },
    query,
    span: scan.span(start),
  };
};

const sameSide = ({ span }: FieldRef, left: string, right: string): QueryError =>
  new QueryError(`\`where\` compares a field of ${left} with one of ${right}`, span);

/** The maximum and default of `max` (CWL_QuerySyntax-Appendcols). */
const largestMax = 100_000;
const usualMax = 10_000;

export const appendcols = (reading: Reading): Command => {
  const { scan, start, unexpected } = reading;
  let [override, max] = [false, usualMax];
  for (;;) {
    if (option(reading, 'override')) override = truth(reading);
    else if (option(reading, 'max')) {
      const { span } = scan.here();
      max = Number(scan.integer());
      if (!(max >= 1 && max <= largestMax)) {
        throw new QueryError(`\`max\` is a whole number from 1 to ${largestMax}`, span);
      }
    } else break;
  }
  if (!scan.symbol('(')) throw unexpected('`(` and a query');
  const query = reading.subquery();
  return { kind: 'appendcols', override, max, query, span: scan.span(start) };
};
