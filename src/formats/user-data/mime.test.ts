// MIME as both readers on a node parse it: the effect of common mistakes, and that printing and
// parsing are inverse. Samples: awslabs/amazon-eks-ami#1701, #2318; eksctl's output; article 003.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyOf, parseMime, partToPrint, printMime } from './mime.ts';

const top = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n';
const one = '--B\nContent-Type: application/node.eks.aws\n\nbody\n';

const kinds = (text: string): readonly string[] =>
  (parseMime(text)?.faults ?? []).map(({ kind, isFatal }) => (isFatal ? `${kind}!` : kind));
const bodies = (text: string): readonly string[] =>
  (parseMime(text)?.parts ?? []).map(({ body }) => body);

describe('a MIME document', () => {
  it.each([
    ['as it should be', `${top}${one}--B--\n`, [], ['body']],
    [
      'with an end of lines of Windows',
      `${top}${one}--B--\n`.replaceAll('\n', '\r\n'),
      [],
      ['body'],
    ],
    ['with blanks after a boundary', `${top}--B  \n\nx\n--B--\t\n`, [], ['x']],
    ['with text before the first part', `${top}preamble\n${one}--B--\n`, [], ['body']],
    [
      'with a folded header',
      `Content-Type: multipart/mixed;\n boundary=B\n\n${one}--B--`,
      [],
      ['body'],
    ],
    ['without its closing boundary', `${top}${one}`, ['no-close!'], ['body\n']],
    ['that goes on after its end', `${top}${one}--B--\n${one}--B--\n`, ['after-close'], ['body']],
    ['with another boundary in the header', `${top}--C\n\nx\n--C--\n`, ['no-parts!'], []],
    ['that begins with an empty line', `\n${top}${one}--B--\n`, ['indented!'], ['body']],
    ['whose headers are indented', `  ${top}${one}--B--\n`, ['indented!'], ['body']],
    [
      'without a blank line in a part',
      `${top}--B\nContent-Type: a/b\n#!/bin/sh\n--B--\n`,
      ['no-blank-line!'],
      ['#!/bin/sh'],
    ],
    [
      'with a part that begins with its body',
      `${top}--B\n#!/bin/sh\n--B--\n`,
      ['bad-header!'],
      ['#!/bin/sh'],
    ],
    [
      'that names no boundary',
      'Content-Type: multipart/mixed\n\n--B\n\nx\n--B--\n',
      ['no-boundary!'],
      [],
    ],
    ['whose boundary is the start of another', `${top}--BB\n\nx\n${one}--B--\n`, [], ['body']],
  ])('%s', (_name, text, faults, expected) => {
    expect(kinds(text)).toEqual(faults);
    expect(bodies(text)).toEqual(expected);
  });

  it('takes the first of two types, as eksctl writes them', () => {
    const text = `${top}--B\nContent-Type: text/x-shellscript\nContent-Type: charset="us-ascii"\n\nx\n--B--\n`;
    expect(parseMime(text)?.parts[0]?.type).toBe('text/x-shellscript');
  });

  it('undoes quoted-printable', () => {
    const text = `${top}--B\nContent-Transfer-Encoding: quoted-printable\n\na=3Db=\nc =C3=A9\n--B--\n`;
    const [part] = parseMime(text)?.parts ?? [];
    expect(part && bodyOf(part)).toBe('a=bc é');
  });

  it('tells where each body begins', () => {
    const text = `${top}${one}--B\n\nsecond\n--B--\n`;
    expect(parseMime(text)?.parts.map(({ bodyAt }) => bodyAt.line)).toEqual([7, 10]);
  });

  it('is none where the first lines do not say so', () => {
    expect(parseMime('#!/bin/sh\necho Content-Type: multipart/mixed\n')).toBeUndefined();
    expect(parseMime('kind: NodeConfig\n')).toBeUndefined();
  });
});

const body = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('--//', '--//--', 'a\n--//x', ''),
);
const parts = fc.array(
  fc.record({ type: fc.constantFrom('a/b', 'text/x-shellscript; charset="us-ascii"'), body }),
  { minLength: 1, maxLength: 4 },
);

describe('printing and reading', () => {
  it('keep every part, whatever is in it', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const text = printMime(given);
        const read = parseMime(text);
        expect(read?.faults).toEqual([]);
        expect(read?.parts.map((part) => partToPrint(part))).toEqual(
          given.map((part) => ({ ...part, headers: [] })),
        );
        expect(printMime((read?.parts ?? []).map(partToPrint))).toBe(text);
      }),
    );
  });

  it('never throw on anything', () => {
    const token = fc.constantFrom('--B', '--B--', '\n', ': ', 'Content-Type', ' ', '\r', top, one);
    fc.assert(
      fc.property(fc.array(fc.oneof(token, fc.string())), (tokens) => {
        parseMime(tokens.join(''));
        parseMime(top + tokens.join(''));
      }),
    );
  });
});
