// Output to a terminal, and to other streams.
import { describe, expect, it } from 'vitest';
import { createTerminal, keysIn, type Output } from './terminal.ts';

const setUp = (more: Partial<Output> = {}) => {
  const written: string[] = [];
  const stream: Output = { isTTY: true, write: (text) => written.push(text), ...more };
  return { written, terminal: createTerminal(stream, stream) };
};

describe('a screen', () => {
  it('takes the place of the one before, and goes before a line', () => {
    const { written, terminal } = setUp();
    terminal.screen.draw(['a', 'b']);
    terminal.screen.draw(['c']);
    terminal.out('done');
    terminal.out('more');
    expect(written).toEqual([
      'a\nb\n',
      '\u001b[2F\u001b[0Jc\n',
      '\u001b[1F\u001b[0J',
      'done\n',
      'more\n',
    ]);
  });

  it('is as large as the terminal is now, or as terminals are', () => {
    expect(setUp({ columns: 100, rows: 30 }).terminal.screen.size()).toEqual({
      columns: 100,
      rows: 30,
    });
    expect(setUp({ columns: 0, rows: 0 }).terminal.screen.size()).toEqual({
      columns: 80,
      rows: 24,
    });
  });
});

describe('progress', () => {
  it('is one line, cut to the width, and goes before the next line', () => {
    const { written, terminal } = setUp({ columns: 5 });
    terminal.progress('');
    terminal.progress('abcdefgh');
    terminal.err('e');
    expect(written).toEqual(['\r\u001b[2Kabcd', '\r\u001b[2K', 'e\n']);
  });
});

describe('the keys of a terminal', () => {
  it.each([
    ['j', ['j']],
    ['jk\r', ['j', 'k', 'enter']],
    ['\u001b', ['escape']],
    ['\u001b[A\u001b[B', ['up', 'down']],
    ['\u001bOB\u001b[6~', ['down', 'pagedown']],
    ['\u0003', ['ctrl-c']],
    ['/ü✓', ['/', 'ü', '✓']],
    // Sequences of other keys and other control characters are ignored.
    ['\u001b[1;5C\u0001', []],
  ])('%j is %j', (text, keys) => {
    expect(keysIn(text)).toEqual(keys);
  });

  it('are read raw until the end, and only from a terminal', () => {
    const calls: unknown[] = [];
    const input = (isTTY: boolean) => () => ({
      isTTY,
      setRawMode: (isRaw: boolean) => calls.push(isRaw),
      on: (_event: 'data', listener: (chunk: Buffer) => void) => listener(Buffer.from('q')),
      off: () => calls.push('off'),
      resume: () => calls.push('resume'),
      pause: () => calls.push('pause'),
    });
    const out: Output = { write: () => undefined };
    const keys: string[] = [];
    createTerminal(out, out, input(false)).screen.keys((key) => keys.push(key))();
    expect([keys, calls]).toEqual([[], []]);
    createTerminal(out, out, input(true)).screen.keys((key) => keys.push(key))();
    expect([keys, calls]).toEqual([['q'], [true, 'resume', 'off', false, 'pause']]);
  });
});
