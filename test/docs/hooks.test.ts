// .pre-commit-hooks.yaml and action.yml use existing flags, exit codes and SARIF output of the
// command. The test runs the action's own script with bash in place of a runner.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
const drover = join(root, 'bin', 'drover.mjs');
const directory = mkdtempSync(join(tmpdir(), 'drover-hooks-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const good = join(directory, 'user-data-good.sh');
const bad = join(directory, 'user-data-bad.sh');
writeFileSync(good, '#!/bin/bash\n/etc/eks/bootstrap.sh c\n');
writeFileSync(bad, '/etc/eks/bootstrap.sh c\n');

const read = (name: string) => parse(readFileSync(join(root, name), 'utf8'));

describe('.pre-commit-hooks.yaml', () => {
  const hooks: readonly { id: string; entry: string; files?: string }[] =
    read('.pre-commit-hooks.yaml');
  it.each(hooks.map(({ id, entry }) => [id, entry]))(
    '%s refuses a bad file and passes a good one',
    (_id, entry = '') => {
      const [command, ...args] = entry.split(' ');
      expect(command).toBe('drover');
      const run = (file: string) => spawnSync(process.execPath, [drover, ...args, file]).status;
      expect([run(good), run(bad)]).toEqual([0, 3]);
    },
  );

  it('looks at files that are named as user data', () => {
    const pattern = new RegExp((hooks[0]?.files ?? '').replace('(?i)', ''), 'i');
    const names = ['a/user-data.sh', 'UserData.txt', 'nodeconfig.yaml', 'main.tf', 'README.md'];
    expect(names.map((name) => pattern.test(name))).toEqual([true, true, true, false, false]);
  });
});

describe('action.yml', () => {
  const { runs } = read('action.yml');
  const step = runs.steps.find((one: { id?: string }) => one.id === 'lint');
  const run = (files: string) => {
    const output = join(directory, 'output');
    const sarif = join(directory, 'out.sarif');
    const env = {
      ...process.env,
      FILES: files,
      ARGS: '--kubernetes 1.33',
      SARIF: sarif,
      DROVER: drover,
      GITHUB_OUTPUT: output,
    };
    const path = `${join(process.execPath, '..')}:${process.env.PATH}`;
    const { status } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', step.run], {
      env: { ...env, PATH: path },
    });
    return { status, sarif };
  };

  it('fails on findings and leaves them as SARIF', () => {
    const { status, sarif } = run(`${directory}/user-data-*.sh`);
    expect(status).toBe(3);
    const { version, runs: found } = JSON.parse(readFileSync(sarif, 'utf8'));
    expect(version).toBe('2.1.0');
    expect(found[0].results.map((one: { ruleId: string }) => one.ruleId)).toEqual(['SH001']);
    expect(found[0].tool.driver.rules[found[0].results[0].ruleIndex].id).toBe('SH001');
  });

  it('passes without findings, and says when nothing matches', () => {
    expect(run(good).status).toBe(0);
    expect(run(`${directory}/nothing-*`).status).toBe(2);
  });

  it('is composed of steps that bash can read', () => {
    for (const one of runs.steps) execFileSync('bash', ['-n', '-c', one.run]);
  });
});
