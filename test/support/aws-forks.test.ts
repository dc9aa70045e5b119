// The aws CLI in a fork behaves like its own process: same output, refusals and exit code, without
// state of earlier calls. A CLI that is not a Python script is not forked.
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { defined } from '../../src/api/defined.ts';
import { awsVersion, clientPath } from './aws-client.ts';
import { runInFork } from './aws-forks.ts';
import { runAlone } from './demo-world.ts';

const home = mkdtempSync(join(tmpdir(), 'drover-forks-'));
const base = {
  ...defined({ PYENV_ROOT: process.env.PYENV_ROOT }),
  ...{ PATH: clientPath, HOME: home, AWS_EC2_METADATA_DISABLED: 'true', AWS_PAGER: '' },
};
const keys = { AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
const timeoutMs = 60_000;
const fork = (env: NodeJS.ProcessEnv, args: readonly string[], input?: string) =>
  runInFork(args, { env, timeoutMs, ...(input === undefined ? {} : { input }) });

afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

describe.skipIf(awsVersion === undefined)('the aws CLI in a fork', { concurrent: true }, () => {
  const account = { ...base, ...keys, AWS_DEFAULT_REGION: 'eu-west-1', AWS_MAX_ATTEMPTS: '1' };
  const nowhere = ['--endpoint-url', 'http://127.0.0.1:1'];

  it.each<readonly [string, NodeJS.ProcessEnv, readonly string[]]>([
    ['its version', account, ['--version']],
    ['a wrong operation', account, ['ec2', 'describe-nothing']],
    ['a skeleton', account, ['autoscaling', 'set-desired-capacity', '--generate-cli-skeleton']],
    ['a call that reaches no server', account, ['ec2', 'describe-instances', ...nowhere]],
    ['a call without a key', { ...base, AWS_DEFAULT_REGION: 'x' }, ['eks', 'list-clusters']],
    ['a call without a region', { ...base, ...keys }, ['eks', 'list-clusters']],
  ])('ends as a process of its own: %s', async (_what, env, args) => {
    // Twice: the second call uses files that the first one read.
    const first = await fork(env, args);
    expect(first).toEqual(await runAlone('aws', args, { env }));
    expect(await fork(env, args)).toEqual(first);
  });

  it('reads its input', async () => {
    const args = ['sts', 'get-access-key-info', '--cli-input-json', 'file:///dev/stdin'];
    const ran = await fork(account, args, '{"a":1}');
    expect(ran?.stderr).toMatch(/Unknown parameter in input: "a"/);
  });

  it('leaves a call to its own process that depends on the home directory', async () => {
    expect(await fork(account, ['eks', 'update-kubeconfig', '--name', 'x'])).toBeUndefined();
    expect(await fork(account, ['configure', 'list'])).toBeUndefined();
  });

  it('rejects a call whose time is over', async () => {
    const silent = createServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const args = ['eks', 'list-clusters', '--endpoint-url', `http://127.0.0.1:${port}`];
    const call = runInFork(args, { env: account, timeoutMs: 1000 });
    await expect(call).rejects.toThrow('ended without an answer');
    silent.close();
  });
});

it('leaves an aws that is no Python script to its own process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-no-python-'));
  writeFileSync(join(folder, 'aws'), '#!/bin/sh\necho alone\n');
  chmodSync(join(folder, 'aws'), 0o755);
  const env = { ...base, HOME: folder, PATH: `${folder}:${base.PATH}` };
  try {
    expect(await fork(env, ['--version'])).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
