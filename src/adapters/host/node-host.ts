// The NodeHost port over this machine, or over a node's root that a container mounts. Reads files,
// runs the node's own programs, and writes only the agent's record and its marker.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  HostError,
  type KernelLogReader,
  type NodeHost,
  NodeHostError,
  type NodeHostErrorCode,
  type WriteProbe,
} from '../../ports/index.ts';
import { readHostFile, writeHostFile } from './files.ts';
import { JournalReader, journalWords, KmsgReader, kernelJournalWords } from './log-readers.ts';
import { runProgram } from './programs.ts';

/** Importing node:http as an ES module also loads Node's fetch and HTTP/2: 6 to 10 MB more. */
const { request } = process.getBuiltinModule('node:http');

const usualMaxBytes = 64 * 1024;
const maxBodyLength = 1024;
/** user.warning: programs in user space cannot use the kernel's facility. */
const markerPriority = '<12>';
const probeName = '.drover-write-test';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

const missing: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ESRCH', 'ENXIO', 'ENODEV']);
const denied: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

const failed = (what: string, error: unknown): NodeHostError => {
  if (error instanceof NodeHostError) return error;
  const code: NodeHostErrorCode = denied.has(codeOf(error)) ? 'denied' : 'failed';
  return new NodeHostError(code, `${what} (${codeOf(error) || String(error)})`, { cause: error });
};

const shared = Buffer.allocUnsafe(usualMaxBytes);

/**
 * Files of /proc and /sys are generated on read, and many are read, so they are read synchronously.
 * Another process's memory is the exception: that read may have to wait for the process.
 */
const isReadAtOnce = (path: string): boolean =>
  (path.startsWith('/proc/') && !path.endsWith('/environ')) || path.startsWith('/sys/');

const readAtOnce = (place: string, maxBytes: number): string => {
  const fd = openSync(place, 'r');
  try {
    const buffer = maxBytes <= shared.length ? shared : Buffer.allocUnsafe(maxBytes);
    let length = 0;
    while (length < maxBytes) {
      const read = readSync(fd, buffer, length, maxBytes - length, null);
      if (read === 0) break;
      length += read;
    }
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(fd);
  }
};

/** Most files are short, and hundreds are read in a row. */
const firstPartBytes = 8 * 1024;

const readPart = async (place: string, offset: number, maxBytes: number) => {
  const handle = await open(place, 'r');
  try {
    const { dev, ino, size } = await handle.stat();
    let buffer = Buffer.allocUnsafe(Math.min(maxBytes, firstPartBytes));
    let length = 0;
    while (length < maxBytes) {
      if (length === buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, 4 * length));
        buffer.copy(larger);
        buffer = larger;
      }
      const { bytesRead } = await handle.read(
        buffer,
        length,
        buffer.length - length,
        offset + length,
      );
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { id: `${dev}:${ino}`, size, end: offset + length, bytes: buffer.subarray(0, length) };
  } finally {
    await handle.close();
  }
};

const get = (url: string, timeoutMs: number): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { timeout: timeoutMs, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        if (body.length < maxBodyLength) body += text;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: body.slice(0, maxBodyLength) });
      });
      response.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', reject);
    asked.end();
  });

const tryWrite = async (directory: string): Promise<WriteProbe> => {
  const file = join(directory, `${probeName}-${process.pid}`);
  try {
    const handle = await open(file, 'wx');
    await handle.close();
    await rm(file, { force: true });
    return 'written';
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EROFS') return 'read-only';
    // The record is full, or an agent that was killed left its temporary file: the file system
    // itself accepts writes.
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EEXIST') return 'written';
    return missing.has(code) || denied.has(code) ? 'not-there' : 'failed';
  }
};

const openKernelLog = async (
  root: string,
  afterSequence: number | undefined,
): Promise<KernelLogReader> => {
  try {
    return new KmsgReader(join(root, '/dev/kmsg'), afterSequence);
  } catch (error) {
    const reader = await JournalReader.open(root, kernelJournalWords).catch(() => undefined);
    if (reader === undefined) throw error;
    return {
      source: 'journal',
      read: (max) => reader.read(max),
      close: () => reader.close(),
    };
  }
};

export interface NodeHostOptions {
  /** `/`, or the container's mount point of the node's root. */
  readonly root: string;
  /** The agent's record, in this process's own file system. */
  readonly recordFile: string;
}

type Part = Pick<NodeHost, 'read' | 'readBytes' | 'list' | 'readFrom' | 'tryWrite'>;

/** The result of `read`; undefined when the file does not exist. */
const orMissing = async <T>(what: string, read: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await read();
  } catch (error) {
    if (missing.has(codeOf(error))) return undefined;
    throw failed(what, error);
  }
};

const filesOf = (placeOf: (path: string) => string): Part => ({
  read: (path, { maxBytes = usualMaxBytes } = {}) =>
    orMissing(`read ${path}`, async () =>
      isReadAtOnce(path)
        ? readAtOnce(placeOf(path), maxBytes)
        : (await readPart(placeOf(path), 0, maxBytes)).bytes.toString('utf8'),
    ),
  readBytes: (path, maxBytes) =>
    orMissing(`read ${path}`, async () => (await readPart(placeOf(path), 0, maxBytes)).bytes),
  list: async (directory) =>
    (await orMissing(`list ${directory}`, () => readdir(placeOf(directory))))?.toSorted() ?? [],
  readFrom: (path, { offset, maxBytes }) =>
    orMissing(`read ${path}`, async () => {
      const { bytes, ...part } = await readPart(placeOf(path), offset, maxBytes);
      return { ...part, text: bytes.toString('utf8') };
    }),
  tryWrite: (directory) => tryWrite(placeOf(directory)),
});

const writeMarker = (place: string, text: string): void => {
  try {
    const fd = openSync(place, 'w');
    try {
      writeSync(fd, `${markerPriority}${text}\n`);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw failed(`write ${place}`, error);
  }
};

const recordOf = (path: string): Pick<NodeHost, 'readRecord' | 'writeRecord'> => ({
  readRecord: async () => {
    try {
      const found = await readHostFile('/', path);
      return found === undefined ? undefined : new TextDecoder().decode(found.bytes);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      throw new NodeHostError('failed', `read ${path}`, { cause: error });
    }
  },
  writeRecord: async (content) => {
    try {
      await writeHostFile('/', { path, content, mode: '0600' });
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const code = error.code === 'denied' ? 'denied' : 'failed';
      throw new NodeHostError(code, `write ${path}`, { cause: error });
    }
  },
});

export const createNodeHost = ({ root, recordFile }: NodeHostOptions): NodeHost => {
  const placeOf = (path: string): string => (root === '/' ? path : join(root, path));
  return {
    ...filesOf(placeOf),
    ...recordOf(recordFile),
    run: (program, words, options) => runProgram(root, program, words, options),
    openKernelLog: ({ afterSequence }) => openKernelLog(root, afterSequence),
    openJournal: (options) => JournalReader.open(root, journalWords(options)),
    writeKernelLog: async (text) => writeMarker(placeOf('/dev/kmsg'), text),
    httpGet: async (url, timeoutMs) => {
      try {
        return await get(url, timeoutMs);
      } catch (error) {
        throw new NodeHostError('unreachable', `GET ${url}`, { cause: error });
      }
    },
  };
};
