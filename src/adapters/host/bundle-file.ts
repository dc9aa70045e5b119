// A bundle as a .tar.gz file: written to a temporary file and renamed, readable by root only.
// Entries are POSIX ustar; names that are too long for ustar are truncated at their end.
import { createWriteStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type BundleWriter, NodeHostError } from '../../ports/index.ts';

const blockBytes = 512;
const maxNameLength = 100;

const octal = (value: number, length: number): string =>
  `${value.toString(8).padStart(length - 1, '0')}\0`;

const headerOf = (name: string, size: number, seconds: number): Buffer => {
  const header = Buffer.alloc(blockBytes);
  const put = (text: string, at: number): void => void header.write(text, at, 'latin1');
  put(name.slice(0, maxNameLength), 0);
  put(octal(0o600, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(seconds, 12), 136);
  put(' '.repeat(8), 148);
  put('0', 156);
  put('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
};

/**
 * Deletes the oldest archives with this prefix until `kept` remain, and unfinished ones. Only the
 * caller writes archives with the prefix. Throws NodeHostError.
 */
export const removeOldBundles = async (of: {
  readonly directory: string;
  readonly prefix: string;
  readonly kept: number;
}): Promise<void> => {
  const { directory, prefix, kept } = of;
  try {
    const names = (await readdir(directory)).filter((name) => name.startsWith(prefix));
    const paths = names.map((name) => join(directory, name));
    const archives = await Promise.all(
      paths
        .filter((path) => path.endsWith('.tar.gz'))
        .map(async (path) => ({ path, at: (await stat(path)).mtimeMs })),
    );
    const old = archives.toSorted((a, b) => b.at - a.at).slice(kept);
    const unfinished = paths.filter((path) => path.endsWith('.tar.gz.part'));
    for (const path of [...old.map((one) => one.path), ...unfinished]) {
      await rm(path, { force: true });
    }
  } catch (cause) {
    throw new NodeHostError('failed', `remove old bundles in ${directory}`, { cause });
  }
};

export const createBundleFile = (path: string): BundleWriter => {
  const beside = `${path}.part`;
  const out = createWriteStream(beside, { mode: 0o600, flags: 'w' });
  const gzip = createGzip();
  gzip.pipe(out);
  const done = Promise.all([finished(gzip), finished(out)]);
  // `end`, or the next entry, reports the error.
  done.catch(() => undefined);
  const write = (bytes: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      const failed = (cause: Error): void =>
        reject(new NodeHostError('failed', `write ${path}`, { cause }));
      if (out.errored !== null) return failed(out.errored);
      out.once('error', failed);
      gzip.write(bytes, () => {
        out.off('error', failed);
        resolve();
      });
    });
  return {
    add: async (name, bytes) => {
      await write(headerOf(name, bytes.length, Math.floor(Date.now() / 1000)));
      await write(bytes);
      const rest = bytes.length % blockBytes;
      if (rest > 0) await write(Buffer.alloc(blockBytes - rest));
    },
    end: async () => {
      try {
        await write(Buffer.alloc(2 * blockBytes));
        gzip.end();
        await done;
        await rename(beside, path);
        return (await stat(path)).size;
      } catch (error) {
        await rm(beside, { force: true });
        if (error instanceof NodeHostError) throw error;
        throw new NodeHostError('failed', `write ${path}`, { cause: error });
      }
    },
  };
};
