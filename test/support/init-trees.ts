// Debian-like trees for drover node init, and the command run on them: the resulting files, the
// output and the exit code. Writes only below the temporary directory.
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
import { createHost } from '../../src/adapters/host/index.ts';
import { type CliContext, CommandError } from '../../src/cli/context.ts';
import { type InitFlags, runInit } from '../../src/cli/node/init.ts';
import { exampleAuthority } from '../../src/formats/index.ts';
import type { HostApi, MetadataApi } from '../../src/ports/index.ts';

export const ca = exampleAuthority;

export const nodeConfig = (more: readonly string[] = [], name = 'ironman-2022'): string =>
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

/** Instance facts as flags, for an instance without metadata service. */
export const facts = [
  'instance-id=i-0123456789abcdef0',
  'zone=eu-west-1a',
  'private-ip=192.168.1.2',
  'private-dns-name=ip-192-168-1-2.eu-west-1.compute.internal',
  'instance-type=m5.large',
];

/** The files of a Debian with containerd and kubeadm's kubelet package. */
const debian = {
  'etc/debian_version': '13.1\n',
  'etc/containerd/config.toml': 'version = 2\n',
  'usr/bin/kubelet': '',
  'usr/bin/containerd': '',
  'usr/lib/systemd/system/kubelet.service': '[Service]\nExecStart=/usr/bin/kubelet\n',
  'usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf':
    '[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml\n',
};

export const put = (path: string, content: string | Uint8Array): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};

export interface Ran {
  readonly out: string;
  readonly error: CommandError | undefined;
}

export class DebianTree {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-init-'));
  readonly #sources = mkdtempSync(join(tmpdir(), 'drover-init-sources-'));

  constructor() {
    this.reset();
  }

  reset(): void {
    rmSync(this.root, { recursive: true, force: true });
    for (const [path, content] of Object.entries(debian)) put(join(this.root, path), content);
  }

  remove(): void {
    for (const path of [this.root, this.#sources]) rmSync(path, { recursive: true, force: true });
  }

  /** Path to mode and content, for every file. */
  files(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      readdirSync(this.root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .toSorted()
        .map((path) => [
          relative(this.root, path),
          `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`,
        ]),
    );
  }

  async init(
    userData: string | Uint8Array,
    more: Partial<InitFlags> = {},
    host: (root: string) => HostApi = createHost,
    metadata?: MetadataApi,
  ): Promise<Ran> {
    const source = join(this.#sources, 'user-data');
    put(source, userData);
    const lines: string[] = [];
    const context = {
      out: (line: string) => lines.push(line),
      err: (line: string) => lines.push(line),
      readBytes: async (path: string) => readFileSync(path),
      host: async (at: string) => host(at),
      metadata: async () => metadata,
    } as unknown as CliContext;
    const flags = {
      configSource: `file:${source}`,
      root: this.root,
      fact: facts,
      kubernetes: '1.33',
      ...more,
    };
    try {
      await runInit(context, flags);
      return { out: lines.join('\n'), error: undefined };
    } catch (error) {
      if (error instanceof CommandError) return { out: lines.join('\n'), error };
      throw error;
    }
  }
}
