// Collects a bundle: each file and each program's output, redacted and bounded, with a manifest of
// each one's result. A missing source is not a failure: the manifest records it.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import {
  type BundleWriter,
  type Clock,
  type NodeHost,
  NodeHostError,
  type ProgramOutcome,
} from '../../ports/index.ts';
import { type Collector, collectors, familyCollectors } from './collectors.ts';
import { redactText } from './redact.ts';

const mebibyte = 1024 * 1024;
/** Total of all entries before compression. */
const maxBundleBytes = 50 * mebibyte;
/** One entry; longer ones are truncated, except archives, which are then omitted. */
const maxEntryBytes = 4 * mebibyte;
const maxArchiveBytes = 30 * mebibyte;
const usualTimeoutMs = 10_000;

export interface ManifestEntry {
  readonly name: string;
  /** A path or a command line. */
  readonly source: string;
  readonly bytes: number;
  readonly status: 'collected' | 'cut' | 'missing' | 'failed' | 'late' | 'skipped';
  readonly exitCode?: number;
  readonly detail?: string;
  readonly redacted: boolean;
}

export interface Manifest {
  readonly apiVersion: 'cli.drover.dev/v1';
  readonly kind: 'NodeBundle';
  readonly node: string;
  readonly collectedAt: string;
  readonly family: string;
  readonly entries: readonly ManifestEntry[];
}

export interface BundleOptions {
  readonly host: NodeHost;
  readonly clock: Clock;
  readonly node: string;
  readonly writer: BundleWriter;
  readonly signal: AbortSignal;
  /** Sources that are not collected by then are skipped. Default: no limit. */
  readonly endsAt?: EpochMs;
}

interface Collected {
  readonly entry: ManifestEntry;
  readonly bytes?: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const textEntry = (
  name: string,
  source: string,
  text: string,
  more: Partial<ManifestEntry>,
): Collected => {
  const bytes = encoder.encode(redactText(text));
  const status = more.status ?? 'collected';
  return { entry: { name, source, bytes: bytes.length, status, redacted: true, ...more }, bytes };
};

const without = (
  name: string,
  source: string,
  status: ManifestEntry['status'],
  detail?: string,
): Collected => ({
  entry: {
    name,
    source,
    bytes: 0,
    status,
    redacted: false,
    ...(detail === undefined ? {} : { detail }),
  },
});

const ofProgram = (name: string, source: string, outcome: ProgramOutcome): Collected => {
  if (outcome.kind !== 'ended') return without(name, source, outcome.kind);
  const { code, output, errors, isCut } = outcome;
  return textEntry(name, source, decoder.decode(output), {
    status: isCut ? 'cut' : code === 0 ? 'collected' : 'failed',
    exitCode: code,
    ...(errors === '' ? {} : { detail: redactText(errors).trim().slice(0, 200) }),
  });
};

const collectOne = async (
  { host, signal }: BundleOptions,
  one: Collector,
  leftMs: number,
): Promise<Collected> => {
  switch (one.kind) {
    case 'file': {
      const text = await host.read(one.path, { maxBytes: maxEntryBytes });
      if (text === undefined) return without(one.name, one.path, 'missing');
      const status = text.length >= maxEntryBytes ? 'cut' : 'collected';
      return textEntry(one.name, one.path, text, { status });
    }
    case 'program': {
      const [program, ...words] = one.words;
      const timeoutMs = Math.min(one.timeoutMs ?? usualTimeoutMs, leftMs);
      const options = { timeoutMs, maxBytes: maxEntryBytes, signal };
      return ofProgram(one.name, one.words.join(' '), await host.run(program, words, options));
    }
    case 'archive': {
      const [program, ...words] = one.words;
      const source = one.words.join(' ');
      const timeoutMs = Math.min(one.timeoutMs, leftMs);
      const options = { timeoutMs, maxBytes: mebibyte, signal };
      const outcome = await host.run(program, words, options);
      if (outcome.kind !== 'ended') return without(one.name, source, outcome.kind);
      if (outcome.code !== 0) return without(one.name, source, 'failed', outcome.errors);
      const bytes = await host.readBytes(one.path, maxArchiveBytes);
      if (bytes === undefined) return without(one.name, source, 'missing', one.path);
      if (bytes.length >= maxArchiveBytes) return without(one.name, source, 'skipped', 'too large');
      const entry = { name: one.name, source, bytes: bytes.length, exitCode: 0 } as const;
      return { entry: { ...entry, status: 'collected', redacted: false }, bytes };
    }
  }
};

const familyOf = async (host: NodeHost): Promise<string> => {
  const text = await host.read('/etc/os-release').catch(() => undefined);
  return /^ID="?([\w.-]+)"?$/m.exec(text ?? '')?.[1] ?? 'unknown';
};

const manifestOf = (
  node: string,
  family: string,
  at: EpochMs,
  entries: readonly ManifestEntry[],
): Manifest => ({
  apiVersion: 'cli.drover.dev/v1',
  kind: 'NodeBundle',
  node,
  collectedAt: formatKubeTime(at),
  family,
  entries,
});

/** The manifest, also the archive's last entry, and the archive's size. */
export const collectBundle = async (
  options: BundleOptions,
): Promise<{ readonly manifest: Manifest; readonly bytes: number }> => {
  const { host, clock, node, writer } = options;
  const family = await familyOf(host);
  const entries: ManifestEntry[] = [];
  let size = 0;
  for (const one of [...(familyCollectors[family] ?? []), ...collectors]) {
    options.signal.throwIfAborted();
    const source = one.kind === 'file' ? one.path : one.words.join(' ');
    if (size >= maxBundleBytes) {
      entries.push(without(one.name, source, 'skipped', 'the bundle is full').entry);
      continue;
    }
    const leftMs = (options.endsAt ?? Number.POSITIVE_INFINITY) - clock.now();
    if (leftMs <= 0) {
      entries.push(without(one.name, source, 'skipped', 'the time is over').entry);
      continue;
    }
    let collected: Collected;
    try {
      collected = await collectOne(options, one, leftMs);
    } catch (error) {
      if (!(error instanceof NodeHostError)) throw error;
      collected = without(one.name, source, 'failed', error.message);
    }
    const { entry, bytes } = collected;
    const isOver = size + (bytes?.length ?? 0) > maxBundleBytes;
    entries.push(isOver ? { ...entry, status: 'skipped', detail: 'the bundle is full' } : entry);
    if (bytes === undefined || isOver) continue;
    size += bytes.length;
    await writer.add(entry.name, bytes);
  }
  const manifest = manifestOf(node, family, clock.now(), entries);
  await writer.add('manifest.json', encoder.encode(`${JSON.stringify(manifest, null, 2)}\n`));
  return { manifest, bytes: await writer.end() };
};
