// Output to a terminal, and to other streams.
import { describe, expect, it } from 'vitest';
import { createTerminal, type Output } from './terminal.ts';

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
