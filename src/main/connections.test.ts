import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditFilesOf, connectionSettings, droverUrl, isWorldsServer } from './connections.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-connections-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const kubeconfig = (more: { server?: string; user?: string } = {}): string => `
clusters:
- name: c
  cluster: { server: "${more.server ?? 'https://127.0.0.1:8701'}", certificate-authority-data: AA== }
users:
- name: u
  user: ${more.user ?? '{ client-certificate-data: AA==, client-key-data: AA== }'}
`;

const aWorld = (more: { env?: Record<string, string>; config?: string } = {}): void => {
  const values: Record<string, string> = {
    KUBECONFIG: join(dir, 'kubeconfig'),
    AWS_ENDPOINT_URL: 'http://127.0.0.1:8700',
    AWS_ACCESS_KEY_ID: 'AKIAWORLD',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_DEFAULT_REGION: 'eu-west-1',
    DROVER_URL: 'http://drover:t@127.0.0.1:8700',
    ...more.env,
  };
  const lines = Object.entries(values).map(([key, value]) => `${key}='${value}'`);
  writeFileSync(join(dir, 'env'), `${lines.join('\n')}\n`);
  writeFileSync(join(dir, 'settings.json'), '{}');
  writeFileSync(join(dir, 'kubeconfig'), more.config ?? kubeconfig());
};

describe('the settings of a command', () => {
  it('come from the named world alone, whatever the environment says', () => {
    aWorld();
    const env = { KUBECONFIG: '/prod', AWS_REGION: 'us-west-2', AWS_SESSION_TOKEN: 'prod' };
    expect(connectionSettings({ dataDir: dir }, env)).toEqual({
      kubeconfig: join(dir, 'kubeconfig'),
      droverUrl: 'http://drover:t@127.0.0.1:8700',
      aws: {
        region: 'eu-west-1',
        endpoint: 'http://127.0.0.1:8700',
        accessKeyId: 'AKIAWORLD',
        secretAccessKey: 'secret',
        sessionToken: undefined,
      },
    });
  });

  it('come from the environment alone where that names a cluster', () => {
    const settings = connectionSettings({}, { KUBECONFIG: '/prod', AWS_REGION: 'us-west-2' });
    expect(settings.kubeconfig).toBe('/prod');
    expect(settings.aws).toMatchObject({ region: 'us-west-2', endpoint: undefined });
    expect(settings.droverUrl).toBeUndefined();
  });

  it('leave the region to the profile where nothing names it', () => {
    const region = (env: Parameters<typeof connectionSettings>[1]) =>
      connectionSettings({}, { KUBECONFIG: '/prod', ...env }).aws.region;
    expect(region({ AWS_PROFILE: 'prod' })).toBeUndefined();
    expect(region({ AWS_REGION: '', AWS_DEFAULT_REGION: 'eu-west-3' })).toBe('eu-west-3');
    expect(region({ AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })).toBe('us-east-1');
  });

  it.each<[string, Parameters<typeof aWorld>[0]]>([
    ['would run a program', { config: kubeconfig({ user: '{ exec: { command: /bin/sh } }' }) }],
    ['leaves this machine', { config: kubeconfig({ server: 'https://evil.example:443' }) }],
    ['points elsewhere', { env: { KUBECONFIG: '/tmp/other' } }],
    ['AWS_ENDPOINT_URL leaves', { env: { AWS_ENDPOINT_URL: 'http://evil.example' } }],
    ['DROVER_URL leaves', { env: { DROVER_URL: 'http://drover:t@evil.example:8700' } }],
    ['not YAML', { config: '{{{' }],
  ])('are refused from a directory that %s', (why, world) => {
    aWorld(world);
    expect(() => connectionSettings({ dataDir: dir }, {})).toThrow(why);
    expect(() => droverUrl({ dataDir: dir }, {})).toThrow(why);
  });

  it('take the world for the cluster only where the server is the world’s own', () => {
    aWorld();
    const settings = connectionSettings({ dataDir: dir }, {});
    expect(isWorldsServer(settings, 'https://127.0.0.1:8701')).toBe(true);
    expect(isWorldsServer(settings, 'https://10.0.0.1:8701')).toBe(false);
    const kind = connectionSettings({}, { KUBECONFIG: '/x', DROVER_URL: settings.droverUrl });
    expect(isWorldsServer(kind, 'https://127.0.0.1:8701')).toBe(false);
  });
});

describe('the audit log of a world', () => {
  it('is its files, oldest first, and nothing else that lies there', () => {
    aWorld();
    mkdirSync(join(dir, 'audit'));
    for (const name of [
      'audit.log',
      'audit.log.1',
      'audit.log.10',
      'audit.log.2',
      'audit.log.old',
    ]) {
      writeFileSync(join(dir, 'audit', name), '');
    }
    expect(auditFilesOf({ dataDir: dir }, {})).toEqual(
      ['audit.log.10', 'audit.log.2', 'audit.log.1', 'audit.log'].map((name) =>
        join(dir, 'audit', name),
      ),
    );
  });

  it('is missed by name where there is none', () => {
    aWorld();
    expect(() => auditFilesOf({ dataDir: dir }, {})).toThrow(
      /audit holds no audit log: name log files/,
    );
    expect(() => auditFilesOf({}, { KUBECONFIG: '/elsewhere' })).toThrow(
      /no embedded world whose audit log/,
    );
  });
});
