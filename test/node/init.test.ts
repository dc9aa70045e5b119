// drover node init on a file tree like Debian's: its files and its calls of systemd. A second run
// writes nothing, and a kill between any two writes followed by another run gives the same end.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost } from '../../src/adapters/host/index.ts';
import { markPath } from '../../src/core/bootstrap/index.ts';
import { kubeletTypeProblems, parseYaml, unknownKubeletFields } from '../../src/formats/index.ts';
import type { HostApi, HostFile } from '../../src/ports/index.ts';
import { ca, DebianTree, nodeConfig, put } from '../support/init-trees.ts';

let tree: DebianTree;
beforeEach(() => {
  tree = new DebianTree();
});
afterEach(() => tree.remove());

const withDropIn = nodeConfig([
  '  kubelet:',
  '    config: { maxPods: 20 }',
  '    flags: ["--node-labels=team=red"]',
]);

const located = (text: string) =>
  parseYaml(text).documents[0]?.value ??
  ({ kind: 'scalar', value: null, at: { line: 1, column: 1 } } as const);

describe('a Debian tree', () => {
  it.each([
    ['1.29', 29],
    ['1.33', 33],
    ['1.36', 36],
  ])('gets a configuration that a kubelet of %s takes', async (kubernetes, minor) => {
    const { error } = await tree.init(withDropIn, { kubernetes });
    expect(error).toBeUndefined();
    const files = tree.files();
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
    await tree.init(withDropIn);
    const files = tree.files();
    const text = Object.values(files).join('\n');
    expect(text).not.toMatch(/image-credential-provider|localhost\/kubernetes/);
    // kubeadm's drop-in would start the kubelet with another configuration.
    expect(files['etc/systemd/system/kubelet.service.d/10-kubeadm.conf']).toMatch(
      /^644 # In place/,
    );
    expect(files['etc/systemd/system/kubelet.service']).toContain('$NODEADM_KUBELET_ARGS');
  });

  it('is done by arguments of bootstrap.sh, too', async () => {
    const call = `/etc/eks/bootstrap.sh c --b64-cluster-ca ${ca} --apiserver-endpoint https://e`;
    const { error, out } = await tree.init(`#!/bin/bash\n${call}\n`);
    expect(error).toBeUndefined();
    expect(out).toContain('of c: ');
    expect(tree.files()['etc/systemd/system/kubelet.service.d/10-kubelet-args.conf']).toContain(
      '--v=2',
    );
  });

  it('is left alone by --dry-run, which shows no secret', async () => {
    const before = tree.files();
    const secret = nodeConfig([
      '  instance: { environment: { default: { PROXY_PASSWORD: hunter2, P: "http://u:hunter2@p" } } }',
    ]);
    const { out } = await tree.init(secret, { dryRun: true });
    expect(out).toContain('replace  /etc/containerd/config.toml');
    expect(out).toContain('==> /etc/kubernetes/kubelet/config.json (0644)');
    expect(out).toContain('(not shown)');
    expect(out).not.toContain('hunter2');
    expect(tree.files()).toEqual(before);
  });
});

describe('another run', () => {
  it('writes nothing', async () => {
    await tree.init(withDropIn);
    const before = tree.files();
    const { out } = await tree.init(withDropIn);
    expect(out).toContain('as it was, nothing to write');
    expect(tree.files()).toEqual(before);
  });

  it('fixes what a user changed, and says which', async () => {
    await tree.init(withDropIn);
    const before = tree.files();
    put(join(tree.root, 'etc/kubernetes/kubelet/config.json'), '{}');
    const { out } = await tree.init(withDropIn);
    expect(out).toContain('replace  /etc/kubernetes/kubelet/config.json');
    expect(tree.files()).toEqual(before);
  });

  it('with other user data is refused, and with --replace leaves nothing of the first', async () => {
    await tree.init(withDropIn);
    const before = tree.files();
    const other = nodeConfig([], 'another');
    const refused = await tree.init(other);
    expect(refused.error?.exitCode).toBe(3);
    expect(refused.error?.message).toContain('was initialised from other user data');
    expect(tree.files()).toEqual(before);
    expect((await tree.init(other, { replace: true })).error).toBeUndefined();
    const replaced = tree.files();
    expect(replaced['etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf']).toBeUndefined();
    expect(replaced['var/lib/kubelet/kubeconfig']).toContain('another');
  });

  it('refuses a mark that cannot be read', async () => {
    put(join(tree.root, markPath), '{"state":');
    const { error } = await tree.init(withDropIn);
    expect(error?.exitCode).toBe(3);
    expect(error?.message).toContain('cannot be read');
  });
});

class Killed extends Error {}

/**
 * A host that dies before its nth change, or in the middle of it, which leaves the temporary file.
 */
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
  ])('%s is fixed by another run, to the same end', async (_what, first) => {
    const more = { replace: first !== undefined };
    const prepare = async (): Promise<void> => {
      tree.reset();
      if (first !== undefined) await tree.init(first);
    };
    await prepare();
    await tree.init(nodeConfig(), more);
    const wanted = tree.files();
    let kills = 0;
    for (let changes = 0; changes < 40; changes++) {
      await prepare();
      const died = await tree.init(nodeConfig(), more, dyingHost(changes)).then(
        () => false,
        (error: unknown) => error instanceof Killed,
      );
      if (!died) break;
      kills++;
      // A half-finished run accepts no other user data, so nothing is overwritten.
      if (changes > 0) {
        const other = await tree.init(nodeConfig([], 'third'));
        expect(other.error?.exitCode).toBe(3);
      }
      const { error } = await tree.init(nodeConfig(), more);
      expect(error).toBeUndefined();
      expect(tree.files()).toEqual(wanted);
    }
    expect(kills).toBeGreaterThan(first === undefined ? 7 : 3);
  });
});

describe('--start', () => {
  it('says where there is no systemd, with everything written', async () => {
    const { error } = await tree.init(nodeConfig(), { start: true });
    expect(error?.exitCode).toBe(1);
    expect(error?.message).toContain('is no running machine');
    expect(tree.files()[markPath.slice(1)]).toContain('"done"');
  });

  let said: string[] = [];
  beforeEach(() => {
    said = [];
  });
  const withSystemd = (at: string): HostApi => ({
    ...createHost(at),
    hasSystemd: () => true,
    systemctl: async (...words) => {
      said.push(words.join(' '));
    },
  });

  it.each(['daemon-reload', 'restart containerd', 'enable kubelet', 'restart kubelet'])(
    'restarts all in the next run when the first was killed before %s',
    async (last) => {
      const dying = (at: string): HostApi => ({
        ...withSystemd(at),
        systemctl: async (...words) => {
          if (words.join(' ') === last) throw new Killed();
        },
      });
      await expect(tree.init(nodeConfig(), { start: true }, dying)).rejects.toThrow(Killed);
      await tree.init(nodeConfig(), { start: true }, withSystemd);
      expect(said.splice(0)).toEqual([
        'daemon-reload',
        'restart containerd',
        'enable kubelet',
        'restart kubelet',
      ]);
      await tree.init(nodeConfig(), { start: true }, withSystemd);
      expect(said).toEqual(['enable kubelet', 'start kubelet']);
    },
  );

  it('restarts all that an earlier run without it wrote', async () => {
    await tree.init(nodeConfig());
    await tree.init(nodeConfig(), { start: true }, withSystemd);
    expect(said).toContain('restart containerd');
  });

  it('restarts what was changed, and only starts what was not', async () => {
    await tree.init(nodeConfig(), { start: true }, withSystemd);
    expect(said.splice(0)).toEqual([
      'daemon-reload',
      'restart containerd',
      'enable kubelet',
      'restart kubelet',
    ]);
    await tree.init(nodeConfig(), { start: true }, withSystemd);
    expect(said).toEqual(['enable kubelet', 'start kubelet']);
  });
});
