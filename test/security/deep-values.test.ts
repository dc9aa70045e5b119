// Very deeply nested values at each input: each is refused with the limit named. None overflows the
// stack or is reported as a damaged disk.
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/adapters/store/index.ts';
import type { Json, JsonObject } from '../../src/api/json.ts';
import { isTooDeep, maxJsonDepth, parseJson } from '../../src/api/parse-json.ts';
import { type BackupsMap, backupsIn } from '../../src/core/identity/backups.ts';
import { parseNotice, parseTemplateText } from '../../src/formats/index.ts';
import { parseRequestYaml } from '../../src/main/request-yaml.ts';
import { decodeBody } from '../../world/kube/server/index.ts';
import { dispatcher, json, rest } from '../builders/wire.ts';
import { TestWorld } from '../builders/world-kube-server.ts';

const depths = [maxJsonDepth + 1, 2_500, 100_000, 700_000] as const;
const lists = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const maps = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const words = /nested deeper than 400 levels/;
const value = (depth: number): Json => JSON.parse(maps(depth)) as Json;

describe('JSON', () => {
  it.each(depths)('of %i levels is refused', (depth) => {
    expect(() => parseJson(lists(depth))).toThrow(words);
    expect(() => parseJson(maps(depth))).toThrow(words);
  });

  it('of as many levels as may be is read, brackets within texts not counted', () => {
    const wide = JSON.stringify([parseJson(maps(maxJsonDepth - 1)), '[{"\\'.repeat(500)]);
    expect(parseJson(wide)).toEqual(JSON.parse(wide));
    expect([isTooDeep(value(maxJsonDepth)), isTooDeep(value(maxJsonDepth + 1))]).toEqual([
      false,
      true,
    ]);
  });
});

const backups = (depth: number): BackupsMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'b', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  data: { '000001': `{"at":"","data":{"a":${lists(depth)}}}` },
});

/** The answer of each input to JSON of that depth: its refusal, as text. */
const doors: readonly (readonly [string, (depth: number) => unknown])[] = [
  ['a Kubernetes body', (n) => decodeBody('application/json', bytesOf(maps(n)))],
  ['a patch', (n) => decodeBody('application/merge-patch+json', bytesOf(maps(n)))],
  ['a message', (n) => parseNotice(`{"detail-type":"x","detail":${maps(n)}}`)],
  ['a message within a message', (n) => parseNotice(JSON.stringify({ Message: maps(n) }))],
  ['an annotation of a backup', (n) => backupsIn(backups(n))],
];

describe.each(doors)('%s', (_name, open) => {
  it.each(depths)('of %i levels ends nothing', (depth) => {
    expect(() => open(depth)).not.toThrow();
    expect(isTooDeep(open(depth))).toBe(false);
  });
});

describe('other doors refuse', () => {
  it.each(depths)('a Kubernetes body of %i levels, naming the limit', (depth) => {
    const answer = decodeBody('application/json', bytesOf(maps(depth)));
    expect(answer).toMatchObject({ kind: 'error', status: { code: 400 } });
    expect(JSON.stringify(answer)).toMatch(words);
  });

  it.each(depths.slice(0, 2))('YAML of %i levels', (depth) => {
    expect(() => parseRequestYaml(lists(depth))).toThrow();
  });

  it('YAML that is deep by its aliases alone', () => {
    const lines = Array.from(
      { length: 900 },
      (_, i) => `- &a${i} [${i === 0 ? '' : `*a${i - 1}`}]`,
    );
    expect(() => parseRequestYaml(lines.join('\n'))).toThrow(/deeper than 400 levels|alias/);
  });

  it.each(depths)('a template of %i levels', (depth) => {
    expect(() => parseTemplateText(maps(depth))).toThrow(/not well-formed/);
    if (depth < 10_000) expect(() => parseTemplateText(`a: ${lists(depth)}`)).toThrow();
  });

  it.each(depths)('an AWS call of %i levels', async (depth) => {
    const { handle } = dispatcher({});
    const body = `{"QueueUrl":"q","Attributes":${maps(depth)}}`;
    const sqs = await handle(json('sqs', 'AmazonSQS.SetQueueAttributes', body));
    expect(sqs.status).toBe(400);
    const eks = await handle(rest('POST', '/clusters', { body: `{"tags":${maps(depth)}}` }));
    expect(eks.status).toBe(400);
  });
});

describe('patch upon patch, each of them shallow', () => {
  it('does not build what no request may bring', () => {
    const world = new TestWorld();
    const url = '/apis/apps/v1/namespaces/demo/controllerrevisions';
    const made = world.post(url, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: 'deep' },
      revision: 1,
      data: value(300) as JsonObject,
    });
    expect(made.code).toBe(201);
    const path = `/data${'/a'.repeat(299)}`;
    const patch = [{ op: 'add', path, value: value(300) }];
    const { code, body } = world.patch(`${url}/deep`, patch, 'json');
    expect([code, body.message]).toEqual([
      400,
      'the patched object is nested deeper than 400 levels',
    ]);
  });
});

describe('the disk', () => {
  it('is not blamed for a row that cannot be written as JSON', () => {
    const store = openSqliteStore(':memory:');
    const change = { table: 'objects', key: 'deep', value: value(50_000) };
    expect(() => store.commit([change])).toThrow(
      /^objects deep cannot be written as JSON .*state on disk is that of the last commit/,
    );
    store.commit([{ table: 'objects', key: 'flat', value: 1 }]);
    expect([...store.load()].map(({ key }) => key)).toEqual(['flat']);
    store.close();
  });
});
