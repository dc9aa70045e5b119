// The machine of this process, or a directory tree that will be a machine's root: files, processors
// and addresses, systemd. Runs only two programs, kubelet --version and systemctl, and none for a
// tree.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, hostname, networkInterfaces, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { type HostApi, HostError } from '../../ports/index.ts';
import {
  digestOf,
  listHostDirectory,
  readHostFile,
  removeHostFile,
  writeHostFile,
} from './files.ts';

/** Limit for programs, which otherwise answer at once or hang. */
const programTimeoutMs = 90_000;

const run = (program: string, words: readonly string[]): Promise<string> =>
  new Promise((done, fail) => {
    execFile(program, [...words], { timeout: programTimeoutMs }, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else fail(new Error(stderr.trim() || error.message, { cause: error }));
    });
  });

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .toSorted((a, b) => (a.family < b.family ? -1 : Number(a.family > b.family)))
    .map(({ address }) => address);

const mebibyte = 1024 * 1024;

export const createHost = (given = '/'): HostApi => {
  const root = resolve(given);
  const isThis = root === '/';
  return {
    root,
    read: (path) => readHostFile(root, path),
    list: (path) => listHostDirectory(root, path),
    write: (file) => writeHostFile(root, file),
    remove: (path) => removeHostFile(root, path),
    digest: digestOf,
    machine: () => ({
      hostname: hostname(),
      cpus: availableParallelism(),
      memoryMiB: Math.floor(totalmem() / mebibyte),
      addresses: ownAddresses(),
    }),
    kubeletVersion: async () => {
      if (!isThis || !existsSync('/usr/bin/kubelet')) return undefined;
      const said = await run('/usr/bin/kubelet', ['--version']).catch(() => '');
      return /v(\d+\.\d+(?:\.\d+)?)/.exec(said)?.[1];
    },
    hasSystemd: () => isThis && existsSync('/run/systemd/system'),
    systemctl: async (...words) => {
      try {
        await run('systemctl', words);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new HostError('systemd', `systemctl ${words.join(' ')} failed (${why})`, {
          cause: error,
        });
      }
    },
  };
};
