// Log files and standard input as chunks of bytes. Detects gzip and zstd by their first bytes,
// whatever the name; refuses other compressed files. Reads a file up to its length at opening, even
// if it grows.
import { fstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { LogError, type LogInput } from '../../ports/index.ts';

/** Two chunks are in use: one is filled while the other is processed. */
const chunkBytes = 1024 * 1024;

const outputBytes = 256 * 1024;

interface Format {
  readonly name: string;
  readonly begins: readonly number[];
  /** Undefined when this format is not supported; `tool` then names an alternative. */
  readonly unpack?: () => Transform;
  readonly packing?: 'gzip' | 'zstd';
  readonly tool?: string;
  /** The alternative tool needs a file. */
  readonly needsFile?: boolean;
}

const formats: readonly Format[] = [
  {
    name: 'gzip',
    packing: 'gzip',
    begins: [0x1f, 0x8b],
    unpack: () => createGunzip({ chunkSize: outputBytes }),
  },
  {
    name: 'zstd',
    packing: 'zstd',
    begins: [0x28, 0xb5, 0x2f, 0xfd],
    unpack: () => createZstdDecompress({ chunkSize: outputBytes }),
  },
  { name: 'bzip2', begins: [0x42, 0x5a, 0x68], tool: 'bzcat' },
  { name: 'xz', begins: [0xfd, 0x37, 0x7a, 0x58, 0x5a], tool: 'xzcat' },
  { name: 'zip', begins: [0x50, 0x4b, 0x03, 0x04], tool: 'unzip -p', needsFile: true },
];

const longestBeginning = Math.max(...formats.map(({ begins }) => begins.length));

const formatOf = (bytes: Uint8Array): Format | undefined =>
  formats.find(({ begins }) => begins.every((byte, index) => bytes[index] === byte));

/** For messages; on a command line it is `-`. */
const shownName = (name: string): string => (name === '-' ? 'standard input' : name);

const howToUnpack = (name: string, { tool, needsFile }: Format): string => {
  if (name !== '-') return `\`${tool} ${name} | drover logs ... -\``;
  return needsFile === true
    ? `write it to a file, then \`${tool} FILE | drover logs ... -\``
    : `\`... | ${tool} | drover logs ... -\``;
};

const unreadable = (name: string, error: unknown): LogError => {
  const why = error instanceof Error ? error.message : String(error);
  return new LogError('unreadable', `cannot read ${shownName(name)}: ${why}`, { cause: error });
};

/** A socket has no name that could be opened: standard input is read directly. */
const isSocket = (name: string): boolean => name === '-' && fstatSync(0).isSocket();

/** Reads from a socket through the interface of a file handle. */
const socketHandle = (): Handle => {
  const chunks = process.stdin[Symbol.asyncIterator]();
  let left: Uint8Array = new Uint8Array();
  return {
    read: async (into, offset, length) => {
      if (left.length === 0) {
        const next = await chunks.next();
        left = next.done === true ? left : (next.value as Uint8Array);
      }
      const bytesRead = Math.min(length, left.length);
      into.set(left.subarray(0, bytesRead), offset);
      left = left.subarray(bytesRead);
      return { bytesRead };
    },
    close: async () => {
      process.stdin.destroy();
    },
  };
};

/** `-` is standard input. Throws LogError. */
export const openLogFile = async (name: string): Promise<LogInput> => {
  let handle: FileHandle | undefined;
  try {
    if (isSocket(name)) return new LogFile(name, socketHandle(), undefined);
    handle = await open(name === '-' ? '/dev/stdin' : name, 'r');
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new Error('it is a directory: name the files in it');
    return new LogFile(name, handle, stat.isFile() ? stat.size : undefined);
  } catch (error) {
    await handle?.close();
    throw unreadable(name, error);
  }
};

/**
 * Frees a processed chunk's memory if it is the last one of its block. zlib allocates a block for
 * each chunk, and the garbage collector, which only sees small objects, would let them grow to 100
 * MB. Memory of another size is not zlib's: small buffers share Node's pool.
 */
const giveBack = ({ buffer, byteOffset, byteLength }: Uint8Array): void => {
  const isLast = byteOffset + byteLength === buffer.byteLength;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === outputBytes && isLast) {
    buffer.transfer(0);
  }
};

/** Operations on an open file. */
interface Handle {
  read(
    into: Buffer,
    offset: number,
    length: number,
    at: number | null,
  ): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

class LogFile implements LogInput {
  readonly name: string;
  readonly size: number | undefined;
  readonly #handle: Handle;
  #position = 0;
  #packing: 'gzip' | 'zstd' | undefined;

  constructor(name: string, handle: Handle, size: number | undefined) {
    this.name = name;
    this.#handle = handle;
    this.size = size;
  }

  position(): number {
    return this.#position;
  }

  packing(): 'gzip' | 'zstd' | undefined {
    return this.#packing;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async *chunks(): AsyncIterable<Uint8Array> {
    const source = this.#plain();
    const first = await this.#first(source);
    if (first === undefined) return;
    const format = formatOf(first);
    if (format === undefined) {
      yield first;
      yield* source;
      return;
    }
    if (format.unpack === undefined) {
      const how = howToUnpack(this.name, format);
      const what = `${shownName(this.name)} is packed with ${format.name}`;
      throw new LogError('packed', `${what}: unpack it first, ${how}`);
    }
    this.#packing = format.packing;
    yield* this.#unpacked(format.unpack(), first, source);
  }

  /** Reads enough to detect the format: a pipe may deliver bytes one by one. */
  async #first(source: AsyncGenerator<Uint8Array, void>): Promise<Uint8Array | undefined> {
    let found: Uint8Array | undefined;
    while (found === undefined || found.length < longestBeginning) {
      const next = await source.next();
      if (next.done === true) break;
      // The source reuses a chunk's memory.
      found = found === undefined ? next.value : Buffer.concat([found, next.value]);
      if (found.length < longestBeginning) found = Buffer.from(found);
    }
    return found;
  }

  async *#plain(): AsyncGenerator<Uint8Array, void> {
    let [next, other] = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)];
    const end = this.size ?? Number.POSITIVE_INFINITY;
    const read = (into: Buffer): Promise<number> => {
      const length = Math.min(chunkBytes, end - this.#position);
      if (length === 0) return Promise.resolve(0);
      // A pipe has no positions, only the next bytes.
      const at = this.size === undefined ? null : this.#position;
      return this.#handle.read(into, 0, length, at).then(({ bytesRead }) => bytesRead);
    };
    try {
      let pending = read(next);
      for (;;) {
        const count = await pending;
        if (count === 0) return;
        this.#position += count;
        const full = next.subarray(0, count);
        [next, other] = [other, next];
        pending = read(next);
        // The next read reports it; a reader that stops here ignores it.
        pending.catch(() => undefined);
        yield full;
      }
    } catch (error) {
      throw unreadable(this.name, error);
    }
  }

  async *#unpacked(
    unpacking: Transform,
    first: Uint8Array,
    rest: AsyncGenerator<Uint8Array, void>,
  ): AsyncGenerator<Uint8Array, void> {
    const feed = async (): Promise<void> => {
      let chunk: Uint8Array | undefined = first;
      while (chunk !== undefined && !unpacking.destroyed) {
        // The source reuses a chunk's memory once the next is requested.
        await new Promise<void>((resolve) => unpacking.write(chunk, () => resolve()));
        const next = await rest.next();
        chunk = next.done === true ? undefined : next.value;
      }
      unpacking.end();
    };
    const feeding = feed().catch((error: Error) => unpacking.destroy(error));
    try {
      for await (const chunk of unpacking) {
        yield chunk as Uint8Array;
        giveBack(chunk as Uint8Array);
      }
      await feeding;
    } catch (error) {
      if (error instanceof LogError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new LogError('truncated', `${shownName(this.name)} is damaged or cut off (${why})`, {
        cause: error,
      });
    } finally {
      unpacking.destroy();
    }
  }
}
