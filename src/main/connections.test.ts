import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditFilesOf, connectionSettings, droverUrl, isWorldsServer } from './connections.ts';
import { mayBeMixed, mixture } from './mixed-endpoints.ts';

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
  writeFileSync(join(dir, 'settings.json'), '{"layout":1,"token":"t"}');
  writeFileSync(join(dir, 'kubeconfig'), more.config ?? kubeconfig());
};

describe('the settings of a command', () => {
  it('come from the named world alone, whatever the environment says', () => {
    aWorld();
    const env = { KUBECONFIG: '/prod', AWS_REGION: 'us-west-2', AWS_SESSION_TOKEN: 'prod' };
    expect(connectionSettings({ dataDir: dir }, env)).toEqual({
      kubeconfig: join(dir, 'kubeconfig'),
      droverUrl: 'http://drover:t@127.0.0.1:8700',
      sourceKubeconfig: join(dir, 'kubeconfig'),
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

describe('a cluster and an AWS endpoint', () => {
  const real = 'https://api.prod.example:6443';
  const withRealCluster = (env: Record<string, string>) =>
    connectionSettings({}, { ...env, KUBECONFIG: '/prod' });

  it('are refused when only the endpoint is an embedded world', () => {
    const env = {
      AWS_ENDPOINT_URL: 'http://127.0.0.1:8700',
      DROVER_URL: 'http://d:t@127.0.0.1:8700',
    };
    expect(mayBeMixed(withRealCluster(env))).toBe(true);
    expect(mixture(withRealCluster(env), real)).toMatch(
      /prod\.example:6443 is not the embedded world .*--allow-mixed-endpoints/,
    );
    // A tunnel to a real cluster has a loopback address, too.
    expect(mixture(withRealCluster(env), 'https://127.0.0.1:6443')).toBeDefined();
  });

  it('are refused when only the cluster is an embedded world', () => {
    aWorld();
    const settings = connectionSettings({ kubeconfig: join(dir, 'kubeconfig') }, {});
    expect(mayBeMixed(settings)).toBe(true);
    expect(mixture(settings, 'https://127.0.0.1:8701')).toMatch(
      /cluster of an embedded world, but AWS calls would go to the account/,
    );
  });

  it('are compared for the cluster of the current context, in whichever file of KUBECONFIG', () => {
    aWorld();
    const both = `/prod:${join(dir, 'kubeconfig')}`;
    const settings = connectionSettings({}, { KUBECONFIG: both });
    expect(mayBeMixed(settings)).toBe(true);
    expect(mixture(settings, 'https://127.0.0.1:8701')).toMatch(
      /kubeconfig is the cluster of an embedded world/,
    );
    // A cluster on this machine, of another file.
    expect(mixture(settings, 'https://127.0.0.1:6443')).toBeUndefined();
    const worlds = {
      KUBECONFIG: both,
      AWS_ENDPOINT_URL: 'http://127.0.0.1:8700',
      DROVER_URL: 'http://d:t@127.0.0.1:8700',
    };
    expect(mixture(connectionSettings({}, worlds), 'https://127.0.0.1:8701')).toBeUndefined();
    expect(mixture(connectionSettings({}, worlds), real)).toBeDefined();
  });

  it('are accepted beside a settings.json that is not of a world', () => {
    aWorld();
    writeFileSync(join(dir, 'settings.json'), '{"editor.fontSize":12}');
    const settings = connectionSettings({}, { KUBECONFIG: join(dir, 'kubeconfig') });
    expect(mayBeMixed(settings)).toBe(false);
    expect(mixture(settings, 'https://127.0.0.1:8701')).toBeUndefined();
  });

  it('are accepted when both are real, both are one world, or the AWS endpoint is an emulator', () => {
    expect(mayBeMixed(connectionSettings({}, { KUBECONFIG: '/prod' }))).toBe(false);
    // Freely chosen ports: only the world's own kubeconfig shows that they belong together.
    aWorld({ config: 'clusters:\n- cluster:\n    server: https://127.0.0.1:9999\n' });
    const env = {
      KUBECONFIG: join(dir, 'kubeconfig'),
      AWS_ENDPOINT_URL: 'http://127.0.0.1:8700',
      DROVER_URL: 'http://d:t@127.0.0.1:8700',
    };
    expect(mixture(connectionSettings({}, env), 'https://127.0.0.1:9999')).toBeUndefined();
    const elsewhere = connectionSettings({ kubeconfig: '/dev/null' }, env);
    expect(mixture(elsewhere, 'https://127.0.0.1:9999')).toBeUndefined();
    expect(mixture(elsewhere, real)).toBeDefined();
    const emulator = { ...env, AWS_ENDPOINT_URL: 'http://127.0.0.1:5000', DROVER_URL: undefined };
    expect(mixture(connectionSettings({}, emulator), 'https://127.0.0.1:9999')).toBeUndefined();
  });
});
