// Label and field selectors: parsed from query text or a LabelSelector object, then matched against
// objects. Invalid text is a BadRequest with the API server's message.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { type Requirement, requirementHolds } from '../../../src/api/selectors.ts';
import { labelsOf, objectsOf, textOf, textsOf } from './objects.ts';
import { badRequest } from './status.ts';

export type LabelMatcher = (labels: JsonObject) => boolean;

type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

const matcherOf =
  (requirements: readonly Requirement[]): LabelMatcher =>
  (labels) =>
    requirements.every((one) =>
      requirementHolds(one, Object.hasOwn(labels, one.key) ? textOf(labels[one.key]) : undefined),
    );

const unparsable = (text: string): never => {
  throw badRequest(`unable to parse requirement: ${text}`);
};

const labelKey =
  /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export const isLabelKey = (text: string): boolean => labelKey.test(text);
export const isLabelValue = (text: string): boolean => labelValue.test(text);

/** Splits at commas outside parentheses. */
function splitTerms(text: string): readonly string[] {
  const terms: string[] = [];
  let depth = 0;
  let term = '';
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')') depth--;
    if (char === ',' && depth === 0) {
      terms.push(term.trim());
      term = '';
    } else term += char;
  }
  terms.push(term.trim());
  return terms;
}

function parseTerm(term: string): Requirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(term);
  if (set !== null) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim());
    return checked(set[1] ?? '', set[2] === 'in' ? 'In' : 'NotIn', values);
  }
  const equality = /^([^=!<>\s]+)\s*(==|=|!=|>|<)\s*(\S*)$/.exec(term);
  if (equality !== null) {
    const [, key = '', operator = '', value = ''] = equality;
    if (operator === '>' || operator === '<') {
      if (!/^-?\d+$/.test(value))
        unparsable(`for 'Gt', 'Lt' operators, the value must be an integer`);
      return checked(key, operator === '>' ? 'Gt' : 'Lt', [value]);
    }
    return checked(key, operator === '!=' ? 'NotIn' : 'In', [value]);
  }
  if (/^!\s*\S+$/.test(term)) return checked(term.slice(1).trim(), 'DoesNotExist', []);
  return checked(term, 'Exists', []);
}

function checked(key: string, operator: Operator, values: readonly string[]): Requirement {
  if (!isLabelKey(key)) {
    unparsable(`<nil>: Invalid value: "${key}": name part must consist of alphanumeric characters`);
  }
  for (const value of values) {
    if (!isLabelValue(value)) {
      unparsable(
        `values[0][${key}]: Invalid value: "${value}": a valid label must be an empty string or ` +
          `consist of alphanumeric characters, '-', '_' or '.'`,
      );
    }
  }
  return { key, operator, values };
}

/** Query text such as `a=b,c in (d,e),!f`; undefined matches everything. */
function parseLabelSelector(text: string | null): LabelMatcher | undefined {
  if (text === null || text.trim() === '') return undefined;
  return matcherOf(splitTerms(text).map(parseTerm));
}

const matchers = new WeakMap<JsonObject, LabelMatcher>();

/** A metav1.LabelSelector; null or empty matches everything, as in the API's own helper. */
export function labelSelectorMatcher(selector: Json | undefined): LabelMatcher {
  if (!isObject(selector)) return () => true;
  const known = matchers.get(selector);
  if (known !== undefined) return known;
  const matcher = makeMatcher(selector);
  matchers.set(selector, matcher);
  return matcher;
}

function makeMatcher(selector: JsonObject): LabelMatcher {
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(objectOr(selector.matchLabels))) {
    requirements.push({ key, operator: 'In', values: [textOf(value) ?? ''] });
  }
  for (const expression of objectsOf(selector.matchExpressions)) {
    requirements.push({
      key: textOf(expression.key) ?? '',
      operator: operatorOf(expression.operator),
      values: textsOf(expression.values),
    });
  }
  return matcherOf(requirements);
}

function operatorOf(value: Json | undefined): Operator {
  if (value === 'NotIn' || value === 'Exists' || value === 'DoesNotExist') return value;
  return 'In';
}

export const isEmptySelector = (selector: Json | undefined): boolean =>
  !isObject(selector) ||
  (Object.keys(objectOr(selector.matchLabels)).length === 0 &&
    objectsOf(selector.matchExpressions).length === 0);

// ---- field selectors ----

export type FieldReader = (object: JsonObject) => string;

interface FieldTerm {
  readonly field: string;
  readonly equals: boolean;
  readonly value: string;
}

/** Terms of `a=b,c!=d`; `\,`, `\=` and `\\` are escapes in values. */
function parseFieldSelector(text: string | null): readonly FieldTerm[] {
  if (text === null || text === '') return [];
  return text
    .split(/(?<!\\),/)
    .filter((term) => term !== '')
    .map((term) => {
      const parts = /^(.*?)(==|!=|=)(.*)$/.exec(term);
      if (parts === null) {
        throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      }
      const [, field = '', operator = '', value = ''] = parts;
      return { field, equals: operator !== '!=', value: value.replace(/\\([\\,=])/g, '$1') };
    });
}

export interface Selection {
  /** Undefined when every object matches. */
  readonly matches: ((object: JsonObject) => boolean) | undefined;
  /** Exact values required, e.g. `spec.nodeName` to `n1`, for which an index may exist. */
  readonly exact: ReadonlyMap<string, string>;
}

export function selectionOf(
  query: URLSearchParams,
  fields: Readonly<Record<string, FieldReader>>,
  unknownField: (field: string) => string,
): Selection {
  const labels = parseLabelSelector(query.get('labelSelector'));
  const terms = parseFieldSelector(query.get('fieldSelector'));
  const checks = terms.map((term) => {
    const read = Object.hasOwn(fields, term.field) ? fields[term.field] : undefined;
    if (read === undefined) throw badRequest(unknownField(term.field));
    return (object: JsonObject) => (read(object) === term.value) === term.equals;
  });
  const exact = new Map<string, string>();
  for (const term of terms) if (term.equals) exact.set(term.field, term.value);
  if (labels === undefined && checks.length === 0) return { matches: undefined, exact };
  return {
    exact,
    matches: (object) =>
      checks.every((check) => check(object)) && (labels === undefined || labels(labelsOf(object))),
  };
}
