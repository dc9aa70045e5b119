// The machine that a command runs on, or a tree that will be one's root: files, systemd, and the
// instance metadata service. Paths are the machine's own, `/etc/...`, wherever its root lies.

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
  /** Addresses of its own, none of loopback, IPv4 first. */
  readonly addresses: readonly string[];
}

export interface HostApi {
  /** `/`, or the tree written to. */
  readonly root: string;
  /** Undefined: there is no such file. Throws HostError. */
  read(path: string): Promise<{ readonly bytes: Uint8Array; readonly mode: string } | undefined>;
  /** Names within, sorted; none where there is no such directory. */
  list(directory: string): Promise<readonly string[]>;
  /** Whole or not at all, after a crash too. Makes the directories. Throws HostError. */
  write(file: HostFile): Promise<void>;
  /** What is not there is no error. */
  remove(path: string): Promise<void>;
  /** SHA-256 in hex. */
  digest(text: string): string;
  machine(): MachineFacts;
  /** `1.33.2` of the kubelet installed; undefined: none, or one of another machine's tree. */
  kubeletVersion(): Promise<string | undefined>;
  /** False in a container, a chroot, or a tree that no machine runs yet. */
  hasSystemd(): boolean;
  /** Throws HostError `systemd` with what systemctl said. */
  systemctl(...words: readonly string[]): Promise<void>;
}

export interface MetadataApi {
  /** Below /latest/; undefined: the instance has none such. Throws HostError. */
  get(path: string): Promise<Uint8Array | undefined>;
}

/** Why the machine did not do it, and what helps. */
export const hostErrors = {
  denied: 'run it as root, or with --root on a tree of your own',
  full: 'free some space and run it again; nothing is half-written',
  outside: 'a link leads out of the tree: mend it, or run it on the machine itself',
  io: 'look at the file system and run it again: it goes on where it was',
  systemd: '`journalctl -xe` tells more; the configuration is written and whole',
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
