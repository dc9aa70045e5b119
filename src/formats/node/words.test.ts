// How systemd and Windows split a text into words, and the place of each character in the source.
import { describe, expect, it } from 'vitest';
import { word } from './evaluated.ts';
import {
  environmentFileValue,
  environmentValue,
  joinedWords,
  systemdWords,
  windowsWords,
} from './words.ts';

const placed = (text: string, line = 1) => ({
  text,
  isOpaque: false,
  at: (offset: number) => ({ line, column: offset + 1 }),
});
const texts = (words: readonly { readonly text: string }[]): readonly string[] =>
  words.map(({ text }) => text);

describe('$VARIABLE in a unit', () => {
  it.each([
    ['one', ['one']],
    // systemd.service(5) documents these two.
    ["'one'", ['one']],
    ["'two two' too", ['two two', 'too']],
    ['--a="b=c,d=e" --f=1', ['--a=b=c,d=e', '--f=1']],
    ['  --a \t --b\n', ['--a', '--b']],
    ['--a="" ""', ['--a=', '']],
    [`--a="it's" --b='say "x"'`, ["--a=it's", '--b=say "x"']],
    ['--a="b --c=d', ['--a=b --c=d']],
    ['--a=\\"b\\" c\\ d', ['--a="b"', 'c d']],
    ['', []],
  ])('%j', (text, expected) => {
    expect(texts(systemdWords(word(text)))).toEqual(expected);
  });

  it('of several texts: a quote that stays open takes the next one in', () => {
    const all = joinedWords([placed('--a="b'), placed('--c=d', 2)]);
    expect(texts(systemdWords(all))).toEqual(['--a=b --c=d']);
  });

  it('knows the place of a character behind quotes, in each text', () => {
    const words = systemdWords(joinedWords([placed('--a="b,c"'), placed('--d="e"', 2)]));
    expect(words.map(({ at, text }) => at(text.length - 1))).toEqual([
      { line: 1, column: 8 },
      { line: 2, column: 6 },
    ]);
  });
});

describe('before it is split', () => {
  it('an environment file ends the value with its line and takes one backslash', () => {
    expect(environmentFileValue(word('--a=\\"b c\\"\n--d')).text).toBe('--a="b c"');
  });

  it("Environment='..' takes the text’s own single quotes for its end and begin", () => {
    expect(environmentValue(word(`--a='b' --c="d e"`)).text).toBe('--a=b --c="d e"');
  });
});

describe('a service on Windows', () => {
  it.each([
    ['--a="b c" --d', ['--a=b c', '--d']],
    ["--a='b c'", ["--a='b", "c'"]],
    ['--path=C:\\dir --q=\\"x\\"', ['--path=C:\\dir', '--q="x"']],
  ])('%j', (text, expected) => {
    expect(texts(windowsWords(word(text)))).toEqual(expected);
  });
});
