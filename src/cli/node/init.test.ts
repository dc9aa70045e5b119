// drover node init on trees like Debian's: what it writes, that another run writes nothing, that a kill
// between any two writes and another run give the same end, and what it refuses.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost } from '../../adapters/host/index.ts';
import { markPath } from '../../core/bootstrap/index.ts';
import { kubeletTypeProblems, parseYaml, unknownKubeletFields } from '../../formats/index.ts';
import type { HostApi, HostFile, MetadataApi } from '../../ports/index.ts';
import { type CliContext, CommandError } from '../context.ts';
import { type InitFlags, runInit } from './init.ts';

const ca = Buffer.from('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n').toString(
  'base64',
);

const nodeConfig = (more: readonly string[] = [], name = 'ironman-2022'): string =>
  [
    'apiVersion: node.eks.aws/v1alpha1',
    'kind: NodeConfig',
    'spec:',
    '  cluster:',
    `    name: ${name}`,
    '    apiServerEndpoint: https://example.gr7.eu-west-1.eks.amazonaws.com',
    `    certificateAuthority: ${ca}`,
    '    cidr: 10.100.0.0/16',
    ...more,
    '',
  ].join('\n');

const withDropIn = nodeConfig([
  '  kubelet:',
  '    config: { maxPods: 20 }',
  '    flags: ["--node-labels=team=red"]',
]);

const facts = [
  'instance-id=i-0123456789abcdef0',
  'zone=eu-west-1a',
  'private-ip=192.168.1.2',
  'private-dns-name=ip-192-168-1-2.eu-west-1.compute.internal',
  'instance-type=m5.large',
];

let root = '';
let source = '';
const outside = mkdtempSync(join(tmpdir(), 'drover-init-sources-'));

/** What a Debian with containerd and kubeadm's kubelet package has. */
const debian = {
  'etc/debian_version': '13.1\n',
  'etc/containerd/config.toml': 'version = 2\n',
  'usr/bin/kubelet': '',
  'usr/bin/containerd': '',
  'usr/lib/systemd/system/kubelet.service': '[Service]\nExecStart=/usr/bin/kubelet\n',
  'usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf':
    '[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml\n',
};

const put = (path: string, content: string | Uint8Array): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drover-init-'));
  source = join(outside, 'user-data');
  for (const [path, content] of Object.entries(debian)) put(join(root, path), content);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const tree = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((path) => [
        relative(root, path),
        `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`,
      ]),
  );

interface Ran {
  readonly out: string;
  readonly error: CommandError | undefined;
}

const flagsWith = (more: Partial<InitFlags>): InitFlags => ({
  configSource: `file:${source}`,
  root,
  fact: facts,
  kubernetes: '1.33',
  ...more,
});

const init = async (
  userData: string | Uint8Array,
  more: Partial<InitFlags> = {},
  host: (root: string) => HostApi = createHost,
  metadata?: MetadataApi,
): Promise<Ran> => {
  put(source, userData);
  const lines: string[] = [];
  const context = {
    out: (line: string) => lines.push(line),
    err: (line: string) => lines.push(line),
    readBytes: async (path: string) => readFileSync(path),
    host: async (at: string) => host(at),
    metadata: async () => metadata,
  } as unknown as CliContext;
  try {
    await runInit(context, flagsWith(more));
    return { out: lines.join('\n'), error: undefined };
  } catch (error) {
    if (error instanceof CommandError) return { out: lines.join('\n'), error };
    throw error;
  }
};

const located = (text: string) =>
  parseYaml(text).documents[0]?.value ??
  ({ kind: 'scalar', value: null, at: { line: 1, column: 1 } } as const);

describe('a Debian tree', () => {
  it.each([
    ['1.29', 29],
    ['1.33', 33],
    ['1.36', 36],
  ])('gets a configuration that a kubelet of %s takes', async (kubernetes, minor) => {
    const { error } = await init(withDropIn, { kubernetes });
    expect(error).toBeUndefined();
    const files = tree();
    for (const path of [
      'etc/kubernetes/kubelet/config.json',
      'etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf',
    ]) {
      const config = located((files[path] ?? '').replace(/^\d+ /, ''));
      expect(config.kind).toBe('map');
      expect(unknownKubeletFields(config, minor)).toEqual([]);
      expect(kubeletTypeProblems(config, minor)).toEqual([]);
    }
    expect(files['var/lib/kubelet/kubeconfig']).toMatch(/^600 /);
    expect(files['etc/kubernetes/pki/ca.crt']).toContain('BEGIN CERTIFICATE');
  });

  it('names nothing that only EKS’ images have, and starts one kubelet', async () => {
    await init(withDropIn);
    const files = tree();
    const text = Object.values(files).join('\n');
    expect(text).not.toMatch(/image-credential-provider|base_runtime_spec|localhost\/kubernetes/);
    // kubeadm's drop-in would start the kubelet with another configuration.
    expect(files['etc/systemd/system/kubelet.service.d/10-kubeadm.conf']).toMatch(
      /^644 # In place/,
    );
    expect(files['etc/systemd/system/kubelet.service']).toContain('$NODEADM_KUBELET_ARGS');
  });

  it('is done by arguments of bootstrap.sh, too', async () => {
    const call = `/etc/eks/bootstrap.sh c --b64-cluster-ca ${ca} --apiserver-endpoint https://e`;
    const { error, out } = await init(`#!/bin/bash\n${call}\n`);
    expect(error).toBeUndefined();
    expect(out).toContain('of c: ');
    expect(tree()['etc/systemd/system/kubelet.service.d/10-kubelet-args.conf']).toContain('--v=2');
  });

  it('is left alone by --dry-run, which shows no secret', async () => {
    const before = tree();
    const secret = nodeConfig([
      '  instance: { environment: { default: { PROXY_PASSWORD: hunter2, P: "http://u:hunter2@p" } } }',
    ]);
    const { out } = await init(secret, { dryRun: true });
    expect(out).toContain('replace  /etc/containerd/config.toml');
    expect(out).toContain('==> /etc/kubernetes/kubelet/config.json (0644)');
    expect(out).toContain('(not shown)');
    expect(out).not.toContain('hunter2');
    expect(tree()).toEqual(before);
  });
});

describe('another run', () => {
  it('writes nothing', async () => {
    await init(withDropIn);
    const before = tree();
    const { out } = await init(withDropIn);
    expect(out).toContain('as it was, nothing to write');
    expect(tree()).toEqual(before);
  });

  it('mends what somebody changed, and says which', async () => {
    await init(withDropIn);
    const before = tree();
    put(join(root, 'etc/kubernetes/kubelet/config.json'), '{}');
    const { out } = await init(withDropIn);
    expect(out).toContain('replace  /etc/kubernetes/kubelet/config.json');
    expect(tree()).toEqual(before);
  });

  it('with other user data is refused, and with --replace leaves nothing of the first', async () => {
    await init(withDropIn);
    const before = tree();
    const other = nodeConfig([], 'another');
    const refused = await init(other);
    expect(refused.error?.exitCode).toBe(3);
    expect(refused.error?.message).toContain('was initialised from other user data');
    expect(tree()).toEqual(before);
    expect((await init(other, { replace: true })).error).toBeUndefined();
    const replaced = tree();
    expect(replaced['etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf']).toBeUndefined();
    expect(replaced['var/lib/kubelet/kubeconfig']).toContain('another');
  });

  it('refuses a mark that is not to be read', async () => {
    put(join(root, markPath), '{"state":');
    const { error } = await init(withDropIn);
    expect(error?.exitCode).toBe(3);
    expect(error?.message).toContain('is not to be read');
  });
});

class Killed extends Error {}

/** A machine that dies before its nth change, or in the middle of it: the file beside is left. */
const dyingHost =
  (changes: number) =>
  (at: string): HostApi => {
    const host = createHost(at);
    let left = changes;
    const change = async (run: () => Promise<void>): Promise<void> => {
      if (left-- <= 0) throw new Killed();
      await run();
    };
    return {
      ...host,
      write: (file: HostFile) => change(() => host.write(file)),
      remove: (path: string) => change(() => host.remove(path)),
    };
  };

describe('a kill between any two changes', () => {
  it.each([
    ['of a first run', undefined],
    ['of a run that replaces', nodeConfig(['  kubelet: { config: { podsPerCore: 3 } }'], 'old')],
  ])('%s is mended by another run, to the same end', async (_what, first) => {
    const more = { replace: first !== undefined };
    const prepare = async (): Promise<void> => {
      rmSync(root, { recursive: true, force: true });
      for (const [path, content] of Object.entries(debian)) put(join(root, path), content);
      if (first !== undefined) await init(first);
    };
    await prepare();
    await init(nodeConfig(), more);
    const wanted = tree();
    let kills = 0;
    for (let changes = 0; changes < 40; changes++) {
      await prepare();
      const died = await init(nodeConfig(), more, dyingHost(changes)).then(
        () => false,
        (error: unknown) => error instanceof Killed,
      );
      if (!died) break;
      kills++;
      // Half-way nothing else is written over it: other user data is refused.
      if (changes > 0) {
        const other = await init(nodeConfig([], 'third'));
        expect(other.error?.exitCode).toBe(3);
      }
      const { error } = await init(nodeConfig(), more);
      expect(error).toBeUndefined();
      expect(tree()).toEqual(wanted);
    }
    expect(kills).toBeGreaterThan(first === undefined ? 7 : 3);
  });
});

describe('sources', () => {
  it('is the metadata service, with the instance’s facts', async () => {
    const identity = {
      instanceId: 'i-9',
      instanceType: 't3.medium',
      region: 'eu-west-1',
      availabilityZone: 'eu-west-1c',
      privateIp: '10.0.0.9',
    };
    const answers: Readonly<Record<string, string>> = {
      'user-data': nodeConfig(),
      'dynamic/instance-identity/document': JSON.stringify(identity),
      'meta-data/local-hostname': 'ip-10-0-0-9.eu-west-1.compute.internal extra.example',
    };
    const metadata: MetadataApi = {
      get: async (path) =>
        answers[path] === undefined ? undefined : new TextEncoder().encode(answers[path]),
    };
    const { error } = await init('', { configSource: 'imds', fact: [] }, createHost, metadata);
    expect(error).toBeUndefined();
    const files = tree();
    expect(files['etc/kubernetes/kubelet/config.json']).toContain('aws:///eu-west-1c/i-9');
    expect(files['etc/eks/kubelet/environment']).toContain(
      '--hostname-override=ip-10-0-0-9.eu-west-1.compute.internal',
    );
    const none: MetadataApi = { get: async () => undefined };
    const without = await init('', { configSource: 'imds' }, createHost, none);
    expect(without.error?.message).toContain('has no user data');
  });

  it('is a config drive in each of its forms', async () => {
    const drive = mkdtempSync(join(tmpdir(), 'drover-drive-'));
    try {
      put(join(drive, 'ec2/latest/user-data'), nodeConfig());
      put(
        join(drive, 'ec2/latest/meta-data.json'),
        JSON.stringify({
          'instance-id': 'i-7',
          'local-ipv4': '10.0.0.7',
          'local-hostname': 'n7',
          placement: { 'availability-zone': 'eu-west-1b' },
        }),
      );
      const flags = { configSource: `config-drive:${drive}`, fact: [] };
      expect((await init('', flags)).error).toBeUndefined();
      expect(tree()['etc/kubernetes/kubelet/config.json']).toContain('aws:///eu-west-1b/i-7');
      rmSync(join(drive, 'ec2'), { recursive: true });
      expect((await init('', flags)).error?.message).toContain(
        'none of openstack/latest/user_data',
      );
    } finally {
      rmSync(drive, { recursive: true, force: true });
    }
  });

  it.each([
    [{ fact: [] }, 'does not tell instance-id, zone, region, private-ip, private-dns-name'],
    [{ fact: ['zone=a b'] }, 'is no value of that'],
    [{ fact: ['colour=red'] }, '--fact takes name=value with one of'],
    [{ kubernetes: undefined }, 'give --kubernetes VERSION'],
    [{ configSource: 'http://x' }, '--config-source takes'],
  ])('%j is told what is missing', async (more, message) => {
    const { error } = await init(nodeConfig(), more as Partial<InitFlags>);
    expect(error?.exitCode).toBe(2);
    expect(error?.message).toContain(message);
  });
});

describe('--start', () => {
  it('says where there is no systemd, with everything written', async () => {
    const { error } = await init(nodeConfig(), { start: true });
    expect(error?.exitCode).toBe(1);
    expect(error?.message).toContain('is no running machine');
    expect(tree()[markPath.slice(1)]).toContain('"done"');
  });

  it('restarts what was changed, and only starts what was not', async () => {
    const said: string[] = [];
    const withSystemd = (at: string): HostApi => ({
      ...createHost(at),
      hasSystemd: () => true,
      systemctl: async (...words) => {
        said.push(words.join(' '));
      },
    });
    await init(nodeConfig(), { start: true }, withSystemd);
    expect(said.splice(0)).toEqual([
      'daemon-reload',
      'restart containerd',
      'enable kubelet',
      'restart kubelet',
    ]);
    await init(nodeConfig(), { start: true }, withSystemd);
    expect(said).toEqual(['enable kubelet', 'start kubelet']);
  });
});

const bomb = [
  'a: &a [x, x, x, x, x, x, x, x, x, x]',
  ...'bcdefghij'.split('').map((name, i) => {
    const before = 'abcdefghij'[i];
    return `${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`;
  }),
].join('\n');

describe('bad input', () => {
  it.each<[string, string | Uint8Array, Partial<InitFlags>]>([
    ['arbitrary bytes', Uint8Array.from({ length: 512 }, (_, i) => (i * 89) % 256), {}],
    ['UTF-16', Buffer.from(`\uFEFF${nodeConfig()}`, 'utf16le'), {}],
    ['truncated gzip', gzipSync(nodeConfig()).subarray(0, 60), {}],
    ['several MiB', 'x: y\n'.repeat(1_000_000), {}],
    ['gzip that grows', gzipSync(Buffer.alloc(64 * 1024 * 1024)), {}],
    ['a bomb of aliases', `${nodeConfig()}---\n${bomb}\n`.replace('spec:', `${bomb}\nspec:`), {}],
    ['a certificate that is none', nodeConfig().replace(ca, 'bm90IGEgY2VydGlmaWNhdGU='), {}],
    ['base64 that is none', nodeConfig().replace(ca, '%%%'), {}],
    ['a CIDR that is none', nodeConfig().replace('10.100.0.0/16', '10.100.0.0'), {}],
    ['an endpoint that is none', nodeConfig().replace('https://', 'gopher://'), {}],
    ['settings of Bottlerocket', '[settings.kubernetes]\ncluster-name = "c"\n', {}],
    ['kubeadm join', '#cloud-config\nruncmd: ["kubeadm join 1.2.3.4:6443"]\n', {}],
    [
      'storage, which is not done',
      nodeConfig(['  instance: { localStorage: { strategy: RAID0 } }']),
      {},
    ],
    ['a script’s own variables', '#!/bin/bash\n/etc/eks/bootstrap.sh "$(curl x)"\n', {}],
    ['no endpoint', '#!/bin/bash\n/etc/eks/bootstrap.sh c\n', {}],
    ['nothing', '', {}],
  ])('%s is refused, with nothing written', async (_what, userData, more) => {
    const before = tree();
    const { error } = await init(userData, more);
    expect(error?.exitCode).toBe(3);
    expect(error?.message).toMatch(/refused, and nothing is written/);
    expect(tree()).toEqual(before);
  });
});
