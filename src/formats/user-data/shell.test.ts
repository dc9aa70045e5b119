// Words by the shell's rules: quotes, variables, substitutions and here-documents in user data.
// Samples: article 003, eksctl's managed_al2.go, the AL2 scripts of EKS.
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readScript, shellQuoted, shellWord } from './shell.ts';

const words = (text: string): readonly (readonly string[])[] =>
  readScript(text, undefined, (source) =>
    source === 'imds instance-id' ? 'i-1' : undefined,
  ).invocations.map(({ name, fields }) => [
    name,
    ...fields.map((field) => (field.isOpaque ? `${field.text}?` : field.text)),
  ]);

describe('a script', () => {
  it.each([
    ['a \'b  c\' "d $e" f', [['a', 'b  c', 'd ?', 'f']]],
    ['a=1 b="$a 2"\nc $b "$b"', [['c', '1', '2', '1 2']]],
    [`export A=x; b \${A} \${B:-y}`, [['b', 'x', 'y']]],
    ['a \\\n  b # c\nd', [['a', 'b'], ['d']]],
    ['if a; then b; fi && c | d', [['a'], ['b'], ['c'], ['d']]],
    ['I=$(imds instance-id); a id=$I $(other) `x`', [['a', 'id=i-1', '?', '?']]],
    ['cat > /f <<EOF\nx\nEOF\nb', [['cat'], ['b']]],
    ['a \'\' "" x2>&1 2>&1 > /dev/null', [['a', '', '', 'x2']]],
    ['a "b\\"c\\$d" \\e', [['a', 'b"c$d', 'e']]],
    ['(a; b) & c', [['a'], ['b'], ['c']]],
  ])('%j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('gives the file that a here-document becomes', () => {
    const [cat] = readScript('#!/bin/sh\ncat <<-"EOF" > /etc/x\n\ta $b\n\tEOF\n').invocations;
    expect(cat).toMatchObject({ output: '/etc/x', input: { body: 'a $b\n', isLiteral: true } });
    expect(cat?.input?.at).toEqual({ line: 3, column: 1 });
  });

  it('has the place of each character through variables', () => {
    const script = readScript('#!/bin/sh\nA=\'--x=1\'\nb "$A --y"\n');
    const [field] = script.invocations[0]?.fields ?? [];
    const at = (offset: number) => script.positionOf(field?.offsets[offset] ?? -1);
    expect(field?.text).toBe('--x=1 --y');
    expect(at(2)).toEqual({ line: 2, column: 6 });
    expect(at(6)).toEqual({ line: 3, column: 7 });
  });

  it.each([
    ["a 'b", "1:3 the quote ' does not end"],
    ['a "b', '1:3 the quote " does not end'],
    ['a $(b', '1:4 the ( has no )'],
    ['a <<E\nb', '2:2 the here-document that ends with E does not end'],
  ])('%j is faulty', (text, fault) => {
    const { faults } = readScript(text);
    expect(faults.map(({ at, message }) => `${at.line}:${at.column} ${message}`)).toContain(fault);
  });

  it('never throws on anything', () => {
    const token = fc.constantFrom(
      "'",
      '"',
      '$',
      '(',
      ')',
      '{',
      '}',
      '`',
      '\\',
      '\n',
      '<<',
      ' ',
      '=',
      '#',
      'a',
      '&>',
      '\v',
      '\u00a0',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(token, fc.string())),
        (tokens) => void readScript(tokens.join('')),
      ),
    );
  });
});

const quiet = fc
  .string({ maxLength: 12 })
  .filter((text) => !text.includes('\0') && !text.includes('\r'));

describe('a quoted word', () => {
  it('is read back as it was', () => {
    fc.assert(
      fc.property(fc.array(quiet, { minLength: 1 }), (texts) => {
        const line = ['echo', ...texts.map(shellQuoted)].join(' ');
        expect(words(line)).toEqual([['echo', ...texts]]);
      }),
    );
  });

  it('is what a real shell takes', () => {
    const texts = ["a'b", '$(x)', 'a b', '"', '\\', '', '*', 'plain'];
    const out = execFileSync('sh', ['-c', `printf '%s\\n' ${texts.map(shellWord).join(' ')}`], {
      encoding: 'utf8',
    });
    expect(out.split('\n').slice(0, -1)).toEqual(texts);
  });
});
