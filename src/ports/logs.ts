// Logs as bytes, from any source. The reader decides what a line is.

export interface LogInput {
  /** The name that the user gave: a path, or `-`. */
  readonly name: string;
  /** Total bytes to read, as stored (compressed); undefined for a source without a known end. */
  readonly size: number | undefined;
  /** How much of `size` is read so far. */
  readonly position: () => number;
  /** Its compression, if any; known once the first chunk has arrived. */
  readonly packing: () => 'gzip' | 'zstd' | undefined;
  /**
   * Uncompressed. The source may reuse a chunk's memory once the next one is requested. Rejects
   * with LogError; chunks before it are valid.
   */
  readonly chunks: () => AsyncIterable<Uint8Array>;
  readonly close: () => Promise<void>;
}

type LogErrorCode = 'unreadable' | 'truncated' | 'packed';

/**
 * `unreadable`: it cannot be opened or read; retrying needs another name or other permissions.
 * `truncated`: compressed data ends too early. `packed`: compressed in an unsupported way; nothing
 * of it was read.
 */
export class LogError extends Error {
  override readonly name = 'LogError';
  readonly code: LogErrorCode;

  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
