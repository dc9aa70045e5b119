// Completion in a real bash: the reply after a TAB, from the command tree and with names from a
// cluster. zsh and fish load their scripts if they are installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { helpOnlyContext } from '../../../test/builders/help-only-context.ts';
import type { CliContext } from '../context.ts';
import { buildProgram } from '../program.ts';
import { candidatesFor } from './candidates.ts';
import { completionScripts, endings } from './scripts.ts';

const program = buildProgram(helpOnlyContext as CliContext, '0');
const following = (...words: readonly string[]) => candidatesFor(program, words);

describe('what may follow', () => {
  it.each([
    [['ge'], ['get']],
    [
      ['get', 'no'],
      ['nodegroup', 'nodes'],
    ],
    [['get', 'ng', '--output', 'j'], ['json']],
    [
      ['get', 'nodes', '-o', ''],
      ['json', 'table', 'yaml'],
    ],
    [['plan', 'update', '--strategy=S'], ['--strategy=SURGE']],
    [['--kubeconfig', 'get', 'scale', 'n'], ['nodegroup']],
    [
      ['completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [['drain', '--dry'], ['--dry-run']],
    [
      ['explain', 'n'],
      ['node', 'nodegroup'],
    ],
  ])('%j is %j', (words, expected) => {
    expect(following(...words).words).toEqual(expected);
  });

  it.each([
    [['drain', ''], 'nodes'],
    [['drain', 'n1', ''], 'nodes'],
    [['explain', ''], 'nodes'],
    [['explain', 'nodegroup', ''], 'nodegroups'],
    [['scale', 'ng', ''], 'nodegroups'],
    [['scale', 'nodegroup', '--name', ''], 'nodegroups'],
    [['plan', 'update', ''], 'nodegroups'],
    [['get', 'nodes', '--nodegroup', ''], 'nodegroups'],
    [['pause', 'update', ''], 'updates'],
    [['world', 'inject', 'kubelet-stop', '--node='], 'nodes'],
  ])('%j is a name of %s', (words, names) => {
    expect(following(...words).names).toBe(names);
  });

  it('is no name for something new, one argument too many, or a hidden command', () => {
    expect(following('create', 'nodegroup', '--name', '')).toEqual({ words: [], isFile: false });
    expect(following('scale', 'nodegroup', 'ng1', '')).toEqual({ words: [], isFile: false });
    expect(following('__').words).toEqual([]);
  });

  it('is a file where one is expected', () => {
    expect(following('userdata', 'lint', '').isFile).toBe(true);
    expect(following('create', 'cluster', '-f', '').isFile).toBe(true);
    expect(following('--data-dir', '').isFile).toBe(true);
  });
});

const dir = mkdtempSync(join(tmpdir(), 'drover-completion-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A stand-in for the program: answers like `__complete`, and prints its arguments. */
const stub = join(dir, 'drover');
writeFileSync(stub, `#!/bin/sh\nshift 2\nprintf '%s\\n' "asked:$*" 'a b' ${endings.withFiles}\n`, {
  mode: 0o755,
});
writeFileSync(join(dir, 'afile'), '');

const inBash = (line: string, words: readonly string[]): readonly string[] => {
  const script = `
    source <(printf '%s' "$SCRIPT")
    cd ${dir}; PATH=${dir}:$PATH
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1))
    COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}
    $(complete -p drover | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, SCRIPT: completionScripts.bash };
  return execFileSync('bash', ['-c', script], { encoding: 'utf8', env }).trim().split('\n');
};

describe('in bash', () => {
  it('the words and files of the answer become the reply, blanks kept', () => {
    expect(inBash('drover userdata lint a', ['drover', 'userdata', 'lint', 'a'])).toEqual([
      'asked:userdata lint a',
      'a b',
      'afile',
    ]);
  });

  it('an empty last word is asked for as such', () => {
    expect(inBash('drover get ', ['drover', 'get', ''])[0]).toBe('asked:get ');
  });
});

describe.each(['zsh', 'fish'] as const)('the script for %s', (shell) => {
  const isThere = spawnSync(shell, ['-c', 'exit']).error === undefined;
  it.skipIf(!isThere)('is accepted by the shell', () => {
    const file = join(dir, `script.${shell}`);
    writeFileSync(file, completionScripts[shell]);
    expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' }).stderr).toBe('');
  });
});
