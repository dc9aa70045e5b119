// What a terminal shows of user data that is not text: control characters as escapes, a short
// excerpt only, and that no node can read it.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { lint } from '../../core/bootstrap/index.ts';
import { compress } from '../../formats/index.ts';
import type { CliContext } from '../context.ts';
import { printFiles } from '../node/files.ts';
import { printDocument } from '../output.ts';
import { runDiff, runExplain } from './explain.ts';
import { findingsText } from './findings.ts';

const clearScreen = '\u001b[2J';
const config = (key: string): string =>
  `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  "${key}": 1\n`;

const context = (bytes: Uint8Array) => {
  const [out, err]: [string[], string[]] = [[], []];
  const fake = {
    out: (line: string) => out.push(line),
    err: (line: string) => err.push(line),
    readBytes: async () => bytes,
  } as unknown as CliContext;
  return { fake, out, err };
};
const flags = { kubernetes: '1.33', output: 'table' } as const;

describe('a message with what stood in the file', () => {
  it.each([
    ['\\e[2J', `\\u001b[2J`],
    [`${'x'.repeat(2000)}`, `${'x'.repeat(400)}`],
  ])('%j is shown as text, and not for ever', (key, shown) => {
    const bytes = new TextEncoder().encode(config(key));
    const lines = findingsText([{ name: 'f', result: lint({ name: 'f', bytes }) }]);
    expect(lines[0]).toContain(shown);
    expect(lines.join('\n')).not.toContain(clearScreen);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(700);
  });

  it('is so in values, too', async () => {
    const text = `${config('cluster')}`.replace(': 1\n', ': { name: "\\e[2J" }\n');
    const { fake, out } = context(new TextEncoder().encode(text));
    await runExplain(fake, 'f', 'cluster.name', flags);
    expect(out.join('\n')).toContain('\\u001b[2J');
    expect(out.join('\n')).not.toContain(clearScreen);
  });
});

const labelled = (key: string): Uint8Array =>
  new TextEncoder().encode(
    `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {flags: ["--node-labels=${key}=b"]}}\n`,
  );
const raw = ['\u001b', '\u009b'];

describe('what is in a file', () => {
  const bytes = labelled('a\\e[2J\\u009b');

  it('is no command for a terminal in the name of a difference', async () => {
    const { fake, out } = context(bytes);
    let calls = 0;
    const readBytes = async () => (++calls === 1 ? bytes : labelled('c'));
    await runDiff({ ...fake, readBytes }, { before: 'f', after: 'g' }, flags);
    expect(out.join('\n')).toContain('a\\u001b[2J\\u009b');
    for (const unit of raw) expect(out.join('\n')).not.toContain(unit);
  });

  it('is none in names of files', async () => {
    const name = 'j\u001b[2J';
    const [line = ''] = findingsText([{ name, result: lint({ name, bytes }) }]);
    expect(line).toMatch(/^j\\u001b\[2J:3:/);
    const { fake, out, err } = context(compress(config('cluster')).slice(0, 20));
    await runExplain(fake, name, 'maxPods', flags);
    expect(err[0]).toMatch(/^j\\u001b\[2J is gzip/);
    expect(out.join('\n')).not.toContain(name);
  });

  it.each(['json', 'yaml'] as const)('is the same and none in %s', (output) => {
    const { fake, out } = context(bytes);
    printDocument(fake, output, { 'k\u009b': ['a\u009b\u007f\tb\nc', 'plain\u001b', 5] });
    const text = out.at(-1) ?? '';
    for (const unit of [...raw, '\u007f']) expect(text).not.toContain(unit);
    expect(parse(text)).toEqual({ 'k\u009b': ['a\u009b\u007f\tb\nc', 'plain\u001b', 5] });
  });

  it.each([true, false])('is none in the files of a node on a terminal (%s)', (isTerminal) => {
    const { fake, out } = context(bytes);
    printFiles({ ...fake, isTerminal }, [{ path: '/f', mode: '0644', content: 'a\u001b\n\tb\n' }]);
    expect(out[1]).toBe(isTerminal ? 'a\\u001b\n\tb' : 'a\u001b\n\tb');
  });
});

describe('user data that no node can read', () => {
  const cut = compress(config('cluster')).slice(0, 20);
  it.each(['explain', 'diff'])('is called so by %s', async (command) => {
    const { fake, err } = context(cut);
    if (command === 'explain') await runExplain(fake, 'f', 'maxPods', flags);
    else await runDiff(fake, { before: 'f', after: 'f' }, flags);
    expect(err[0]).toMatch(/^f is gzip that is cut off or damaged .* \(ENC001\): no node reads/);
  });
});
