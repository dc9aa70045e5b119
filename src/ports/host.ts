// The machine that a command runs on, or a directory tree that becomes a machine's root: files,
// systemd, and the instance metadata service. Paths are absolute on that machine, `/etc/...`,
// wherever its root is.

export interface HostFile {
  readonly path: string;
  readonly content: string;
  /** `0644` */
  readonly mode: string;
}

export interface MachineFacts {
  readonly hostname: string;
  readonly cpus: number;
  readonly memoryMiB: number;
  /** The machine's own addresses without loopback, IPv4 first. */
  readonly addresses: readonly string[];
}

export interface HostApi {
  /** `/`, or the directory tree to write to. */
  readonly root: string;
  /** Undefined: the file does not exist. Throws HostError. */
  read(path: string): Promise<{ readonly bytes: Uint8Array; readonly mode: string } | undefined>;
  /** Names in the directory, sorted; empty if it does not exist. */
  list(directory: string): Promise<readonly string[]>;
  /** Atomic, also across a crash. Creates the directories. Throws HostError. */
  write(file: HostFile): Promise<void>;
  /** No error if the file does not exist. */
  remove(path: string): Promise<void>;
  /** SHA-256 in hex. */
  digest(text: string): string;
  machine(): MachineFacts;
  /**
   * Version of the installed kubelet, e.g. `1.33.2`; undefined: none, or a tree of another machine.
   */
  kubeletVersion(): Promise<string | undefined>;
  /** False in a container, a chroot, or a tree that is not a running machine. */
  hasSystemd(): boolean;
  /** Throws HostError `systemd` with systemctl's message. */
  systemctl(...words: readonly string[]): Promise<void>;
}

export interface MetadataApi {
  /** A path below /latest/; undefined: the instance does not have it. Throws HostError. */
  get(path: string): Promise<Uint8Array | undefined>;
}

/** Why the machine refused: a remedy for each code. */
export const hostErrors = {
  denied: 'run it as root, or with --root on a tree of your own',
  full: 'free some space and run it again; nothing is half-written',
  outside: 'a link leads out of the tree: correct it, or run the command on the machine itself',
  io: 'check the file system and run it again: it continues where it stopped',
  systemd: '`journalctl -xe` shows details; the configuration is written completely',
  'no-metadata':
    'is this an EC2 instance, and is its metadata service on? Else give --config-source file:PATH',
  'metadata-refused':
    'the instance’s metadata options refuse it: http-endpoint enabled, hop limit 2 in a container',
} as const;
export type HostErrorCode = keyof typeof hostErrors;

export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;
  constructor(code: HostErrorCode, what: string, options?: ErrorOptions) {
    super(`${what}: ${hostErrors[code]}`, options);
    this.code = code;
  }
}
