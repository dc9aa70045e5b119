// Logs as bytes, wherever they are. Who reads decides what a line is.

export interface LogInput {
  /** As it was named: a path, or `-`. */
  readonly name: string;
  /** Bytes to read in all, compressed ones as they are; undefined for what has no end in sight. */
  readonly size: number | undefined;
  /** Of `size`, read so far. */
  readonly position: () => number;
  /** How it is compressed, as far as it is; known once its first chunk came. */
  readonly packing: () => 'gzip' | 'zstd' | undefined;
  /**
   * Uncompressed. A chunk may be used again by the source once the next is asked for. Rejects with
   * LogError; what came before it stands.
   */
  readonly chunks: () => AsyncIterable<Uint8Array>;
  readonly close: () => Promise<void>;
}

type LogErrorCode = 'unreadable' | 'truncated' | 'packed';

/**
 * `unreadable`: it cannot be opened or read, never to be tried again without a change of its name
 * or rights. `truncated`: compressed data that ends before its end. `packed`: compressed in a way
 * that is not unpacked here; nothing of it was read.
 */
export class LogError extends Error {
  override readonly name = 'LogError';
  readonly code: LogErrorCode;

  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
