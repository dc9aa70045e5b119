// Decodes the bytes of user data to text: undoes base64 and gzip, detects encodings, counts sizes.
// Never guesses text from bytes that are not text.
import { gunzipSync, gzipSync } from 'node:zlib';
import { begin, type ParseFault } from '../position.ts';

/** EC2's limit for the raw user data: after gzip, before base64. */
export const sizeLimitBytes = 16_384;
/**
 * The largest file that is read as user data, and the limit for decompression: 64 times EC2's
 * limit, since templates contain several. A larger file is reported by its size alone.
 */
export const readLimitBytes = 1024 * 1024;

export type Layer = 'base64' | 'gzip';

export interface Decoded {
  readonly text: string;
  /** The decoded layers, outermost first. */
  readonly layers: readonly Layer[];
  /** Size as EC2 counts it. */
  readonly sizeBytes: number;
  readonly faults: readonly ParseFault[];
  /** One character per byte, if the bytes are not UTF-8: a part of a MIME document may be gzip. */
  readonly binary?: string;
}

const bytesOfBase64 = (text: string): Uint8Array | undefined => {
  const compact = text.replaceAll(/\s/g, '');
  if (compact.length < 16 || compact.length % 4 !== 0) return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) return undefined;
  return Uint8Array.from(atob(compact), (char) => char.charCodeAt(0));
};

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

const inflate = (bytes: Uint8Array): Uint8Array | string => {
  try {
    return gunzipSync(bytes, { maxOutputLength: readLimitBytes });
  } catch (error) {
    return error instanceof RangeError || /larger than/.test(String(error))
      ? `gzip that grows beyond ${readLimitBytes} bytes`
      : `gzip that is cut off or damaged (${error instanceof Error ? error.message : 'unknown'})`;
  }
};

const utf16 = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'UTF-16LE';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'UTF-16BE';
  return undefined;
};

const textOfBytes = (bytes: Uint8Array): { readonly text: string; readonly fault?: string } => {
  const wide = utf16(bytes);
  if (wide !== undefined) {
    const text = new TextDecoder(wide).decode(bytes);
    return { text, fault: `${wide}, which no reader on a node takes; save it as UTF-8` };
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (text.startsWith('\uFEFF')) {
      const fault = 'a byte order mark before the first character; save it without one';
      return { text: text.slice(1), fault };
    }
    if (text.includes('\0')) return { text, fault: 'a NUL byte: this is not text' };
    return { text };
  } catch {
    return { text: new TextDecoder().decode(bytes), fault: 'bytes that are not UTF-8' };
  }
};

/** Decodes one part as a node does: base64, then gzip, each if present. */
export const decodeBody = (text: string, { isBinary = false } = {}): Decoded =>
  decode(isBinary ? bytesOfBinary(text) : new TextEncoder().encode(text));

const bytesOfBinary = (binary: string): Uint8Array =>
  Uint8Array.from(binary, (char) => char.charCodeAt(0));

/** In pieces, since the number of a call's arguments is limited. */
const binaryOf = (bytes: Uint8Array): string => {
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) {
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return text;
};

/** Decodes base64 and gzip, in that order and once each, as EC2 and nodeadm do. */
export const decode = (bytes: Uint8Array): Decoded => {
  const layers: Layer[] = [];
  if (bytes.length > readLimitBytes) {
    const message = `${bytes.length} bytes long: Drover reads at most ${readLimitBytes}`;
    return { text: '', layers, sizeBytes: bytes.length, faults: [{ at: begin, message }] };
  }
  let raw = bytes;
  const first = textOfBytes(bytes).text;
  const inner = isGzip(bytes) ? undefined : bytesOfBase64(first);
  // Text that decodes to neither text nor gzip only looks like base64.
  if (inner !== undefined && (isGzip(inner) || textOfBytes(inner).fault === undefined)) {
    layers.push('base64');
    raw = inner;
  }
  const sizeBytes = raw.length;
  if (isGzip(raw)) {
    layers.push('gzip');
    const inflated = inflate(raw);
    if (typeof inflated === 'string') {
      return { text: '', layers, sizeBytes, faults: [{ at: begin, message: inflated }] };
    }
    raw = inflated;
  }
  const { text, fault } = textOfBytes(raw);
  if (fault === undefined) return { text, layers, sizeBytes, faults: [] };
  const faults = [{ at: begin, message: fault }];
  return { text, layers, sizeBytes, faults, binary: binaryOf(raw) };
};

export const sizeOf = (text: string): number => new TextEncoder().encode(text).length;

/** Deterministic: the header contains no time and no system. */
export const compress = (text: string): Uint8Array => {
  const bytes = new Uint8Array(gzipSync(text, { level: 9 }));
  bytes.fill(0, 4, 8);
  bytes[9] = 255;
  return bytes;
};

/** Base64 in one line, as EC2 requires. */
export const encodeBase64 = (bytes: Uint8Array): string => {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
};
