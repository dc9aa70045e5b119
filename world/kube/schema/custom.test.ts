import { describe, expect, it } from 'vitest';
import { customResourceDefinitions } from '../../../src/api/crds.ts';
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { checkCustomFields, validateAgainstStructuralSchema } from './custom.ts';
import { ruleErrors } from './custom-rules.ts';
import { objectIn, objectsIn } from './custom-schema.ts';
import { applyCustomDefaults } from './custom-shape.ts';

const gvk = { group: 'drover.dev', version: 'v1alpha1', kind: 'NodeGroup' };

const spec: JsonObject = {
  type: 'object',
  required: ['need'],
  properties: {
    need: { type: 'string' },
    count: { type: 'integer', minimum: 1, maximum: 10 },
    name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5, minLength: 2 },
    phase: { type: 'string', enum: ['a', 'b'] },
    port: { 'x-kubernetes-int-or-string': true },
    items: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, v: { type: 'integer' } },
        'x-kubernetes-validations': [
          { rule: '!has(self.v) || !has(oldSelf.v) || self.v >= oldSelf.v', message: 'only up' },
        ],
      },
    },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    maybe: { type: 'string', nullable: true },
    open: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'integer' } },
    },
    either: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    timeout: {
      type: 'string',
      format: 'duration',
      'x-kubernetes-validations': [{ rule: "self < duration('1h')", message: 'under an hour' }],
    },
    zone: {
      type: 'string',
      'x-kubernetes-validations': [
        { rule: "timestamp('2026-01-01T00:00:00Z').getHours(self) < 24", message: 'a zone' },
      ],
    },
    range: {
      type: 'object',
      properties: { min: { type: 'integer' }, max: { type: 'integer' } },
      'x-kubernetes-validations': [
        { rule: 'self.min <= self.max', message: 'min over max' },
        {
          rule: 'self.max == oldSelf.max',
          message: 'immutable',
          reason: 'FieldValueForbidden',
          fieldPath: '.max',
        },
        { rule: 'self.min != 4', messageExpression: "'min is ' + string(self.min)" },
        { rule: 'self.max != 13' },
      ],
    },
    deep: {
      type: 'object',
      default: {},
      properties: { x: { type: 'string', default: 'y' } },
    },
  },
};
const schema: JsonObject = { type: 'object', properties: { spec, status: { type: 'object' } } };

const groupWith = (fields: JsonObject): JsonObject => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroup',
  metadata: { name: 'ng' },
  spec: { need: 'x', ...fields },
});

const errorsOf = (fields: JsonObject, old?: JsonObject): readonly string[] =>
  validateAgainstStructuralSchema(
    schema,
    groupWith(fields),
    old === undefined ? undefined : groupWith(old),
  ).map((error) => `${error.field}: ${error.body}`);

const wrongType = (field: string, wanted: string, got: string): string =>
  `${field}: Invalid value: "${got}": ${field} in body must be of type ${wanted}: "${got}"`;

// Every message was printed by apiextensions-apiserver's own validation for the same input, except
// that Kubernetes 1.32 shows the type ("object") before the detail of a rule.
describe('validation of custom resources', () => {
  it.each<[string, JsonObject]>([
    [
      'spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1',
      { count: 0 },
    ],
    [
      'spec.count: Invalid value: 11: spec.count in body should be less than or equal to 10',
      { count: 11 },
    ],
    [
      'spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"',
      { count: 'x' },
    ],
    ['spec.name: Too long: may not be more than 5 bytes', { name: 'toolong' }],
    [
      'spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long',
      { name: 'a' },
    ],
    ['spec.name: Invalid value: "A1": spec.name in body should match \'^[a-z]+$\'', { name: 'A1' }],
    ['spec.phase: Unsupported value: "c": supported values: "a", "b"', { phase: 'c' }],
    [wrongType('spec.port', 'integer,string', 'boolean'), { port: true }],
    [
      'spec.items: Invalid value: 0: spec.items in body should have at least 1 items',
      { items: [] },
    ],
    ['spec.items: Too many: 3: must have at most 2 items', { items: ['a', 'b', 'c'] }],
    [wrongType('spec.items[0]', 'string', 'integer'), { items: [1] }],
    ['spec.set[2]: Duplicate value: "a"', { set: ['a', 'b', 'a'] }],
    ['spec.map[1]: Duplicate value: {"name":"a"}', { map: [{ name: 'a' }, { name: 'a', v: 1 }] }],
    ['spec.map[0].name: Required value', { map: [{ v: 1 }] }],
    [wrongType('spec.labels.a', 'string', 'integer'), { labels: { a: 1 } }],
    [wrongType('spec.open.known', 'integer', 'string'), { open: { known: 'x', other: 1 } }],
    [
      'spec.timeout: Invalid value: "soon": spec.timeout in body must be of type duration: "soon"',
      { timeout: 'soon' },
    ],
    [
      '<nil>: Invalid value: "": "spec.either" must validate one and only one schema (oneOf). ' +
        'Found 2 valid alternatives',
      { either: { a: '', b: '' } },
    ],
    ['spec.range: Invalid value: "object": min over max', { range: { min: 3, max: 2 } }],
    [
      'spec.range: Invalid value: "object": no such key: max evaluating rule: min over max',
      { range: { min: 3 } },
    ],
    ['spec.range: Invalid value: "object": min is 4', { range: { min: 4, max: 5 } }],
    [
      'spec.range: Invalid value: "object": failed rule: self.max != 13',
      { range: { min: 1, max: 13 } },
    ],
    ['spec.timeout: Invalid value: "string": under an hour', { timeout: '2h' }],
  ])('%s', (message, fields) => {
    expect(errorsOf(fields)).toContain(message);
  });

  it('accepts what fits', () => {
    expect(
      errorsOf({
        count: 3,
        port: '25%',
        maybe: null,
        either: { a: 'x' },
        timeout: '15m',
        range: { min: 1, max: 2 },
        map: [{ name: 'a' }, { name: 'b' }],
      }),
    ).toEqual([]);
  });

  it('says that rules were not run on an object of wrong shape', () => {
    expect(errorsOf({ need: 1, range: { min: 3, max: 2 } })).toEqual([
      'spec.need: Invalid value: "integer": spec.need in body must be of type string: "integer"',
      '<nil>: Invalid value: "null": some validation rules were not checked because the object ' +
        'was invalid; correct the existing errors to complete validation',
    ]);
  });

  it('fails a rule that reads the clock of an unknown time zone', () => {
    expect(errorsOf({ zone: 'Europe/Berlin' })).toEqual([]);
    expect(errorsOf({ zone: 'Mars/Base' })).toEqual([
      'spec.zone: Invalid value: "string": unknown time zone Mars/Base evaluating rule: a zone',
    ]);
  });

  it('runs transition rules on update alone, list elements paired by key', () => {
    const now = { range: { min: 1, max: 2 } };
    expect(errorsOf(now)).toEqual([]);
    expect(errorsOf(now, { range: { min: 1, max: 3 } })).toEqual([
      'spec.range.max: Forbidden: immutable',
    ]);
    const before = {
      map: [
        { name: 'a', v: 1 },
        { name: 'b', v: 9 },
      ],
    };
    expect(
      errorsOf(
        {
          map: [
            { name: 'b', v: 2 },
            { name: 'a', v: 2 },
          ],
        },
        before,
      ),
    ).toEqual(['spec.map[0]: Invalid value: "object": only up']);
  });

  it('does not blame an update for what was wrong before and did not change', () => {
    expect(errorsOf({ count: 50, name: 'new' }, { count: 50, name: 'old' })).toEqual([]);
    expect(errorsOf({ count: 51 }, { count: 50 })).toHaveLength(1);
  });
});

describe('what a custom schema makes of an object', () => {
  const check = (body: Json, mode: 'Strict' | 'Warn') =>
    checkCustomFields(body, { gvk, schema }, { mode });

  const body = {
    ...groupWith({ zz: 1, open: { kept: 1 }, map: [{ name: 'a', w: 1 }] }),
    metadata: { name: 'ng', bogus: 1 },
  };

  it('prunes unknown fields and warns of them, sorted', () => {
    expect(check(body, 'Warn')).toEqual({
      kind: 'ok',
      object: groupWith({ open: { kept: 1 }, map: [{ name: 'a' }] }),
      warnings: [
        'unknown field "metadata.bogus"',
        'unknown field "spec.map[0].w"',
        'unknown field "spec.zz"',
      ],
    });
  });

  it('refuses them when strict', () => {
    const result = check(body, 'Strict');
    expect(result.kind === 'error' && result.status).toMatchObject({
      code: 400,
      message:
        'NodeGroup in version "v1alpha1" cannot be handled as a NodeGroup: ' +
        'strict decoding error: ' +
        'unknown field "metadata.bogus", unknown field "spec.map[0].w", unknown field "spec.zz"',
    });
  });

  it('refuses ill-typed metadata whatever the schema says', () => {
    const result = check({ ...groupWith({}), metadata: { labels: { a: 1 } } }, 'Warn');
    expect(result.kind === 'error' && result.status.message).toContain('of type string');
  });

  it('gives back the very same object when nothing is to be done', () => {
    const object = groupWith({ deep: { x: 'z' } });
    const result = check(object, 'Strict');
    expect(result.kind === 'ok' && result.object).toBe(object);
    expect(applyCustomDefaults(schema, object)).toBe(object);
  });

  it('fills in defaults, within defaults too, and drops nulls that may not be', () => {
    expect(applyCustomDefaults(schema, groupWith({ count: null, maybe: null }))).toEqual(
      groupWith({ maybe: null, deep: { x: 'y' } }),
    );
  });
});

describe('the time zone of a maintenance window', () => {
  const name = 'nodegroups.drover.dev';
  const definition = customResourceDefinitions.find(({ metadata }) => metadata.name === name);
  const [version = {}] = objectsIn(objectOr(definition?.spec), 'versions');
  const properties = objectOr(objectIn(objectOr(version.schema), 'openAPIV3Schema'));
  const windowsOf = (timeZone: string): JsonObject => ({
    spec: {
      autoScalingGroupName: 'a',
      updateConfig: { windows: [{ cron: '0 2 * * *', durationSeconds: 3600, timeZone }] },
    },
  });
  const told = (object: JsonObject, old?: JsonObject): readonly string[] =>
    ruleErrors(properties, object, old).map(({ body }) => body);
  const refusal = expect.stringMatching(
    /unknown time zone Mars\/Base evaluating rule: timeZone of a window is a name/,
  );

  it('is known to the server', () => {
    expect(told(windowsOf('Europe/Berlin'))).toEqual([]);
    expect(told(windowsOf('Mars/Base'))).toEqual([refusal]);
    expect(told(windowsOf('Mars/Base'), windowsOf('UTC'))).toEqual([refusal]);
  });

  it('is not asked for again where it stood before', () => {
    expect(told(windowsOf('Mars/Base'), windowsOf('Mars/Base'))).toEqual([]);
  });
});
