// Splits user data into parts, each with its kind and the place of its text, as the family's
// readers do. Unreadable parts are faults; nothing is dropped silently.
import { defined } from '../../api/defined.ts';
import { begin, type ParseFault, type Position } from '../position.ts';
import { type Decoded, decode, decodeBody } from './decode.ts';
import { type Family, guessFamily } from './families.ts';
import { bodyOf, type MimeDocument, type MimePart, parseMime, transferEncodingOf } from './mime.ts';

export type PartKind =
  | 'node-config'
  | 'shell'
  | 'cloud-config'
  | 'boothook'
  | 'settings'
  | 'powershell'
  | 'other';

export interface UserDataPart {
  /** From 1; also 1 for the only part of a text that is not a MIME document. */
  readonly index: number;
  readonly kind: PartKind;
  /** The part's declared type; undefined outside MIME. */
  readonly type: string | undefined;
  /** cloud-init's merge options for a cloud-config, from a header. */
  readonly mergeType?: string;
  readonly text: string;
  /** Where `text` starts in the file; for base64 or gzip, where the encoded text starts. */
  readonly at: Position;
  readonly faults: readonly ParseFault[];
}

export interface UserData {
  readonly family: Family;
  readonly decoded: Decoded;
  readonly text: string;
  readonly mime: MimeDocument | undefined;
  readonly parts: readonly UserDataPart[];
  /** nodeadm does not read the part: one fault of the MIME document is enough. */
  readonly isLostToNodeadm: boolean;
}

const kindOfType: Readonly<Record<string, PartKind>> = {
  'application/node.eks.aws': 'node-config',
  'text/x-shellscript': 'shell',
  'text/x-shellscript-per-boot': 'shell',
  'text/x-shellscript-per-instance': 'shell',
  'text/x-shellscript-per-once': 'shell',
  'text/cloud-config': 'cloud-config',
  'text/cloud-boothook': 'boothook',
};

/** Types that cloud-init supports and that cannot join a cluster. */
export const otherCloudInitTypes: readonly string[] = [
  'text/cloud-config-archive',
  'text/cloud-config-jsonp',
  'text/jinja2',
  'text/part-handler',
  'text/x-include-once-url',
  'text/x-include-url',
  'text/upstart-job',
  'text/plain',
];

/** By its first line, as cloud-init detects undeclared parts. */
const kindOfText = (text: string, family: Family): PartKind => {
  const start = text.trimStart();
  if (family === 'windows') return 'powershell';
  if (family === 'bottlerocket') return 'settings';
  if (text.startsWith('#!')) return 'shell';
  if (start.startsWith('#cloud-boothook')) return 'boothook';
  if (start.startsWith('#cloud-config')) return 'cloud-config';
  if (family === 'al2023') return 'node-config';
  // A shell script without its first line is reported as the script that was intended.
  return start === '' ? 'other' : 'shell';
};

const kindOf = (part: MimePart, text: string, family: Family): PartKind => {
  const known = Object.hasOwn(kindOfType, part.type) ? kindOfType[part.type] : undefined;
  if (known !== undefined) return known;
  if (gzipTypes.has(part.type)) return kindOfText(text, 'al2');
  if (part.type !== 'text/plain') return 'other';
  return /^#[!c]/.test(text) ? kindOfText(text, family) : 'other';
};

/** Types of a part that cloud-init decompresses and then detects by its first line. */
const gzipTypes: ReadonlySet<string> = new Set([
  'application/gzip',
  'application/gzip-compressed',
  'application/gzipped',
  'application/x-compress',
  'application/x-compressed',
  'application/x-gunzip',
  'application/x-gzip',
  'application/x-gzip-compressed',
]);

const readPart = (part: MimePart, family: Family, isBinary: boolean): UserDataPart => {
  // Quoted-printable is already decoded to text.
  const isRaw = isBinary && transferEncodingOf(part) !== 'quoted-printable';
  const { text, layers, faults } = decodeBody(bodyOf(part), { isBinary: isRaw });
  const mergeType = part.headers.find(({ name }) => /^(?:x-)?merge-type$/i.test(name))?.value;
  return {
    index: part.index,
    kind: kindOf(part, text, family),
    type: part.type,
    ...defined({ mergeType }),
    text,
    at: part.bodyAt,
    faults:
      layers.length === 0 ? faults.map(({ message }) => ({ at: part.bodyAt, message })) : faults,
  };
};

/** `family` undefined: detected from the text; Amazon Linux 2023 when unrecognized. */
export const readUserData = (bytes: Uint8Array, family?: Family): UserData => {
  const decoded = decode(bytes);
  return fromDecoded(decoded, family ?? guessFamily(decoded.text) ?? 'al2023');
};

/** For text as it reaches the node, with base64 decoded. */
export const readUserDataText = (text: string, family?: Family): UserData =>
  readUserData(new TextEncoder().encode(text), family);

const fromDecoded = (decoded: Decoded, family: Family): UserData => {
  const { text } = decoded;
  const binary = parseMime(decoded.binary ?? '');
  const mime = binary ?? parseMime(text);
  const whole = (): UserDataPart => ({
    index: 1,
    kind: kindOfText(text, family),
    type: undefined,
    text,
    at: begin,
    faults: [],
  });
  return {
    family,
    // Bytes that are not text are then a fault of their part.
    decoded: binary === undefined ? decoded : { ...decoded, faults: [] },
    text,
    mime,
    parts:
      mime === undefined
        ? [whole()]
        : mime.parts.map((part) => readPart(part, family, binary !== undefined)),
    isLostToNodeadm: mime?.faults.some(({ isFatal }) => isFatal) === true,
  };
};
