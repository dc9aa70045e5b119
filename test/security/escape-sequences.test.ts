// Names, messages and images that contain terminal commands, carriage returns and bidirectional
// marks (CVE-2021-25743 was one event's message). Every output to a terminal prints them as text.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CliContext } from '../../src/cli/context.ts';
import { outText } from '../../src/cli/node/files.ts';
import { print, printDocument } from '../../src/cli/output.ts';
import { renderTable } from '../../src/cli/table.ts';
import { createTerminal } from '../../src/main/terminal.ts';

const corpus: readonly (readonly [string, string])[] = [
  ['clear the screen', 'node\u001b[2J\u001b[H'],
  ['set the title', '\u001b]0;owned\u0007'],
  ['a link', '\u001b]8;;https://evil.example\u001b\\node\u001b]8;;\u001b\\'],
  ['the C1 form', '\u009b2J\u009d0;x\u009c'],
  ['a carriage return', 'all is well\rdrained'],
  ['backspaces', 'failed\b\b\b\b\b\bok'],
  ['another direction', 'user\u202etxt.exe\u202c'],
  ['isolates', '\u2066a\u2069\u200f'],
  ['line separators', 'a\u2028b\u2029c'],
  ['delete and null', 'a\u007fb\u0000c'],
];

/**
 * Characters that Drover's own output never contains, except for the two commands of `terminal.ts`.
 */
const dangerous =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

const screen = (isTTY: boolean) => {
  const written: string[] = [];
  const stream = { isTTY, columns: 200, rows: 24, write: (text: string) => written.push(text) };
  const terminal = createTerminal(stream, stream);
  // Drover's own two commands: erase a line, redraw the single line of a screen.
  const own = ['\r\u001b[2K', '\u001b[1F\u001b[0J'] as const;
  const text = (): string =>
    own.reduce((all, command) => all.replaceAll(command, ''), written.join(''));
  return { terminal: terminal as CliContext, text };
};

describe.each(corpus)('%s', (_what, hostile) => {
  it.each([true, false])(
    'is text in lines, errors, progress and screens; terminal: %s',
    (isTTY) => {
      const { terminal, text } = screen(isTTY);
      terminal.out(`pod ${hostile}`);
      terminal.err(`error: ${hostile}`);
      terminal.progress(`waiting for ${hostile}`);
      terminal.progress('');
      terminal.screen.draw([`node ${hostile}`]);
      expect(text()).not.toMatch(dangerous);
      expect(text()).toContain('\\');
    },
  );

  it.each(['table', 'json', 'yaml'] as const)('is text in -o %s, and the same value', (format) => {
    const { terminal, text } = screen(true);
    const document = { name: hostile, [hostile]: 'key' };
    print(terminal, format, document, () => ({ header: ['NAME'], rows: [[hostile]] }));
    expect(text()).not.toMatch(dangerous);
    if (format === 'json') expect(JSON.parse(text())).toEqual(document);
  });

  it('is one line of a table', () => {
    expect(renderTable(['NAME', 'AGE'], [[`${hostile}\nfake   Ready`, '1s']])).toHaveLength(2);
    expect(renderTable(['A'], [[`${hostile}\nfake`]]).join('')).not.toMatch(dangerous);
  });

  it('stays as it is where a program reads it', () => {
    const { terminal, text } = screen(false);
    outText(terminal, `echo ${hostile}`);
    expect(text()).toBe(`echo ${hostile}\n`);
    const shown = screen(true);
    outText(shown.terminal, `echo ${hostile}`);
    expect(shown.text()).not.toMatch(dangerous);
  });
});

describe('one way to a terminal', () => {
  it('JSON is what was printed, whatever is in it', () => {
    const { terminal, text } = screen(false);
    const document = Object.fromEntries(corpus);
    printDocument(terminal, 'json', document);
    expect(JSON.parse(text())).toEqual(document);
  });

  it('no command writes past it', () => {
    const folder = join(import.meta.dirname, '..', '..', 'src', 'cli');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const sources = files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
    expect(sources.length).toBeGreaterThan(50);
    const past = sources.filter((name) =>
      /process\.std(?:out|err)|console\./.test(readFileSync(join(folder, name), 'utf8')),
    );
    expect(past).toEqual([]);
  });
});
