// Attack row 21: kubeconfigs and plan files of other users. Reading one starts no program, reads no
// file that the chosen user does not name, and prints no secret in an error.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadKubeconfig } from '../../src/adapters/kube/index.ts';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { parsePlan } from '../../src/cli/plan/file.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-kubeconfig-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const secret = 'canary-token-51c0';

/** A kubeconfig whose context is `good` by default. */
const write = (users: Readonly<Record<string, JsonObject>>, cluster: JsonObject = {}): string => {
  const names = Object.keys(users);
  const path = join(dir, 'config');
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
    users: names.map((name) => ({ name, user: users[name] })),
    contexts: names.map((name) => ({ name, context: { cluster: 'c', user: name } })),
    'current-context': 'good',
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
};
const errorOf = async (path: string, context?: string): Promise<string> => {
  const options = { path, env: {}, ...defined({ context }) };
  const error: unknown = await loadKubeconfig(options).catch((reason: unknown) => reason);
  if (!(error instanceof Error)) throw new Error('it was not refused');
  return `${error.message} ${String(error.cause ?? '')}`;
};

describe('the kubeconfig of another', () => {
  it.each(['good', 'evil'])('starts no program when it is read, context %s', async (context) => {
    const touched = join(dir, 'touched');
    const apiVersion = 'client.authentication.k8s.io/v1';
    const exec = { apiVersion, command: 'touch', args: [touched], interactiveMode: 'Never' };
    const path = write({ good: { token: secret }, evil: { exec } });
    const access = await loadKubeconfig({ path, env: {}, context });
    expect(existsSync(touched)).toBe(false);
    if (context === 'good') {
      const credentials = await access.user.authenticator.current();
      expect(credentials).toEqual({ header: `Bearer ${secret}` });
      expect(existsSync(touched)).toBe(false);
    } else {
      // The program works: if reading had started it, the file would exist.
      await access.user.authenticator.current().catch(() => undefined);
      expect(existsSync(touched)).toBe(true);
    }
  });

  it('reads files of the chosen user alone', async () => {
    const absent = join(dir, '..', 'absent-51c0');
    const evil = { 'client-certificate': absent, 'client-key': absent };
    const path = write({ good: { token: secret }, evil });
    await expect(loadKubeconfig({ path, env: {} })).resolves.toMatchObject({ context: 'good' });
    expect(await errorOf(path, 'evil')).toContain('absent-51c0');
  });

  it('verifies the server unless it says otherwise in plain', async () => {
    for (const value of ['true', 1, null]) {
      const path = write({ good: {} }, { 'insecure-skip-tls-verify': value });
      const { cluster } = await loadKubeconfig({ path, env: {} });
      expect(cluster.insecureSkipTlsVerify).toBeUndefined();
    }
  });

  it.each([
    ['not YAML', `users: [{user: {token: ${secret}`],
    ['not a mapping', `- ${secret}`],
    ['a bad alias', `token: ${secret}\nb: *${secret}x`],
  ])('that is %s is refused without its secrets', async (_, text) => {
    const path = join(dir, 'config');
    writeFileSync(path, text);
    const error = await errorOf(path);
    expect(error).toContain(path);
    expect(error).not.toContain(`token: ${secret}`);
  });
});

describe('the plan file of another', () => {
  it.each([
    ['a kubeconfig', { kind: 'Config', users: [{ user: { token: secret } }] }],
    ['half a plan', { kind: 'UpdatePlan', version: 1, group: secret }],
    ['a prototype', JSON.parse(`{"__proto__": {"kind": "UpdatePlan"}, "token": "${secret}"}`)],
  ])('that is %s is refused without its content', (_, content) => {
    let message = '';
    try {
      parsePlan('p.json', JSON.stringify(content));
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('p.json is no plan');
    expect(message).not.toContain(secret);
  });
});
