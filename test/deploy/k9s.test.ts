// The plugins for k9s: each has what k9s' schema demands, runs a command line that Drover accepts,
// and shadows no key of the views it is for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { CliContext } from '../../src/cli/context.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { helpOnlyContext } from '../builders/help-only-context.ts';

interface Plugin {
  readonly shortCut: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly command: string;
  readonly args: readonly string[];
  readonly background: boolean;
  readonly confirm?: boolean;
  readonly dangerous?: boolean;
}

const file = join(import.meta.dirname, '..', '..', 'deploy', 'k9s', 'plugins.yaml');
const { plugins } = parse(readFileSync(file, 'utf8')) as {
  readonly plugins: Readonly<Record<string, Plugin>>;
};
const all = Object.entries(plugins);
const names = { $NAME: 'n1', $KUBECONFIG: '/k', $CONTEXT: 'c' } as const;

/** The words after `drover`, as k9s would run them. */
const wordsOf = ({ command, args }: Plugin): readonly string[] => {
  if (command === 'drover') return args;
  const [, script = ''] = args;
  return (/^drover (.*?) 2>&1/.exec(script)?.[1] ?? '')
    .split(' ')
    .map((word) => ({ '"$1"': '$NAME', '"$2"': '$KUBECONFIG', '"$3"': '$CONTEXT' })[word] ?? word);
};

describe('a plugin for k9s', () => {
  it.each(all)('%s has a key that k9s leaves free, and changes nothing unasked', (_, plugin) => {
    // k9s' own keys in views of nodes: c, u, r, and Shift with these for sorting.
    expect(plugin.shortCut).toMatch(/^Shift-[XLDU]$/);
    expect(plugin.scopes.length).toBeGreaterThan(0);
    const words = wordsOf(plugin);
    const changes = /^(?:un)?drain$/.test(words[0] ?? '') && !words.includes('--dry-run');
    expect([plugin.confirm === true, plugin.dangerous === true]).toEqual([changes, changes]);
  });

  it.each(all)('%s runs a command line that Drover parses', async (_, plugin) => {
    const program = buildProgram(helpOnlyContext as CliContext, '0');
    const words = wordsOf(plugin).map((word) => names[word as keyof typeof names] ?? word);
    // Its parts parse; then the command asks for its cluster, which this context refuses.
    await expect(program.parseAsync([...words], { from: 'user' })).rejects.toThrow(
      'no command runs here',
    );
    expect(program.opts()).toMatchObject({ kubeconfig: '/k', context: 'c' });
  });

  it('shares no key with another of the same view', () => {
    const keys = all.flatMap(([, { shortCut, scopes }]) =>
      scopes.map((one) => `${one} ${shortCut}`),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });
});
