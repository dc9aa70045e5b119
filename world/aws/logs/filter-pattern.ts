// CloudWatch's filter patterns ("FilterAndPatternSyntax"): terms, and selectors of JSON members. A
// JSON pattern is equivalent to an Insights condition and is translated into one. Space-delimited
// patterns (`[ip, user, ...]`) are refused: the control plane's events are JSON.
import { compileCondition, type LogEvent, QueryError } from '../../../src/insights/index.ts';
import { invalidParameter } from './groups.ts';

type Matches = (event: LogEvent) => boolean;

const invalid = (why: string) => invalidParameter(`Invalid filter pattern: ${why}`);

export const compileFilterPattern = (pattern: string): Matches => {
  const text = pattern.trim();
  if (text === '' || text === '""') return () => true;
  if (text.startsWith('{')) return jsonPattern(text);
  if (text.startsWith('[')) {
    throw invalid(
      'space-delimited patterns are not supported here; write terms or { $.field = "value" }',
    );
  }
  return termsPattern(text);
};

const term = /([?-]?)(?:"((?:[^"\\]|\\.)*)"|%((?:[^%\\]|\\.)+)%|([^\s"]+))\s*/y;

/** Matches all plain terms, at least one of those with `?`, and none of those with `-`. */
const termsPattern = (text: string): Matches => {
  const wanted: Matches[] = [];
  const either: Matches[] = [];
  term.lastIndex = 0;
  while (term.lastIndex < text.length) {
    const match = term.exec(text);
    if (match === null) throw invalid('a quote is never closed');
    const [, mark, quoted, regex, plain] = match;
    const part = quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '';
    const test: Matches =
      regex === undefined
        ? ({ message }) => message.includes(part)
        : condition(`@message like /${regex.replaceAll('/', '\\/')}/`);
    if (mark === '?') either.push(test);
    else if (mark === '-') wanted.push((event) => !test(event));
    else wanted.push(test);
  }
  return (event) =>
    wanted.every((test) => test(event)) &&
    (either.length === 0 || wanted.length > 0 || either.some((test) => test(event)));
};

const condition = (text: string): Matches => {
  try {
    return compileCondition(text);
  } catch (error) {
    if (error instanceof QueryError) throw invalid(error.message);
    throw error;
  }
};

const jsonToken = new RegExp(
  [
    String.raw`\s*(?:(?<bracket>[()])`,
    String.raw`(?<logic>&&|\|\|)`,
    String.raw`(?<selector>\$(?:\.[A-Za-z0-9_@-]+|\.\["[^"]+"\]|\["[^"]+"\]|\[\d+\])+)`,
    '(?<operator>!=|>=|<=|=|>|<)',
    String.raw`(?<word>IS\s+NULL|IS\s+TRUE|IS\s+FALSE|NOT\s+EXISTS|EXISTS)\b`,
    String.raw`%(?<regex>(?:[^%\\]|\\.)+)%`,
    String.raw`"(?<quoted>(?:[^"\\]|\\.)*)"`,
    String.raw`(?<plain>[^\s()&|=!<>"]+))\s*`,
  ].join('|'),
  'y',
);

const fieldOf = (selector: string): string =>
  [...selector.matchAll(/\.?\["([^"]+)"\]|\.([A-Za-z0-9_@-]+)|\[(\d+)\]/g)]
    .map(([, quoted, plain, index]) => `\`${quoted ?? plain ?? index ?? ''}\``)
    .join('.');

const words: Readonly<Record<string, (field: string) => string>> = {
  'IS NULL': (field) => `not ispresent(${field})`,
  'NOT EXISTS': (field) => `not ispresent(${field})`,
  EXISTS: (field) => `ispresent(${field})`,
  'IS TRUE': (field) => `${field} = "true"`,
  'IS FALSE': (field) => `${field} = "false"`,
};

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const quotedText = (text: string): string => `"${text.replace(/[\\"']/g, '\\$&')}"`;

const comparison = (field: string, operator: string, value: string): string => {
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(value);
  if (operator !== '=' && operator !== '!=') {
    if (!isNumber) throw invalid(`${operator} compares numbers`);
    return `${field} ${operator} ${value}`;
  }
  if (isNumber) return `${field} ${operator} ${value}`;
  if (!value.includes('*')) return `${field} ${operator} ${quotedText(value)}`;
  // A star matches any text.
  const regex = value.split('*').map(escaped).join('.*');
  return `${field} ${operator === '=' ? 'like' : 'not like'} /(?s)^${regex}$/`;
};

/** `{ ($.verb = "patch") && ($.objectRef.name = "ip-*") }` as a condition of the query language. */
const jsonPattern = (text: string): Matches => {
  if (!text.endsWith('}')) throw invalid('`{` is never closed');
  const inner = text.slice(1, -1);
  const parts: string[] = [];
  let field: string | undefined;
  let operator: string | undefined;
  jsonToken.lastIndex = 0;
  while (jsonToken.lastIndex < inner.length) {
    const groups = jsonToken.exec(inner)?.groups;
    if (groups === undefined) throw invalid('it cannot be read');
    const { bracket, logic, selector, word, regex, quoted, plain } = groups;
    if (bracket !== undefined) parts.push(bracket);
    else if (logic !== undefined) parts.push(logic === '&&' ? 'and' : 'or');
    else if (selector !== undefined) field = fieldOf(selector);
    else if (groups.operator !== undefined) operator = groups.operator;
    else if (field === undefined) throw invalid('a selector such as $.verb is missing');
    else {
      const test = words[word?.replace(/\s+/g, ' ') ?? ''];
      if (test !== undefined) parts.push(`(${test(field)})`);
      else if (operator === undefined) throw invalid(`an operator after ${field} is missing`);
      else if (regex !== undefined) parts.push(`(${field} like /${regex.replaceAll('/', '\\/')}/)`);
      else parts.push(`(${comparison(field, operator, quoted ?? plain ?? '')})`);
      field = undefined;
      operator = undefined;
    }
  }
  if (field !== undefined) throw invalid('a comparison has no end');
  return condition(parts.join(' '));
};
