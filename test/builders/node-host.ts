// A node in memory for tests: files, programs' outputs and logs that a test writes.
import {
  type NodeHost,
  NodeHostError,
  type ProgramOutcome,
  type WriteProbe,
} from '../../src/ports/index.ts';

const encoder = new TextEncoder();

export const ended = (output: string | Uint8Array, code = 0, errors = ''): ProgramOutcome => ({
  kind: 'ended',
  code,
  output: typeof output === 'string' ? encoder.encode(output) : output,
  errors,
  isCut: false,
});

/** The files of a healthy node. */
const healthyFiles: Readonly<Record<string, string>> = {
  '/proc/sys/kernel/random/boot_id': 'boot-1\n',
  '/proc/uptime': '3600.00 7000.00\n',
  '/proc/loadavg': '0.10 0.20 0.30 1/200 4242\n',
  '/proc/sys/kernel/pid_max': '32768\n',
  '/proc/sys/kernel/threads-max': '60000\n',
  '/proc/sys/fs/file-nr': '800\t0\t100000\n',
  '/proc/sys/net/ipv4/ip_forward': '1\n',
  '/proc/pressure/io':
    'some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n',
  '/proc/pressure/memory':
    'some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n',
  '/proc/1/mountinfo': '22 1 8:1 / / rw,relatime - ext4 /dev/nvme0n1p1 rw\n',
  '/proc/1/stat': '1 (systemd) S 0 1\n',
  '/proc/1/environ': 'PATH=/bin\0',
  '/sys/class/net/lo/type': '772\n',
  '/sys/class/net/lo/flags': '0x9\n',
  '/sys/class/net/ens5/type': '1\n',
  '/sys/class/net/ens5/flags': '0x1003\n',
  '/sys/class/net/ens5/operstate': 'up\n',
  '/sys/class/net/ens5/address': '06:00:00:00:00:01\n',
};

const healthyPrograms: Readonly<Record<string, ProgramOutcome>> = {
  timedatectl: ended('yes\n'),
  'iptables-nft-save': ended('*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n'),
  'ip6tables-nft-save': ended(''),
  nft: ended('{"nftables":[]}'),
  systemctl: ended('Id=kubelet.service\nLoadState=loaded\nActiveState=active\nNRestarts=0\n'),
};

export class MemoryHost implements NodeHost {
  readonly files = new Map<string, string>(Object.entries(healthyFiles));
  readonly programs = new Map<string, ProgramOutcome>(Object.entries(healthyPrograms));
  /** Paths whose reads are denied or fail. */
  readonly broken = new Map<string, 'denied' | 'failed'>();
  readonly probes = new Map<string, WriteProbe>();
  readonly ran: string[] = [];
  kernelRecords: string[] = [];
  journalLines: string[] = [];
  health: { readonly status: number; readonly body: string } | undefined = {
    status: 200,
    body: 'ok',
  };
  record: string | undefined;
  isKernelLogOpen = true;
  /** Whether written markers come back, as from the kernel. */
  echoes = true;
  lost = 0;
  #sequence = 0;

  /** A line of the kernel, `seconds` after boot; with another facility, of user space. */
  kernel(text: string, { seconds = 3600, facility = 0 } = {}): void {
    this.#sequence += 1;
    this.kernelRecords.push(
      `${facility * 8 + 4},${this.#sequence},${seconds * 1_000_000},-;${text}\n`,
    );
  }

  async read(path: string): Promise<string | undefined> {
    const code = this.broken.get(path);
    if (code !== undefined) throw new NodeHostError(code, `read ${path}`);
    return this.files.get(path);
  }
  async readBytes(path: string): Promise<Uint8Array | undefined> {
    const text = await this.read(path);
    return text === undefined ? undefined : encoder.encode(text);
  }
  async list(directory: string): Promise<readonly string[]> {
    const code = this.broken.get(directory);
    if (code !== undefined) throw new NodeHostError(code, `list ${directory}`);
    const before = directory === '/' ? '/' : `${directory}/`;
    const names = [...this.files.keys()]
      .filter((path) => path.startsWith(before))
      .map((path) => path.slice(before.length).split('/')[0] ?? '');
    return [...new Set(names)].toSorted();
  }
  async readFrom(path: string, { offset }: { readonly offset: number }) {
    const text = this.files.get(path);
    if (text === undefined) return undefined;
    return { id: '1', size: text.length, end: text.length, text: text.slice(offset) };
  }
  async run(program: string, words: readonly string[]): Promise<ProgramOutcome> {
    this.ran.push([program, ...words].join(' '));
    return (
      this.programs.get([program, ...words].join(' ')) ??
      this.programs.get(program) ?? { kind: 'missing' }
    );
  }
  async openKernelLog({ afterSequence = 0 }: { readonly afterSequence?: number }) {
    if (!this.isKernelLogOpen) throw new NodeHostError('denied', 'open /dev/kmsg');
    let at = this.kernelRecords.findIndex((record) => Number(record.split(',')[1]) > afterSequence);
    if (at < 0) at = this.kernelRecords.length;
    return {
      source: 'kmsg' as const,
      read: (max: number) => {
        if (!this.isKernelLogOpen) throw new NodeHostError('failed', 'read /dev/kmsg');
        const entries = this.kernelRecords.slice(at, at + max);
        at += entries.length;
        const { lost } = this;
        this.lost = 0;
        return { entries, lost };
      },
      close: () => undefined,
    };
  }
  async openJournal() {
    let at = 0;
    return {
      read: (max: number) => {
        const entries = this.journalLines.slice(at, at + max);
        at += entries.length;
        return { entries, lost: 0 };
      },
      close: () => undefined,
    };
  }
  async writeKernelLog(text: string): Promise<void> {
    if (this.echoes) this.kernel(text, { facility: 1 });
  }
  async httpGet(url: string) {
    if (this.health === undefined) throw new NodeHostError('unreachable', `GET ${url}`);
    return this.health;
  }
  async tryWrite(directory: string): Promise<WriteProbe> {
    return this.probes.get(directory) ?? 'not-there';
  }
  async readRecord(): Promise<string | undefined> {
    return this.record;
  }
  async writeRecord(text: string): Promise<void> {
    this.record = text;
  }
}
