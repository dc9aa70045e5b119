// The node as the agent sees it: files, logs and programs. All are read and never changed, except
// the agent's own record and its marker in the kernel log. Implemented by the machine
// (adapters/host) and by simulated nodes.

/** Why the node did not return what was requested. */
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

/** The output of a program, or why there is none. */
export type ProgramOutcome =
  | {
      readonly kind: 'ended';
      readonly code: number;
      readonly output: Uint8Array;
      /** The beginning of its standard error. */
      readonly errors: string;
      /** The output exceeded `maxBytes`; the rest is lost. */
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
   * Entries since the last call, oldest first, at most about `max`; fewer means that all were read.
   * Throws NodeHostError when the log cannot be read.
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
   * Text of a file, cut at `maxBytes` (default 64 KiB); undefined: it does not exist. Throws
   * NodeHostError.
   */
  read(path: string, options?: { readonly maxBytes?: number }): Promise<string | undefined>;
  /** Bytes of a file, cut at `maxBytes`; undefined: it does not exist. Throws NodeHostError. */
  readBytes(path: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Names in the directory, sorted; empty if it does not exist. Throws NodeHostError. */
  list(directory: string): Promise<readonly string[]>;
  /**
   * Content of a file from `offset` to `end`, at most `maxBytes`; another `id` means another file.
   */
  readFrom(
    path: string,
    place: { readonly offset: number; readonly maxBytes: number },
  ): Promise<FilePart | undefined>;
  /** Never throws because of the program. */
  run(program: string, words: readonly string[], options: ProgramOptions): Promise<ProgramOutcome>;
  /**
   * The kernel's log from its beginning, or after record number `sequence` of this boot. Throws
   * NodeHostError when neither /dev/kmsg nor the journal can be read.
   */
  openKernelLog(options: { readonly afterSequence?: number }): Promise<KernelLogReader>;
  /**
   * The journal of units and identifiers, as `journalctl -o json` prints it. Throws NodeHostError.
   */
  openJournal(options: {
    readonly units: readonly string[];
    readonly identifiers: readonly string[];
    /** Absent: reads only entries written after the call. */
    readonly afterCursor?: string;
  }): Promise<LogReader>;
  /** Writes a line to the kernel log. Throws NodeHostError. */
  writeKernelLog(text: string): Promise<void>;
  /** Returns at most 1 KiB of the body. Throws NodeHostError when there is no answer. */
  httpGet(
    url: string,
    timeoutMs: number,
  ): Promise<{ readonly status: number; readonly body: string }>;
  /** Whether a file can be created in a directory; the file is removed again. */
  tryWrite(directory: string): Promise<WriteProbe>;
  /** The agent's own record; undefined: it does not exist. Throws NodeHostError. */
  readRecord(): Promise<string | undefined>;
  /** Atomic. Throws NodeHostError. */
  writeRecord(text: string): Promise<void>;
}
