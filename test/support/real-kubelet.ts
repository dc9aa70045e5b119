// A real kubelet started as systemd would start it from a tree that drover node init wrote, without
// a container runtime: it reads its flags, configuration and drop-ins, loads the authority and
// exits at the runtime's socket. Runs within the tree (chroot), serves nothing, writes nothing
// outside it.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missing } from './demo-world.ts';
import { assetsOf } from './real-cluster.ts';

const run = promisify(execFile);
/** Far more than the usual second; a kubelet that keeps running is ended. */
const timeout = 60_000;
/** It prints each flag on its own line. */
const maxBuffer = 16 * 1024 * 1024;

const kubelet = join(assetsOf(), 'kubelet');

/** In a user namespace when not root: chroot requires root. */
const changeRoot = (root: string): readonly [string, ...string[]] =>
  process.getuid?.() === 0 ? ['chroot', root] : ['unshare', '--map-root-user', 'chroot', root];

/** Why no real kubelet can run here; undefined when it can. */
export const whyNoKubelet = async (): Promise<string | undefined> => {
  if ((await missing(kubelet, ['--version'])) !== undefined) {
    return `no kubelet in ${assetsOf()}; set KUBEBUILDER_ASSETS`;
  }
  const [program, ...words] = changeRoot('/');
  return (await missing(program, [...words, 'true'])) && 'chroot is not allowed here';
};

/** `1.36`. */
export const kubeletMinor = async (): Promise<string> => {
  const { stdout } = await run(kubelet, ['--version']);
  return /v(\d+\.\d+)/.exec(stdout)?.[1] ?? stdout;
};

export const putKubelet = (root: string): void => {
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  copyFileSync(kubelet, join(root, 'usr/bin/kubelet'));
};

/**
 * The unit's command, with its variables expanded from its environment and split at blanks, as by
 * systemd.
 */
export const commandOf = (root: string): readonly string[] => {
  const directory = join(root, 'etc/systemd/system');
  const read = (path: string): string => readFileSync(path, 'utf8');
  const unit = read(join(directory, 'kubelet.service'));
  const environment = [
    ...[...unit.matchAll(/^EnvironmentFile=(.+)$/gm)].map(([, path = '']) =>
      read(join(root, path)),
    ),
    ...['10-kubelet-args.conf', '30-kubelet-extra-args.conf'].flatMap((name) => {
      try {
        const dropIn = read(join(directory, 'kubelet.service.d', name));
        return [...dropIn.matchAll(/^Environment='(.*)'$/gm)].map(([, pair = '']) => pair);
      } catch {
        return [];
      }
    }),
  ].join('\n');
  const values = new Map(
    [...environment.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  const [, line = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  return line
    .replaceAll(/\$([A-Z_]+)/g, (_text, name: string) => values.get(name) ?? '')
    .split(/\s+/)
    .filter((word) => word !== '');
};

/** Its output until it exits; throws when it does not exit by itself. */
export const runKubelet = async (root: string, ...more: readonly string[]): Promise<string> => {
  const [program, ...words] = changeRoot(root);
  try {
    const { stdout, stderr } = await run(program, [...words, ...commandOf(root), ...more], {
      timeout,
      maxBuffer,
    });
    throw new Error(`the kubelet ended well without a runtime: ${stdout}${stderr}`);
  } catch (error) {
    const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
    if (code === 1 && stderr !== undefined) return stderr;
    throw error;
  }
};
