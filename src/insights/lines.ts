// Splits a log's bytes into events: lines are split, counted and searched as bytes, and only
// possible matches are decoded. Keeps only the incomplete line at the end of a chunk.
import { LogEvent, type LogSource } from './evaluate/event.ts';
import type { Needles } from './prefilter.ts';

export interface LineCounts {
  /** Non-empty lines. */
  lines: number;
  bytes: number;
  /** Lines that are not a JSON object, by their first and last characters. */
  notJson: number;
  /** Parsed lines that look like an object and are invalid JSON. */
  broken: number;
  /** Unparsed lines that look like an object: any of them may be invalid too. */
  unparsed: number;
  /** Decoded lines with invalid UTF-8. */
  badText: number;
  /** Lines over the maximum length, which are skipped. */
  tooLong: number;
  /** The last line had no line end: it may be truncated. */
  unfinished: number;
}

export const noLines = (): LineCounts => ({
  lines: 0,
  bytes: 0,
  notJson: 0,
  broken: 0,
  unparsed: 0,
  badText: 0,
  tooLong: 0,
  unfinished: 0,
});

/**
 * An audit event contains a request's and a response's object of at most 3 MiB each; this is far
 * above.
 */
const maxLineBytes = 64 * 1024 * 1024;

const newline = 0x0a;
const carriageReturn = 0x0d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** A line of a CloudWatch export to S3: the ingestion time, then the message. */
const exportPrefix = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) (?=\{)/;

const exportPrefixBytes = 40;

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

/** By first and last character: the JSON is validated only when it is parsed. */
const looksLikeJson = (block: Buffer, from: number, to: number): boolean => {
  if (block[from] === openBrace && block[to - 1] === closeBrace) return true;
  let [at, end] = [from, to];
  while (isBlank(block[end - 1]) && end > at) end--;
  if (block[end - 1] !== closeBrace) return false;
  while (isBlank(block[at])) at++;
  if (block[at] === openBrace) return true;
  return exportPrefix.test(block.toString('latin1', at, Math.min(end, at + exportPrefixBytes)));
};

export class LineFeed {
  readonly #source: LogSource;
  readonly #onEvent: (event: LogEvent) => void;
  readonly #counts: LineCounts;
  readonly #search: Search | undefined;
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  #begun = false;
  #carried: Buffer[] = [];
  #carriedBytes = 0;
  #offset: number;

  constructor(options: {
    readonly source: LogSource;
    readonly needles: Needles;
    readonly counts: LineCounts;
    readonly onEvent: (event: LogEvent) => void;
    /** Offset of the first byte in its source. */
    readonly offset?: number;
  }) {
    this.#offset = options.offset ?? 0;
    const { counts } = options;
    this.#source = {
      ...options.source,
      onParsed: (isObject) => {
        counts.unparsed--;
        if (!isObject) counts.broken++;
      },
    };
    this.#onEvent = options.onEvent;
    this.#counts = options.counts;
    const { inValues, inText } = options.needles;
    if (inValues.length + inText.length > 0) this.#search = new Search(options.needles);
  }

  /** The caller may reuse the bytes as soon as this returns. */
  push(bytes: Uint8Array): void {
    let chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#counts.bytes += chunk.length;
    if (!this.#begun) chunk = this.#begin(chunk);
    if (this.#decoder !== undefined) {
      chunk = Buffer.from(this.#decoder.decode(chunk, { stream: true }));
    }
    const first = this.#carriedBytes > 0 ? chunk.indexOf(newline) : -1;
    if (this.#carriedBytes > 0 && first === -1) {
      this.#carry(chunk);
      return;
    }
    let from = 0;
    if (first !== -1) {
      this.#carry(chunk.subarray(0, first + 1));
      this.#takeCarried();
      from = first + 1;
    }
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > from) {
      this.#block(chunk.subarray(from, end), this.#offset);
      this.#offset += end - from;
    }
    if (end < chunk.length) this.#carry(chunk.subarray(Math.max(end, from)));
  }

  /** End of input: a carried fragment is the last line. */
  end(): void {
    if (this.#carriedBytes === 0) return;
    this.#counts.unfinished++;
    this.#takeCarried();
  }

  /** Removes a byte order mark; a UTF-16 mark selects the decoder. */
  #begin(chunk: Buffer): Buffer {
    this.#begun = true;
    if (chunk[0] === 0xff && chunk[1] === 0xfe) this.#decoder = new TextDecoder('utf-16le');
    else if (chunk[0] === 0xfe && chunk[1] === 0xff) this.#decoder = new TextDecoder('utf-16be');
    else if (chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) {
      this.#offset += 3;
      return chunk.subarray(3);
    }
    return chunk;
  }

  #carry(part: Buffer): void {
    this.#carriedBytes += part.length;
    // A line that is too long is not kept, only its length, to continue at the right offset.
    if (this.#carriedBytes > maxLineBytes) this.#carried = [];
    else this.#carried.push(Buffer.from(part));
  }

  #takeCarried(): void {
    const length = this.#carriedBytes;
    if (length > maxLineBytes) this.#counts.tooLong++;
    else this.#block(Buffer.concat(this.#carried), this.#offset);
    this.#offset += length;
    this.#carried = [];
    this.#carriedBytes = 0;
  }

  /** Complete lines. */
  #block(block: Buffer, offset: number): void {
    const search = this.#search;
    search?.begin(block);
    let at = 0;
    while (at < block.length) {
      const found = block.indexOf(newline, at);
      const next = found === -1 ? block.length : found + 1;
      let end = found === -1 ? block.length : found;
      if (block[end - 1] === carriageReturn) end--;
      if (end > at) {
        this.#counts.lines++;
        if (looksLikeJson(block, at, end)) this.#counts.unparsed++;
        else this.#counts.notJson++;
        if (search === undefined || search.mayMatch(at, end)) {
          this.#line(block.toString('utf8', at, end), offset + at);
        }
      }
      at = next;
    }
  }

  #line(text: string, offset: number): void {
    if (text.includes('\ufffd')) this.#counts.badText++;
    const prefix = text.charCodeAt(0) === openBrace ? null : exportPrefix.exec(text);
    if (prefix === null) {
      this.#onEvent(new LogEvent(this.#source, text, offset));
      return;
    }
    const timeMs = Date.parse(prefix[1] ?? '');
    this.#onEvent(new LogEvent(this.#source, text.slice(prefix[0].length), offset, timeMs));
  }
}

/** Letters, digits, `_`, `-` and `.`, the characters of needles, as two hexadecimal digits. */
const escapedNeedle = /^(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])$/i;
const escapeStart = Buffer.from('\\u00');
/** Part of the first block that is sampled for the rarest needle. */
const sampleBytes = 256 * 1024;
/** The platform finds texts this short by their first byte, many bytes at a time. */
const keyBytes = 6;

interface Needle {
  readonly bytes: Buffer;
  readonly isEscapable: boolean;
}

/** A needle and the part that is searched for: it starts with the needle's rarest byte. */
interface Key {
  readonly needle: Needle;
  readonly bytes: Buffer;
  /** Offset of the key in the needle. */
  readonly at: number;
}

const keyOf = (needle: Needle, sample: Buffer): Key => {
  const { bytes } = needle;
  const counts = new Uint32Array(256);
  for (const byte of sample) counts[byte] = (counts[byte] ?? 0) + 1;
  let at = 0;
  // A single byte is not a key: the last byte cannot start one.
  for (let index = 1; index < bytes.length - 1; index++) {
    if ((counts[bytes[index] ?? 0] ?? 0) < (counts[bytes[at] ?? 0] ?? 0)) at = index;
  }
  return { needle, bytes: bytes.subarray(at, at + keyBytes), at };
};

/** Finds lines that contain a needle, or that could hide one behind an escape. */
class Search {
  readonly #needles: readonly Needle[];
  #key: Key | undefined;
  #block: Buffer = Buffer.alloc(0);
  #nextNeedle = -1;
  #nextEscape = -1;

  constructor({ inValues, inText }: Needles) {
    this.#needles = [
      ...inText.map((text) => ({ bytes: Buffer.from(text), isEscapable: false })),
      ...inValues.map((text) => ({ bytes: Buffer.from(text), isEscapable: true })),
    ];
  }

  begin(block: Buffer): void {
    this.#key ??= this.#choose(block.subarray(0, sampleBytes));
    this.#block = block;
    this.#nextNeedle = -1;
    this.#nextEscape = -1;
  }

  /** The least frequent needle. */
  #choose(sample: Buffer): Key | undefined {
    const counted = this.#needles.map((needle) => ({ needle, hits: hits(sample, needle.bytes) }));
    counted.sort((a, b) => a.hits - b.hits);
    const [rarest] = counted;
    return rarest === undefined ? undefined : keyOf(rarest.needle, sample);
  }

  mayMatch(from: number, end: number): boolean {
    if (this.#key === undefined) return true;
    if (this.#nextNeedle < from) this.#nextNeedle = this.#find(this.#key, from);
    if (this.#nextNeedle < end) return true;
    return this.#key.needle.isEscapable && this.#hasEscape(from, end);
  }

  #find({ needle, bytes, at }: Key, from: number): number {
    const block = this.#block;
    for (let found = block.indexOf(bytes, from + at); found !== -1; ) {
      const start = found - at;
      const end = start + needle.bytes.length;
      if (
        end <= block.length &&
        block.compare(needle.bytes, 0, needle.bytes.length, start, end) === 0
      ) {
        return start;
      }
      found = block.indexOf(bytes, found + 1);
    }
    return Number.POSITIVE_INFINITY;
  }

  #hasEscape(from: number, end: number): boolean {
    let at = this.#nextEscape < from ? this.#findEscape(from) : this.#nextEscape;
    while (at < end && !escapedNeedle.test(this.#block.toString('latin1', at + 4, at + 6))) {
      at = this.#findEscape(at + 4);
    }
    this.#nextEscape = at;
    return at < end;
  }

  #findEscape(from: number): number {
    const found = this.#block.indexOf(escapeStart, from);
    return found === -1 ? Number.POSITIVE_INFINITY : found;
  }
}

const hits = (sample: Buffer, needle: Buffer): number => {
  let count = 0;
  for (
    let at = sample.indexOf(needle);
    at !== -1;
    at = sample.indexOf(needle, at + needle.length)
  ) {
    count++;
  }
  return count;
};
