import { describe, expect, it } from 'vitest';
import { invalidNextToken, pageOf } from './paging.ts';

const page = (all: readonly string[], token?: string) =>
  pageOf(all, { max: 2, token, keyOf: (item) => item, invalid: invalidNextToken });

describe('a page', () => {
  it('continues where the one before ended', () => {
    const all = ['a', 'b', 'c', 'd', 'e'];
    const first = page(all);
    const second = page(all, first.nextToken);
    const third = page(all, second.nextToken);
    expect([first.items, second.items, third.items]).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(third.nextToken).toBeUndefined();
  });

  it.each([
    ['an item before it is gone', ['b', 'c', 'd', 'e'], ['c', 'd']],
    ['an item came before it', ['x', 'a', 'b', 'c', 'd'], ['c', 'd']],
    ['its first item is gone', ['a', 'b', 'd', 'e'], ['d', 'e']],
    ['nothing is left', [], []],
  ])('neither repeats nor skips when %s', (_, now, items) => {
    const { nextToken } = page(['a', 'b', 'c', 'd', 'e']);
    expect(page(now, nextToken).items).toEqual(items);
  });

  it.each(['', 'nonsense', btoa('other:2:c'), '%%%'])('is refused for the token "%s"', (token) => {
    expect(() => page(['a', 'b', 'c'], token)).toThrow('The specified token is invalid');
  });
});
