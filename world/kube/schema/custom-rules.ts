// x-kubernetes-validations: CEL rules of a custom resource's schema, including transition rules
// (`oldSelf`), with the API server's messages (apiextensions' schema/cel). No cost limit; supports
// only those Kubernetes CEL libraries that cel-js has, and isSorted.
import { Environment, EvaluationError, Optional, ParseError } from '@marcbachmann/cel-js';
import { isObject, type Json, type JsonObject, setOwn } from '../../../src/api/json.ts';
import {
  childPath,
  flag,
  memberSchema,
  objectIn,
  objectsIn,
  oldElement,
  oldMember,
  type SchemaError,
  someBelow,
  textIn,
} from './custom-schema.ts';
import { deepEqual, own } from './values.ts';

/** isSorted of Kubernetes' list library, for numbers and strings; equal neighbours are allowed. */
function isSorted(list: readonly (bigint | number | string)[]): boolean {
  return list.every((one, index) => {
    const before = list[index - 1];
    return before === undefined || before <= one;
  });
}

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
})
  .registerVariable('self', 'dyn')
  .registerVariable('oldSelf', 'dyn')
  .registerFunction('list.isSorted(): bool', isSorted);

type Program = (context: Readonly<Record<string, unknown>>) => unknown;
type Compiled =
  | { readonly kind: 'ok'; readonly run: Program }
  | { readonly kind: 'error'; readonly message: string };

const zoneFault = /^Invalid time zone specified: (.*)$/;

/** An unknown time zone fails the evaluation with Go's message, as in the API server. */
function withZoneFaults(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    const zone = error instanceof RangeError ? zoneFault.exec(error.message)?.[1] : undefined;
    if (zone === undefined) throw error;
    throw new EvaluationError(`unknown time zone ${zone}`);
  }
}

const compiled = new Map<string, Compiled>();

export function compile(expression: string): Compiled {
  const known = compiled.get(expression);
  if (known !== undefined) return known;
  let result: Compiled;
  try {
    const parsed = environment.parse(expression);
    result = { kind: 'ok', run: (context) => withZoneFaults(() => parsed(context)) };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    result = { kind: 'error', message: error.summary };
  }
  compiled.set(expression, result);
  return result;
}

const RESERVED = new Set(
  (
    'true false null in as break const continue else for function if import let loop package ' +
    'namespace return'
  ).split(' '),
);

const escaped = new Map<string, string>();

/**
 * A property's name escaped for CEL (apiserver's cel/escaping.go). Called only with names that
 * schemas declare.
 */
function escapeName(name: string): string {
  const known = escaped.get(name);
  if (known !== undefined) return known;
  const fresh = RESERVED.has(name) ? `__${name}__` : withoutSigns(name);
  escaped.set(name, fresh);
  return fresh;
}

function withoutSigns(name: string): string {
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/** String formats that CEL represents as types of their own. */
const TYPED_FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'timestamp(self)',
  duration: 'duration(self)',
};

function typedString(schema: JsonObject, value: string): unknown {
  const conversion = TYPED_FORMATS[textIn(schema, 'format')];
  const program = conversion === undefined ? undefined : compile(conversion);
  if (program?.kind !== 'ok') return value;
  try {
    return program.run({ self: value });
  } catch {
    return value;
  }
}

/**
 * Caches converted values by identity: the rules run again with each write, but the parts that the
 * write leaves unchanged are the same objects.
 */
const converted = new WeakMap<object, { readonly schema: JsonObject; readonly seen: unknown }>();

/** JSON as CEL values: integers are bigints, declared properties have escaped names. */
export function celValue(schema: JsonObject, value: Json): unknown {
  if (typeof value !== 'object' || value === null) return convert(schema, value);
  const known = converted.get(value);
  if (known?.schema === schema) return known.seen;
  const seen = convert(schema, value);
  converted.set(value, { schema, seen });
  return seen;
}

function convert(schema: JsonObject, value: Json): unknown {
  if (typeof value === 'number') {
    const integer = textIn(schema, 'type') !== 'number' && Number.isInteger(value);
    return integer ? BigInt(value) : value;
  }
  if (typeof value === 'string') return typedString(schema, value);
  if (Array.isArray(value)) {
    const items = objectIn(schema, 'items') ?? {};
    return value.map((item: Json) => celValue(items, item));
  }
  if (!isObject(value)) return value;
  // Keys of maps and of undeclared objects are not escaped.
  const properties = objectIn(schema, 'properties') ?? {};
  const seen: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const name = own(properties, key) === undefined ? key : escapeName(key);
    setOwn(seen, name, celValue(memberSchema(schema, key) ?? {}, value[key] ?? null));
  }
  return seen;
}

interface Subject {
  readonly schema: JsonObject;
  readonly value: Json;
  readonly old: Json | undefined;
  readonly path: string;
}

const ruleName = (rule: JsonObject): string =>
  (textIn(rule, 'message') || textIn(rule, 'rule')).trim();

function violation(subject: Subject, rule: JsonObject, detail: string): SchemaError {
  const shown = JSON.stringify(textIn(subject.schema, 'type'));
  const field = `${subject.path}${textIn(rule, 'fieldPath')}` || '<nil>';
  switch (textIn(rule, 'reason')) {
    case 'FieldValueForbidden':
      return { type: 'FieldValueForbidden', field, body: `Forbidden: ${detail}` };
    case 'FieldValueRequired':
      return { type: 'FieldValueRequired', field, body: `Required value: ${detail}` };
    case 'FieldValueDuplicate':
      return { type: 'FieldValueDuplicate', field, body: `Duplicate value: ${shown}` };
    default:
      return { type: 'FieldValueInvalid', field, body: `Invalid value: ${shown}: ${detail}` };
  }
}

function evaluationProblem(error: EvaluationError, rule: JsonObject): string {
  const problem = error.summary.replace(/^No such/, 'no such');
  if (!problem.startsWith('no such overload') && error.code !== 'no_matching_overload') {
    return `${problem} evaluating rule: ${ruleName(rule)}`;
  }
  return (
    "'no such overload': call arguments did not match a supported operator, function or macro " +
    `signature for rule: ${ruleName(rule)}`
  );
}

function detailOf(rule: JsonObject, context: Readonly<Record<string, unknown>>): string {
  const expression = textIn(rule, 'messageExpression');
  const program = expression === '' ? undefined : compile(expression);
  if (program?.kind === 'ok') {
    try {
      const text = program.run(context);
      if (typeof text === 'string' && text.trim() !== '' && !text.includes('\n')) return text;
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
    }
  }
  const message = textIn(rule, 'message').trim();
  return message === '' ? `failed rule: ${ruleName(rule)}` : message;
}

const OLD_SELF = /\boldSelf\b/;

function ruleError(
  subject: Subject,
  rule: JsonObject,
  values: { readonly self: unknown; readonly oldSelf: unknown },
): SchemaError | undefined {
  const { schema, path, old } = subject;
  const text = textIn(rule, 'rule');
  const transition = OLD_SELF.test(text);
  const optional = flag(rule, 'optionalOldSelf');
  if (transition && old === undefined && !optional) return undefined;
  const problem = (message: string): SchemaError => ({
    type: 'FieldValueInvalid',
    field: path || '<nil>',
    body: `Invalid value: ${JSON.stringify(textIn(schema, 'type'))}: ${message}`,
  });
  const program = compile(text);
  if (program.kind === 'error') return problem(`rule compile error: ${program.message}`);
  const oldOptional = old === undefined ? Optional.none() : Optional.of(values.oldSelf);
  const context = { self: values.self, oldSelf: optional ? oldOptional : values.oldSelf };
  try {
    if (program.run(context) === true) return undefined;
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    return problem(evaluationProblem(error, rule));
  }
  // Ratcheting: an unchanged value is not reported, except by transition rules.
  if (!transition && old !== undefined && deepEqual(old, subject.value)) return undefined;
  return violation(subject, rule, detailOf(rule, context));
}

/** Whether a rule of this schema itself, or its message, uses oldSelf. */
const askingOld = new WeakMap<JsonObject, boolean>();

const asksOld = (schema: JsonObject): boolean => {
  const known = askingOld.get(schema);
  if (known !== undefined) return known;
  const asks = objectsIn(schema, 'x-kubernetes-validations').some(
    (rule) =>
      OLD_SELF.test(textIn(rule, 'rule')) || OLD_SELF.test(textIn(rule, 'messageExpression')),
  );
  askingOld.set(schema, asks);
  return asks;
};

function rulesHere(subject: Subject): readonly SchemaError[] {
  const { schema, value, old } = subject;
  const rules = objectsIn(schema, 'x-kubernetes-validations');
  if (rules.length === 0) return [];
  const self = celValue(schema, value);
  const isOldAsked = old !== undefined && asksOld(schema);
  const oldSelf = isOldAsked ? celValue(schema, old) : undefined;
  return rules.flatMap((rule) => ruleError(subject, rule, { self, oldSelf }) ?? []);
}

function rulesBelow(subject: Subject): readonly SchemaError[] {
  const { schema, value, old, path } = subject;
  if (Array.isArray(value)) {
    const items = objectIn(schema, 'items');
    if (items === undefined) return [];
    return value.flatMap((item: Json, index) => {
      const before = oldElement(schema, old, item);
      return evaluate({ schema: items, value: item, old: before, path: `${path}[${index}]` });
    });
  }
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((key) => {
    const below = memberSchema(schema, key);
    const member = own(value, key);
    if (below === undefined || member === undefined) return [];
    const before = oldMember(old, key);
    return evaluate({ schema: below, value: member, old: before, path: childPath(path, key) });
  });
}

const hasRules = someBelow((schema) => objectsIn(schema, 'x-kubernetes-validations').length > 0);

/** Unchanged parts that already passed all rules: values and schemas never change. */
const sound = new WeakMap<object, JsonObject>();

function evaluate(subject: Subject): readonly SchemaError[] {
  const { schema, value } = subject;
  if (value === null || !hasRules(schema)) return [];
  const old = subject.old === null ? undefined : subject.old;
  const isSame = old === value && typeof value === 'object';
  if (isSame && sound.get(value) === schema) return [];
  const errors = [...rulesHere({ ...subject, old }), ...rulesBelow({ ...subject, old })];
  if (isSame && errors.length === 0) sound.set(value, schema);
  return errors;
}

/** Violations of the schema's rules; `old` on update only. */
export function ruleErrors(
  schema: JsonObject,
  object: JsonObject,
  old: JsonObject | undefined,
): readonly SchemaError[] {
  return evaluate({ schema, value: object, old, path: '' });
}
