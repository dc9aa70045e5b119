// A name as a word, a flag, or `KIND/NAME`.
import { describe, expect, it } from 'vitest';
import { oneName, oneNameOf } from './one-name.ts';

describe('oneName', () => {
  it.each([
    ['demo-ng', undefined, 'demo-ng'],
    [undefined, 'demo-ng', 'demo-ng'],
    ['ng/demo-ng', undefined, 'demo-ng'],
    ['nodegroup/demo-ng', 'demo-ng', 'demo-ng'],
    [undefined, undefined, undefined],
  ])('%s and --name %s: %s', (word, flag, expected) => {
    expect(oneName(word, flag, 'nodegroup')).toBe(expected);
  });

  it.each([
    ['a', 'b', /two names: a and --name b/],
    ['update/demo-ng', undefined, /update\/demo-ng does not name a nodegroup/],
    ['node/demo-ng', undefined, /node\/demo-ng does not name a nodegroup/],
  ])('refuses %s and --name %s', (word, flag, message) => {
    expect(() => oneName(word, flag, 'nodegroup')).toThrow(message);
  });
});

describe('oneNameOf', () => {
  it.each([
    [[], undefined],
    [['demo-ng'], 'demo-ng'],
    [['ng/demo-ng'], 'demo-ng'],
    [['nodegroup', 'demo-ng'], 'demo-ng'],
  ])('%j: %s', (words, expected) => {
    expect(oneNameOf(words, 'nodegroup')).toBe(expected);
  });

  it.each([
    [['node', 'a'], /node\/a does not name a nodegroup/],
    [['a', 'b'], /a b: name one nodegroup/],
  ])('refuses %j', (words, message) => {
    expect(() => oneNameOf(words, 'nodegroup')).toThrow(message);
  });
});
