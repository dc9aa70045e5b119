// Standard output and error of the command line: lines, one progress line that is replaced, and a
// redrawn screen of lines. Other streams than terminals receive only lines. Text from a cluster, a
// cloud or a file is escaped: only this module moves the cursor.
import type { CliContext } from '../cli/context.ts';
import { visible, visibleText } from '../cli/visible.ts';

/** The part of NodeJS.WriteStream that is used. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** The part of NodeJS.ReadStream that is used. */
export interface Input {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

const keyNames: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl-c',
  '\u001b': 'escape',
  '\u001b[A': 'up',
  '\u001b[B': 'down',
  '\u001bOA': 'up',
  '\u001bOB': 'down',
  '\u001b[5~': 'pageup',
  '\u001b[6~': 'pagedown',
};

/** One escape sequence, or one character. Sequences of unknown keys are ignored. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send these.
const keyPattern = /\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Z])?|./gsu;

export const keysIn = (text: string): readonly string[] =>
  [...text.matchAll(keyPattern)].flatMap(([key]) => {
    const name = keyNames[key];
    if (name !== undefined) return [name];
    return /^\p{C}/u.test(key) ? [] : [key];
  });

const listenTo = (input: Input, listener: (key: string) => void): (() => void) => {
  const onData = (chunk: Buffer): void => {
    for (const key of keysIn(chunk.toString('utf8'))) listener(key);
  };
  input.setRawMode?.(true);
  input.on('data', onData);
  input.resume();
  return () => {
    input.off('data', onData);
    input.setRawMode?.(false);
    input.pause();
  };
};

/** Moves the cursor to the start of the line and erases the line. */
const clearLine = '\r\u001b[2K';
/** Moves the cursor to the start of the line `count` further up and erases everything after it. */
const clearUp = (count: number): string => `\u001b[${count}F\u001b[0J`;
/** Size of a terminal that does not report one. */
const usual = { columns: 80, rows: 24 };

export const createTerminal = (
  stdout: Output,
  stderr: Output,
  stdin?: () => Input,
): Pick<CliContext, 'out' | 'err' | 'isTerminal' | 'progress' | 'screen'> => {
  let shown = false;
  let drawn = 0;
  const size = () => ({
    columns: stdout.columns || usual.columns,
    rows: stdout.rows || usual.rows,
  });
  const progress = (line: string): void => {
    if (!shown && line === '') return;
    stdout.write(`${clearLine}${visible(line).slice(0, size().columns - 1)}`);
    shown = line !== '';
  };
  const draw = (lines: readonly string[]): void => {
    const before = drawn === 0 ? '' : clearUp(drawn);
    const text = lines.map((line) => `${visible(line)}\n`).join('');
    if (before !== '' || text !== '') stdout.write(`${before}${text}`);
    drawn = lines.length;
  };
  const write = (stream: Output) => (line: string, form?: 'bytes') => {
    progress('');
    draw([]);
    stream.write(`${form === 'bytes' ? line : visibleText(line)}\n`);
  };
  return {
    out: write(stdout),
    err: write(stderr),
    isTerminal: stdout.isTTY === true,
    progress,
    screen: {
      size,
      draw,
      keys: (listener) => {
        const input = stdin?.();
        return input?.isTTY === true ? listenTo(input, listener) : () => undefined;
      },
    },
  };
};
