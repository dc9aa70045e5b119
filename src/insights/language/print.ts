// Prints a syntax tree as an equivalent query: for notices and to check the parser.
import type { Command, Expression, JoinSide, NamedExpression, Query, Subquery } from './ast.ts';

export const printQuery = (query: Query): string => query.commands.map(command).join('\n| ');

const reservedWord = /^(?:and|or|not|like|in|as|by|asc|desc|into)$/i;

const part = (text: string, first: boolean): string => {
  const bare = first ? /^[A-Za-z_@][A-Za-z0-9_@]*$/ : /^[A-Za-z0-9_@]+$/;
  return bare.test(text) && !reservedWord.test(text) ? text : `\`${text}\``;
};

const path = (parts: readonly string[]): string =>
  parts.map((one, index) => part(one, index === 0)).join('.');

const quoted = (text: string): string => `"${text.replace(/[\\"']/g, '\\$&')}"`;

const listOf = <T>(items: readonly T[], print: (item: T) => string): string =>
  items.map(print).join(', ');

/** A name after `as`: whether its dots separated parts or were in backticks makes no difference. */
const alias = (name: string): string => part(name, true);

const named = ({ expression: inner, alias: name }: NamedExpression): string =>
  name === undefined ? expression(inner) : `${expression(inner)} as ${alias(name)}`;

const command = (one: Command): string => {
  switch (one.kind) {
    case 'fields':
    case 'display':
      return `${one.kind} ${listOf(one.items, named)}`;
    case 'filter':
      return `filter ${expression(one.condition)}`;
    case 'stats': {
      const by = one.by.length === 0 ? '' : ` by ${listOf(one.by, named)}`;
      return `stats ${listOf(one.aggregates, named)}${by}`;
    }
    case 'sort':
      return `sort ${listOf(one.keys, (key) => `${expression(key.expression)} ${key.descending ? 'desc' : 'asc'}`)}`;
    case 'limit':
      return `limit ${one.any ? 'any ' : ''}${one.count}`;
    case 'parse': {
      const names = one.names.length === 0 ? '' : ` as ${listOf(one.names, alias)}`;
      const multi = one.multi ? ' multi' : '';
      return `parse ${operand(one.operand)} ${parsePattern(one.pattern)}${names}${multi}`;
    }
    case 'json':
      return `json field=${expression(one.field)} ${quoted(one.path)} as ${alias(one.alias)}`;
    case 'expand':
      return `expand ${expression(one.field)}`;
    case 'addtotals': {
      const options = `fieldname=${alias(one.column)} row=${one.row} col=${one.col}`;
      return `addtotals ${options} ${listOf(one.fields, expression)}`.trimEnd();
    }
    case 'accum':
      return `accum ${expression(one.field)} as ${alias(one.alias)}`;
    case 'lookup': {
      const match = listOf(
        one.match,
        ({ column, field }) => `${alias(column)} as ${expression(field)}`,
      );
      return `lookup ${starred(one.table.name)} ${match} OUTPUT ${listOf(one.output, alias)}`;
    }
    case 'cidrlookup': {
      const column = one.column === undefined ? '' : ` as ${alias(one.column)}`;
      const output = listOf(one.output, (out) => `${alias(out.column)} as ${alias(out.alias)}`);
      const word = one.onlyNew ? 'OUTPUTNEW' : 'OUTPUT';
      return `cidrlookup ${starred(one.table.name)} ${expression(one.field)}${column} ${word} ${output}`;
    }
    case 'countFrequent':
      return `countFrequent ${listOf(one.fields, expression)}`;
    case 'fillmissing': {
      const values = listOf(one.values, ({ value, name }) => {
        return `${typeof value === 'number' ? value : quoted(value)} for ${alias(name)}`;
      });
      return values === '' ? 'fillmissing' : `fillmissing with ${values}`;
    }
    case 'filldown':
      return ['filldown', ...one.names.map(starred)].join(' ');
    case 'join': {
      const { type, left, right, query } = one;
      const key = (side: JoinSide) => path([side.name, ...side.field.path]);
      const names = `left=${part(left.name, true)} right=${part(right.name, true)}`;
      return `join type=${type} ${names} where ${key(left)} = ${key(right)} (${subquery(query)})`;
    }
    case 'appendcols':
      return `appendcols override=${one.override} max=${one.max} (${subquery(one.query)})`;
    case 'dedup':
      return `dedup ${listOf(one.fields, expression)}`;
    case 'pattern':
      return `pattern ${expression(one.operand)}`;
    case 'diff':
      return one.period === 'previous' ? 'diff' : `diff ${one.period}`;
    case 'unnest':
      return `unnest ${expression(one.field)} into ${alias(one.alias)}`;
  }
};

const subquery = ({ source, commands }: Subquery): string => {
  const parts = source === undefined ? [] : [`SOURCE ${quoted(source)}`];
  return [...parts, ...commands.map(command)].join(' | ');
};

const parsePattern = (pattern: (Command & { readonly kind: 'parse' })['pattern']): string => {
  switch (pattern.kind) {
    case 'regex':
      return `/${pattern.source}/`;
    case 'text':
      return quoted(pattern.value);
    default:
      return pattern.kind;
  }
};

/** A name with stars for any text; in backticks when it could not be parsed otherwise. */
const starred = (name: string): string => (/^[A-Za-z0-9_@.*-]+$/.test(name) ? name : `\`${name}\``);

const simple = new Set<Expression['kind']>(['field', 'text', 'number', 'duration', 'call']);

/** In brackets unless it is one word. */
const operand = (one: Expression): string =>
  simple.has(one.kind) ? expression(one) : `(${expression(one)})`;

const expression = (one: Expression): string => {
  switch (one.kind) {
    case 'field': {
      const isName = /^(?:true|false)$/i.test(one.name) && one.mayBeLiteral !== true;
      return isName ? `\`${one.name}\`` : path(one.path);
    }
    case 'text':
      return quoted(one.value);
    case 'number':
      return String(one.value);
    case 'duration':
      return one.text;
    case 'call':
      return `${one.name}(${one.star ? '*' : listOf(one.args, expression)})`;
    case 'negate':
      return `-${operand(one.operand)}`;
    case 'binary':
    case 'compare':
      return `${operand(one.left)} ${one.operator} ${operand(one.right)}`;
    case 'like': {
      const pattern =
        one.pattern.kind === 'regex' ? `/${one.pattern.source}/` : operand(one.pattern);
      return `${operand(one.operand)} ${one.negated ? 'not like' : 'like'} ${pattern}`;
    }
    case 'in':
      return `${operand(one.operand)} ${one.negated ? 'not in' : 'in'} [${listOf(one.items, operand)}]`;
    case 'inQuery': {
      const word = one.negated ? 'not in' : 'in';
      return `${operand(one.operand)} ${word} (${subquery(one.query)})`;
    }
    case 'not':
      return `not ${operand(one.operand)}`;
    case 'and':
    case 'or':
      return one.operands.map(operand).join(` ${one.kind} `);
  }
};
