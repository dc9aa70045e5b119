// `kubectl explain` has a description for every field of Drover's objects. The test cannot check
// that it is true.
import { describe, expect, it } from 'vitest';
import { withWords } from '../../src/api/crd-words.ts';
import { customResourceDefinitions } from '../../src/api/crds.ts';
import { isObject, type JsonObject, objectOr } from '../../src/api/json.ts';

/** Fields that the API server itself describes. */
const ofKubernetes = ['apiVersion', 'kind', 'metadata'];

/** Paths of the fields below a schema, with their descriptions. */
function* fields(schema: JsonObject, path = ''): Iterable<readonly [string, unknown]> {
  for (const [name, child] of Object.entries(objectOr(schema.properties))) {
    if (!isObject(child) || (path === '' && ofKubernetes.includes(name))) continue;
    yield [`${path}${name}`, child.description];
    yield* fields(child, `${path}${name}.`);
  }
  for (const key of ['items', 'additionalProperties']) {
    const inner = schema[key];
    if (isObject(inner)) yield* fields(inner, path);
  }
}

const schemas = customResourceDefinitions.map((crd) => {
  const { versions } = objectOr(crd.spec);
  const version = objectOr(Array.isArray(versions) ? versions[0] : undefined);
  return [crd.metadata.name, objectOr(objectOr(version.schema).openAPIV3Schema)] as const;
});

describe('the words of our objects', () => {
  it.each(schemas)('%s says something of itself and of every field', (_, schema) => {
    expect(schema.description).toMatch(/^[A-Z].*\.$/);
    const all = [...fields(schema)];
    expect(all.length).toBeGreaterThan(30);
    const wrong = all.filter(([, said]) => typeof said !== 'string' || !/^\S.*[.]$/s.test(said));
    expect(wrong).toEqual([]);
  });

  it('are refused where there is no such field', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } },
      },
    };
    expect(withWords(schema, { a: ['A.', { b: 'B.' }] }, 'X')).toMatchObject({
      properties: { a: { description: 'A.', items: { properties: { b: { description: 'B.' } } } } },
    });
    expect(() => withWords(schema, { a: ['A.', { c: 'C.' }] }, 'X')).toThrow(
      'words for X.a.c: no such field',
    );
  });
});
