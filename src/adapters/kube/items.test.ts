import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { ListSplitter } from './items.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const split = (text: string, chunkSize = 7): { items: JsonObject[]; rest: JsonObject } => {
  const splitter = new ListSplitter();
  const whole = bytes(text);
  const items: JsonObject[] = [];
  for (let at = 0; at < whole.length; at += chunkSize) {
    items.push(...splitter.push(whole.slice(at, at + chunkSize)));
  }
  return { items, rest: splitter.end() };
};

describe('ListSplitter', () => {
  it('finds every item of any JSON, however the bytes were cut', () => {
    const item = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(item), fc.integer({ min: 1, max: 64 }), (items, chunkSize) => {
        const list = { kind: 'PodList', metadata: { resourceVersion: '7' }, items };
        const text = JSON.stringify(list);
        const got = split(text, chunkSize);
        expect(got.items).toEqual(JSON.parse(text).items);
        expect(got.rest).toEqual({ ...list, items: [] });
      }),
    );
  });

  it('is not misled by brackets, quotes and the word items inside strings and metadata', () => {
    const items = [{ a: '"items":[{"x":1}]', b: 'ends in \\' }, { c: '\\"}' }];
    const list = {
      metadata: { annotations: { items: '[', note: '"items":[' }, items: [{ no: 1 }] },
      extra: [{ no: 2 }],
      items,
    };
    const got = split(JSON.stringify(list), 1);
    expect(got.items).toEqual(items);
    expect(got.rest).toEqual({ ...list, items: [] });
  });

  it('reads lists with indentation, without items and with null for items', () => {
    const pretty = JSON.stringify({ metadata: {}, items: [{ a: 1 }, { b: [2] }] }, null, 2);
    expect(split(pretty).items).toEqual([{ a: 1 }, { b: [2] }]);
    expect(split('{"metadata":{"resourceVersion":"1"},"items":null}').items).toEqual([]);
    expect(split('{"metadata":{"continue":"x"},"items":[]}').rest).toMatchObject({
      metadata: { continue: 'x' },
    });
  });

  it.each(['{"items":[{"a":1}', '{"items":[{"a":1', '{"metadata":{', ''])(
    'refuses a document that was cut off: %j',
    (text) => {
      expect(() => split(text)).toThrow(SyntaxError);
    },
  );
});
