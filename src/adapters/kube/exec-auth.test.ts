// Exec plugins as scripts of this test: their input, how long their answer is kept, and the errors
// of failing ones. Includes the kubeconfig of an EKS node's kubelet.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { execAuthenticator } from './exec-auth.ts';
import { loadKubeconfig } from './kubeconfig.ts';

const v1beta1 = 'client.authentication.k8s.io/v1beta1';
const credential = (status: JsonObject, apiVersion = v1beta1): string =>
  JSON.stringify({ apiVersion, kind: 'ExecCredential', status });

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'drover-exec-'));
});
beforeEach(() => rm(join(dir, 'calls'), { force: true }));
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A shell script that appends its input to `calls`. */
const plugin = async (script: string): Promise<string> => {
  const path = join(dir, 'plugin');
  const head = `#!/bin/sh\necho "$* $KUBERNETES_EXEC_INFO $CLUSTER" >> ${dir}/calls\n`;
  await writeFile(path, `${head}${script}\n`);
  await chmod(path, 0o755);
  return path;
};
const printing = (text: string): Promise<string> => plugin(`cat <<'EOF'\n${text}\nEOF`);
const calls = async (): Promise<readonly string[]> =>
  (await readFile(join(dir, 'calls'), 'utf8')).trim().split('\n');
const secondsFromNow = (seconds: number): string =>
  new Date(Date.now() + seconds * 1000).toISOString();

const asking = (command: string, more: JsonObject = {}) =>
  execAuthenticator({
    exec: { apiVersion: v1beta1, command, ...more },
    cluster: { server: 'https://a:1', certificateAuthority: 'CA' },
    env: { PATH: process.env.PATH },
    isInteractive: false,
  });

describe('an exec plugin', () => {
  it('is given its arguments, variables and the cluster, and its token is used', async () => {
    const command = await printing(credential({ token: 't1' }));
    const env = [{ name: 'CLUSTER', value: 'c1' }];
    const auth = asking(command, { args: ['token', '-i', 'c1'], env, provideClusterInfo: true });
    expect(await auth.current()).toEqual({ header: 'Bearer t1' });
    const cluster = { server: 'https://a:1', 'certificate-authority-data': 'Q0E=' };
    const spec = { interactive: false, cluster };
    const info = JSON.stringify({ apiVersion: v1beta1, kind: 'ExecCredential', spec });
    expect(await calls()).toEqual([`token -i c1 ${info} c1`]);
  });

  it('runs once for requests at the same time, and again after a 401', async () => {
    const auth = asking(await printing(credential({ token: 't1' })));
    await Promise.all([auth.current(), auth.current(), auth.current()]);
    await auth.current();
    expect(await calls()).toHaveLength(1);
    expect(auth.renew()).toBe(true);
    await auth.current();
    expect(await calls()).toHaveLength(2);
  });

  it('runs again when its answer is about to expire, and not before', async () => {
    const expirationTimestamp = secondsFromNow(840);
    const long = asking(await printing(credential({ token: 't1', expirationTimestamp })));
    await long.current();
    await long.current();
    expect(await calls()).toHaveLength(1);
    const ending = secondsFromNow(2);
    const short = asking(await printing(credential({ token: 't2', expirationTimestamp: ending })));
    await short.current();
    await short.current();
    expect(await calls()).toHaveLength(3);
  });

  it('may answer with a client certificate', async () => {
    const status = { clientCertificateData: 'CERT', clientKeyData: 'KEY' };
    expect(await asking(await printing(credential(status))).current()).toEqual({
      certificate: { certificate: 'CERT', key: 'KEY' },
    });
  });

  it.each([
    ['exits with an error', 'echo no credentials >&2; exit 3', 'exited 3: no credentials'],
    ['prints no JSON', 'echo s3cret', 'printed no JSON'],
    ['prints another version', `echo '${credential({ token: 's3cret' }, 'x/v1')}'`, 'printed x/v1'],
    ['prints no token', `echo '${credential({})}'`, 'printed no token and no certificate'],
    [
      'prints half a certificate',
      `echo '${credential({ clientKeyData: 's3cret' })}'`,
      'a certificate or a key without the other',
    ],
    [
      'prints a time that is none',
      `echo '${credential({ token: 's3cret', expirationTimestamp: 'soon' })}'`,
      'an expirationTimestamp that is not a time',
    ],
    ['prints without an end', 'yes s3cret', 'gave no answer of at most 1 MiB'],
  ])('that %s is named, and asked again by the next request', async (_what, script, message) => {
    const command = await plugin(script);
    const auth = asking(command);
    const failed = auth.current();
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toThrow(command);
    await expect(failed).rejects.not.toThrow('s3cret');
    await printing(credential({ token: 't3' }));
    expect(await auth.current()).toEqual({ header: 'Bearer t3' });
  });

  it('that is not installed is told of with the hint of the kubeconfig', async () => {
    const auth = asking('/nonexistent/plugin', { installHint: 'install it from EXAMPLE' });
    await expect(auth.current()).rejects.toThrow('is not installed; install it from EXAMPLE');
  });

  it('that needs a person is refused where there is no terminal', async () => {
    const auth = asking('true', { interactiveMode: 'Always' });
    await expect(auth.current()).rejects.toThrow('standard input is not a terminal');
  });

  it('of an unknown protocol is refused', async () => {
    const auth = asking('true', { apiVersion: 'client.authentication.k8s.io/v2' });
    await expect(auth.current()).rejects.toThrow('apiVersion client.authentication.k8s.io/v2');
  });

  it("serves the kubeconfig of an EKS node's kubelet, its command found beside the file", async () => {
    await printing(credential({ token: 'k8s-aws-v1.x' }));
    const path = join(dir, 'kubeconfig');
    const exec = { apiVersion: v1beta1, command: './plugin', args: ['token', '-i', 'c1'] };
    const config = {
      clusters: [{ name: 'kubernetes', cluster: { server: 'https://a:1' } }],
      users: [{ name: 'kubelet', user: { exec } }],
      contexts: [{ name: 'kubelet', context: { cluster: 'kubernetes', user: 'kubelet' } }],
      'current-context': 'kubelet',
    };
    await writeFile(path, JSON.stringify(config));
    const { user } = await loadKubeconfig({ path, env: { PATH: process.env.PATH } });
    expect(await user.authenticator.current()).toEqual({ header: 'Bearer k8s-aws-v1.x' });
  });
});
