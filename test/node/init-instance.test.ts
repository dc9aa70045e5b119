// Instance settings of a NodeConfig beyond the kubelet, through drover node init. Name servers are
// written if systemd-resolved exists, and EKS' service sets up volumes if it exists. Other settings
// are refused by name with the reason, and then nothing is written.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost } from '../../src/adapters/host/index.ts';
import { exitCodes } from '../../src/cli/context.ts';
import type { HostApi } from '../../src/ports/index.ts';
import { DebianTree, nodeConfig, put } from '../support/init-trees.ts';

let tree: DebianTree;
beforeEach(() => {
  tree = new DebianTree();
});
afterEach(() => tree.remove());

const units = 'usr/lib/systemd/system';
const unit = '[Service]\nExecStart=/usr/bin/true\n';
const servers = nodeConfig([
  '  instance:',
  '    network:',
  '      nameservers: [10.0.0.2, "fd00::2"]',
  '      domains: [corp.example]',
]);
const disks = nodeConfig(['  instance:', '    localStorage:', '      strategy: RAID0']);

const said: string[] = [];
const withSystemd = (at: string): HostApi => ({
  ...createHost(at),
  hasSystemd: () => true,
  systemctl: async (...words) => {
    said.push(words.join(' '));
  },
});
beforeEach(() => {
  said.length = 0;
});

describe('name servers', () => {
  it('are written for systemd-resolved where no boot empties them, and it is told', async () => {
    put(join(tree.root, units, 'systemd-resolved.service'), unit);
    expect((await tree.init(servers, { start: true }, withSystemd)).error).toBeUndefined();
    const files = tree.files();
    expect(files['etc/systemd/resolved.conf.d/40-eks.conf']).toBe(
      '644 [Resolve]\nDNS=10.0.0.2 fd00::2\nDomains=corp.example\n',
    );
    expect(Object.keys(files).some((path) => path.startsWith('run/'))).toBe(false);
    expect(said).toContain('restart systemd-resolved');
    expect(said.indexOf('restart systemd-resolved')).toBeLessThan(said.indexOf('restart kubelet'));
  });

  it('are refused where nothing reads them', async () => {
    const before = tree.files();
    const { error } = await tree.init(servers);
    expect(error?.exitCode).toBe(exitCodes.refused);
    expect(error?.message).toMatch(
      /spec\.instance\.network is not done here: .*resolved.*install it/,
    );
    expect(tree.files()).toEqual(before);
  });

  it.each([
    ['a link to /dev/null', (path: string) => symlinkSync('/dev/null', path)],
    ['an empty file', (path: string) => put(path, '')],
  ])('are refused where the service is masked by %s', async (_what, mask) => {
    put(join(tree.root, units, 'systemd-resolved.service'), unit);
    mkdirSync(join(tree.root, 'etc/systemd/system'), { recursive: true });
    mask(join(tree.root, 'etc/systemd/system/systemd-resolved.service'));
    expect((await tree.init(servers)).error?.message).toMatch(/network is not done here/);
  });

  it('may have the port, interface and name that systemd-resolved takes with an address', async () => {
    put(join(tree.root, units, 'systemd-resolved.service'), unit);
    const forms = ['10.0.0.2:5353', '10.0.0.2:53%eth0#dns.example', '[fd00::2]:53', 'fd00::2%eth0'];
    const line = `      nameservers: ${JSON.stringify(forms)}`;
    const { error } = await tree.init(nodeConfig(['  instance:', '    network:', line]));
    expect(error).toBeUndefined();
    expect(tree.files()['etc/systemd/resolved.conf.d/40-eks.conf']).toContain(
      `DNS=${forms.join(' ')}\n`,
    );
  });

  it.each([
    ['nameservers: ["10.0.0.2\\nDNSSEC=no"]', 'is no address'],
    ['nameservers: ["dns.example:53"]', 'is no address'],
    ['nameservers: ["10.0.0.2#a b"]', 'is no address'],
    ['domains: ["a b"]', 'is no domain'],
  ])('that are none are refused: %s', async (line, message) => {
    put(join(tree.root, units, 'systemd-resolved.service'), unit);
    const text = nodeConfig(['  instance:', '    network:', `      ${line}`]);
    const { error } = await tree.init(text);
    expect(error?.message).toContain(message);
  });
});

describe('instance store volumes', () => {
  it('are left to EKS’ service where the image has it', async () => {
    put(join(tree.root, units, 'setup-local-disks.service'), unit);
    expect((await tree.init(disks, { start: true }, withSystemd)).error).toBeUndefined();
    expect(tree.files()['etc/systemd/system/setup-local-disks.service.d/00-strategy.conf']).toBe(
      '644 [Service]\nEnvironment=LOCAL_DISK_STRATEGY=raid0',
    );
    expect(said).toContain('restart setup-local-disks');
  });

  it('are refused elsewhere, for nothing here formats a disk', async () => {
    const { error } = await tree.init(disks);
    expect(error?.message).toMatch(/localStorage\.strategy is not done here: .*setup-local-disks/);
  });
});

describe('a runtime specification', () => {
  const spec = 'etc/containerd/base-runtime-spec.json';
  const limits = '{ rlimits: [{ type: RLIMIT_NOFILE, soft: 12345, hard: 12345 }] }';
  const own = nodeConfig([
    '  containerd:',
    `    baseRuntimeSpec: { foo: bar, process: ${limits} }`,
  ]);

  it('is written with the user’s document in it, and containerd is told of it', async () => {
    expect((await tree.init(own)).error).toBeUndefined();
    const files = tree.files();
    const written = JSON.parse((files[spec] ?? '').replace(/^644 /, ''));
    expect(written).toMatchObject({
      foo: 'bar',
      process: { cwd: '/', rlimits: [{ type: 'RLIMIT_NOFILE', soft: 12345, hard: 12345 }] },
      linux: { readonlyPaths: expect.arrayContaining(['/proc/sys']) },
    });
    expect(files['etc/containerd/config.toml']).toContain(`base_runtime_spec = "/${spec}"`);
  });

  it('makes no other node of it when it is run again', async () => {
    await tree.init(own);
    expect((await tree.init(own)).out).toContain('as it was, nothing to write');
  });
});

describe('what node init does not do', () => {
  it.each([
    [
      'Outposts',
      nodeConfig().replace('    cidr', '    enableOutpost: true\n    id: c-1\n    cidr'),
      /enableOutpost is not done here: .*Outposts/,
    ],
    [
      'Bottlerocket',
      "settings.kubernetes.cluster-name = 'c'\n",
      /Bottlerocket reads its settings itself/,
    ],
    [
      'Windows',
      '<powershell>\n& $EKSBootstrapScriptFile -EKSClusterName "c"\n</powershell>\n',
      /Windows nodes are set up by/,
    ],
  ])('is refused by name: %s', async (_what, text, message) => {
    const before = tree.files();
    const { error } = await tree.init(text);
    expect(error?.exitCode).toBe(exitCodes.refused);
    expect(error?.message).toMatch(message);
    expect(tree.files()).toEqual(before);
  });
});
