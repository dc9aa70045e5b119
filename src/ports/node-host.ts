// The node as the agent sees it: files, logs and programs, read and never changed, but for the
// agent's own record and its marker in the kernel log. Implemented by the machine (adapters/host)
// and by simulated nodes.

/** Why the node did not give what was asked for. */
export const nodeHostErrors = {
  denied: 'the agent lacks the right to',
  missing: 'it does not exist here',
  unreachable: 'nothing answers',
  failed: 'the node failed to do it',
} as const;
export type NodeHostErrorCode = keyof typeof nodeHostErrors;

export class NodeHostError extends Error {
  override readonly name = 'NodeHostError';
  readonly code: NodeHostErrorCode;
  constructor(code: NodeHostErrorCode, what: string, options?: ErrorOptions) {
    super(`${what}: ${nodeHostErrors[code]}`, options);
    this.code = code;
  }
}

/** What a program gave, or why it gave nothing. */
export type ProgramOutcome =
  | {
      readonly kind: 'ended';
      readonly code: number;
      readonly output: Uint8Array;
      /** The beginning of what it wrote to standard error. */
      readonly errors: string;
      /** More was written than `maxBytes`; the rest is lost. */
      readonly isCut: boolean;
    }
  | { readonly kind: 'missing' }
  | { readonly kind: 'late' };

export interface ProgramOptions {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Keeps only these lines, so that a long output costs little. */
  readonly keepLine?: (line: string) => boolean;
  readonly signal?: AbortSignal;
}

/** A log, read as it grows. */
export interface LogReader {
  /**
   * What has come since the last call, oldest first, at most about `max` entries; fewer than that:
   * all was read. Throws NodeHostError when the log cannot be read (any more).
   */
  read(max: number): {
    readonly entries: readonly string[];
    /** Entries that were overwritten before they were read. */
    readonly lost: number;
  };
  close(): void;
}

export type KernelLogSource = 'kmsg' | 'journal';

export interface KernelLogReader extends LogReader {
  /** Records of /dev/kmsg, or lines of `journalctl -k -o json`. */
  readonly source: KernelLogSource;
}

export type WriteProbe = 'written' | 'read-only' | 'failed' | 'not-there';

export interface FilePart {
  readonly id: string;
  readonly size: number;
  readonly end: number;
  readonly text: string;
}

export interface NodeHost {
  /**
   * Text of a file, cut at `maxBytes` (default 64 KiB); undefined: no such file. Throws
   * NodeHostError.
   */
  read(path: string, options?: { readonly maxBytes?: number }): Promise<string | undefined>;
  /** A file as it is, cut at `maxBytes`; undefined: no such file. Throws NodeHostError. */
  readBytes(path: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Names within, sorted; none where there is no such directory. Throws NodeHostError. */
  list(directory: string): Promise<readonly string[]>;
  /** What a file has from `offset` to `end`, at most `maxBytes`; another `id` is another file. */
  readFrom(
    path: string,
    place: { readonly offset: number; readonly maxBytes: number },
  ): Promise<FilePart | undefined>;
  /** Never throws for what the program does. */
  run(program: string, words: readonly string[], options: ProgramOptions): Promise<ProgramOutcome>;
  /**
   * The kernel's log from its beginning, or after the record of number `sequence` of this boot.
   * Throws NodeHostError when neither /dev/kmsg nor the journal can be read.
   */
  openKernelLog(options: { readonly afterSequence?: number }): Promise<KernelLogReader>;
  /**
   * The journal of units and identifiers, as `journalctl -o json` prints it. Throws NodeHostError.
   */
  openJournal(options: {
    readonly units: readonly string[];
    readonly identifiers: readonly string[];
    /** Absent: from now on. */
    readonly afterCursor?: string;
  }): Promise<LogReader>;
  /** Writes a line to the kernel log. Throws NodeHostError. */
  writeKernelLog(text: string): Promise<void>;
  /** Body cut at 1 KiB. Throws NodeHostError where there is no answer. */
  httpGet(
    url: string,
    timeoutMs: number,
  ): Promise<{ readonly status: number; readonly body: string }>;
  /** Whether a file can be made in a directory; it is removed again. */
  tryWrite(directory: string): Promise<WriteProbe>;
  /** The agent's own record; undefined: there is none. Throws NodeHostError. */
  readRecord(): Promise<string | undefined>;
  /** Whole or not at all. Throws NodeHostError. */
  writeRecord(text: string): Promise<void>;
}
