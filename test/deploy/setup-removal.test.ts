// The commands of `drover setup aws --remove`, run by a shell with a stand-in for the AWS CLI: what
// does not exist is passed over, any other error is printed and ends them.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/context.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { helpOnlyContext } from '../builders/help-only-context.ts';

const printed = (...names: readonly string[]): string => {
  const lines: string[] = [];
  const out = (line: string): void => void lines.push(line);
  const program = buildProgram({ ...helpOnlyContext, out }, '0').exitOverride();
  program.parse(['setup', 'aws', '--remove', ...names], { from: 'user' });
  return lines.join('\n');
};

/** Runs the removal; `aws iam delete-role` fails with `message`. */
const removed = (message: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-setup-'));
  const aws = [
    '#!/bin/sh',
    'case "$1 $2" in',
    '  "sts get-caller-identity") echo arn:aws:iam::111122223333:user/u ;;',
    '  "sqs get-queue-url") echo http://localhost/111122223333/mine ;;',
    `  "iam delete-role") echo "${message}" >&2; exit 254 ;;`,
    '  *) echo "$*" >>"$CALLS" ;;',
    'esac',
  ];
  try {
    writeFileSync(join(folder, 'aws'), aws.join('\n'));
    chmodSync(join(folder, 'aws'), 0o755);
    const path = `${folder}${delimiter}${process.env.PATH}`;
    const env = { PATH: path, AWS_REGION: 'eu-west-1', CALLS: join(folder, 'calls') };
    const input = printed('--queue', 'mine', '--role', 'mine');
    const { status, stderr } = spawnSync('sh', { input, env, encoding: 'utf8' });
    return { status, stderr, calls: readFileSync(env.CALLS, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
};

it('passes over what does not exist', () => {
  const { status, calls } = removed('An error occurred (NoSuchEntity)');
  expect(status).toBe(0);
  expect(calls).toContain('sqs delete-queue --queue-url http://localhost/111122223333/mine');
});

it('prints any other error and ends', () => {
  const { status, stderr } = removed('An error occurred (AccessDenied)');
  expect(status).toBe(1);
  expect(stderr).toMatch(/aws iam delete-role --role-name mine: .*AccessDenied/);
});

it('deletes nothing by the default names, which another cluster may use', () => {
  const asked = () => printed('--queue', 'mine');
  expect(asked).toThrow(/--remove deletes by name.*add --role drover-controller if/);
  expect(asked).toThrow(expect.objectContaining({ exitCode: exitCodes.usage }));
});
