// The sources of user data and facts of drover node init. It must refuse invalid input without
// writing anything: bytes, encodings, sizes, bombs, and values with which a kubelet would not
// start.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost } from '../../src/adapters/host/index.ts';
import type { InitFlags } from '../../src/cli/node/init.ts';
import type { MetadataApi } from '../../src/ports/index.ts';
import { ca, DebianTree, nodeConfig, put } from '../support/init-trees.ts';

let tree: DebianTree;
beforeEach(() => {
  tree = new DebianTree();
});
afterEach(() => tree.remove());

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
    const { error } = await tree.init('', { configSource: 'imds', fact: [] }, createHost, metadata);
    expect(error).toBeUndefined();
    const files = tree.files();
    expect(files['etc/kubernetes/kubelet/config.json']).toContain('aws:///eu-west-1c/i-9');
    expect(files['etc/eks/kubelet/environment']).toContain(
      '--hostname-override=ip-10-0-0-9.eu-west-1.compute.internal',
    );
    const none: MetadataApi = { get: async () => undefined };
    const without = await tree.init('', { configSource: 'imds' }, createHost, none);
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
      expect((await tree.init('', flags)).error).toBeUndefined();
      expect(tree.files()['etc/kubernetes/kubelet/config.json']).toContain('aws:///eu-west-1b/i-7');
      rmSync(join(drive, 'ec2'), { recursive: true });
      expect((await tree.init('', flags)).error?.message).toContain(
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
    [{ root: '/nothing/there' }, 'is no tree that a machine could run'],
    [{ configSource: 'http://x' }, '--config-source takes'],
  ])('%j is told what is missing', async (more, message) => {
    const { error } = await tree.init(nodeConfig(), more as Partial<InitFlags>);
    expect(error?.exitCode).toBe(2);
    expect(error?.message).toContain(message);
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
    const before = tree.files();
    const { error } = await tree.init(userData, more);
    expect(error?.exitCode).toBe(3);
    expect(error?.message).toMatch(/refused, and nothing is written/);
    expect(tree.files()).toEqual(before);
  });
});
