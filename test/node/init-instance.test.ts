// What a NodeConfig asks of the instance beyond the kubelet, through drover node init: name servers are
// written where systemd-resolved is, volumes are set up by EKS' service where that is; the rest is refused
// by name and with its reason, and nothing is written then.
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
    put(join(tree.root, units, 'systemd-resolved.service'), '');
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
    ['nameservers: ["10.0.0.2\\nDNSSEC=no"]', 'is no address'],
    ['domains: ["a b"]', 'is no domain'],
  ])('that are none are refused: %s', async (line, message) => {
    put(join(tree.root, units, 'systemd-resolved.service'), '');
    const text = nodeConfig(['  instance:', '    network:', `      ${line}`]);
    const { error } = await tree.init(text);
    expect(error?.message).toContain(message);
  });
});

describe('instance store volumes', () => {
  it('are left to EKS’ service where the image has it', async () => {
    put(join(tree.root, units, 'setup-local-disks.service'), '');
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
