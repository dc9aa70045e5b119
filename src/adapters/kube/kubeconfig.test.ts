import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadKubeconfig } from './kubeconfig.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const write = async (name: string, text: string): Promise<string> => {
  const path = join(dir, name);
  await writeFile(path, text);
  return path;
};

const config = (name: string, server: string, user = 'token: t'): string => `
apiVersion: v1
kind: Config
clusters: [{name: ${name}, cluster: {server: "${server}"}}]
users: [{name: ${name}, user: {${user}}}]
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: demo}}]
current-context: ${name}
`;

describe('loadKubeconfig', () => {
  it('merges the files of KUBECONFIG: the first that names a thing wins', async () => {
    const one = await write('one', config('a', 'https://a:1', 'token: first'));
    const two = await write('two', config('a', 'https://other:1', 'token: second'));
    const env = { KUBECONFIG: [one, join(dir, 'absent'), two].join(':') };
    const access = await loadKubeconfig({ env });
    expect(access).toMatchObject({ context: 'a', namespace: 'demo' });
    expect(access.cluster.server).toBe('https://a:1');
    expect(await access.user.authenticator.current()).toEqual({ header: 'Bearer first' });
  });

  it('takes the context it is told, and current-context else', async () => {
    const one = await write('one', config('a', 'https://a:1'));
    const two = await write('two', config('b', 'https://b:1'));
    const env = { KUBECONFIG: `${one}:${two}` };
    expect((await loadKubeconfig({ env })).cluster.server).toBe('https://a:1');
    expect((await loadKubeconfig({ env, context: 'b' })).cluster.server).toBe('https://b:1');
    await expect(loadKubeconfig({ env, context: 'c' })).rejects.toThrow(
      'no context c; known: a, b',
    );
  });

  it('reads certificates from data and from files beside the kubeconfig', async () => {
    await write('client.key', 'KEY');
    const data = Buffer.from('CERT').toString('base64');
    const user = `client-certificate-data: ${data}, client-key: client.key`;
    const ca = `certificate-authority-data: ${Buffer.from('CA').toString('base64')}`;
    const text = config('a', 'https://a:1', user).replace('server:', `${ca}, server:`);
    const path = await write('config', text);
    const access = await loadKubeconfig({ path, env: {} });
    expect(access.cluster.certificateAuthority).toBe('CA');
    expect(await access.user.authenticator.current()).toEqual({
      certificate: { certificate: 'CERT', key: 'KEY' },
    });
  });

  it('reads a rotated token file again when told that the token was refused', async () => {
    const token = await write('token', 'one\n');
    const path = await write('config', config('a', 'https://a:1', 'tokenFile: token'));
    const { authenticator } = (await loadKubeconfig({ path, env: {} })).user;
    expect(await authenticator.current()).toEqual({ header: 'Bearer one' });
    await writeFile(token, 'two');
    expect(await authenticator.current()).toEqual({ header: 'Bearer one' });
    expect(authenticator.renew()).toBe(true);
    expect(await authenticator.current()).toEqual({ header: 'Bearer two' });
  });

  it('asks an exec plugin for its token', async () => {
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' };
    const answer = JSON.stringify({ ...credential, status: { token: 'from-exec' } });
    const user = JSON.stringify({
      exec: { apiVersion: credential.apiVersion, command: 'echo', args: [answer] },
    }).slice(1, -1);
    const path = await write('config', config('a', 'https://a:1', user));
    const { authenticator } = (await loadKubeconfig({ path, env: {} })).user;
    expect(await authenticator.current()).toEqual({ header: 'Bearer from-exec' });
  });

  it('falls back to the service account of the pod', async () => {
    await write('ca.crt', 'CA');
    await write('token', 'pod-token');
    await write('namespace', 'drover-system');
    const access = await loadKubeconfig({
      env: { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' },
      serviceAccountDir: dir,
    });
    expect(access).toMatchObject({
      context: 'in-cluster',
      cluster: { server: 'https://[fd00::1]:443', certificateAuthority: 'CA' },
      namespace: 'drover-system',
    });
    expect(await access.user.authenticator.current()).toEqual({ header: 'Bearer pod-token' });
  });

  it('turns impersonation into headers', async () => {
    const user = 'token: t, as: jane, as-groups: [a, b], as-user-extra: {Scopes: [x]}';
    const path = await write('config', config('a', 'https://a:1', user));
    expect((await loadKubeconfig({ path, env: {} })).user.headers).toEqual({
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-scopes': ['x'],
    });
  });

  it.each([
    ['broken YAML', 'clusters: {', 'invalid', 'is not YAML'],
    ['a scalar', 'just text', 'invalid', 'no mapping'],
    ['an empty file', '', 'context', 'no current-context'],
    ['a foreign URL', config('a', 'ftp://a'), 'invalid', 'server ftp://a is no http or https URL'],
    [
      'an unknown user',
      config('a', 'https://a').replace('user: a', 'user: z'),
      'context',
      'context a: no user z',
    ],
    [
      'a missing key file',
      config('a', 'https://a', 'client-key: k.pem'),
      'invalid',
      'client-key k.pem cannot be read',
    ],
  ])('says what is wrong with %s', async (_what, text, code, message) => {
    const path = await write('config', text);
    const failed = loadKubeconfig({ path, env: {} });
    await expect(failed).rejects.toMatchObject({ name: 'KubeconfigError', code });
    await expect(failed).rejects.toThrow(message);
  });

  it('does not repeat the text of a broken file, which may hold a token', async () => {
    const path = await write('config', 'users: [{user: {token: s3cret}}');
    await expect(loadKubeconfig({ path, env: {} })).rejects.not.toThrow('s3cret');
  });

  it('names the file that does not exist and the remedy', async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'h', KUBERNETES_SERVICE_PORT: '1' };
    const path = join(dir, 'none');
    await expect(loadKubeconfig({ path, env })).rejects.toThrow(`no kubeconfig: ${path}; give`);
    await expect(loadKubeconfig({ env: {} })).rejects.toMatchObject({ code: 'missing' });
  });
});
