import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter, LineTooLongError } from './lines.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('LineSplitter', () => {
  it('gives the same lines however the bytes were cut', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify({ text }));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
        const whole = bytes(lines.map((text) => `${text}\n`).join(''));
        const at = cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b);
        const splitter = new LineSplitter();
        const got: string[] = [];
        let start = 0;
        for (const end of [...at, whole.length]) {
          got.push(...splitter.push(whole.slice(start, end)));
          start = end;
        }
        expect(got).toEqual(lines);
        expect(splitter.rest).toBe('');
      }),
    );
  });

  it('keeps an unfinished line as the rest', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(bytes('{"a":1}\n\n{"b"'))).toEqual(['{"a":1}']);
    expect(splitter.rest).toBe('{"b"');
  });

  it('refuses a line without end instead of growing for ever', () => {
    const splitter = new LineSplitter(8);
    splitter.push(bytes('12345678'));
    expect(() => splitter.push(bytes('9'))).toThrow(LineTooLongError);
  });
});
