// What a terminal is shown of user data that is no text: its control characters as escapes, no more than
// helps, and that no node reads it.
import { describe, expect, it } from 'vitest';
import { lint } from '../../core/bootstrap/index.ts';
import { compress } from '../../formats/index.ts';
import type { CliContext } from '../context.ts';
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

describe('user data that no node can read', () => {
  const cut = compress(config('cluster')).slice(0, 20);
  it.each(['explain', 'diff'])('is called so by %s', async (command) => {
    const { fake, err } = context(cut);
    if (command === 'explain') await runExplain(fake, 'f', 'maxPods', flags);
    else await runDiff(fake, { before: 'f', after: 'f' }, flags);
    expect(err[0]).toMatch(/^f is gzip that is cut off or damaged .* \(ENC001\): no node reads/);
  });
});
