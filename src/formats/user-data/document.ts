// User data taken apart: the parts of it, each with its kind and the place where its text begins,
// as the family's readers see them. What cannot be read is a fault; nothing is dropped in silence.
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
  /** From 1; the only part of a text that is no MIME document is 1 too. */
  readonly index: number;
  readonly kind: PartKind;
  /** As the part names itself; undefined outside MIME. */
  readonly type: string | undefined;
  /** How cloud-init is to merge a cloud-config with those before it, as a header says. */
  readonly mergeType?: string;
  readonly text: string;
  /** Where `text` begins in the file. Within base64 or gzip: where that begins. */
  readonly at: Position;
  readonly faults: readonly ParseFault[];
}

export interface UserData {
  readonly family: Family;
  readonly decoded: Decoded;
  readonly text: string;
  readonly mime: MimeDocument | undefined;
  readonly parts: readonly UserDataPart[];
  /** Nothing of it reaches nodeadm: one fault of the MIME document is enough. */
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

/** Types that cloud-init knows and that say nothing of joining a cluster. */
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

/** By its first line, as cloud-init tells parts that do not say what they are. */
const kindOfText = (text: string, family: Family): PartKind => {
  const start = text.trimStart();
  if (family === 'windows') return 'powershell';
  if (family === 'bottlerocket') return 'settings';
  if (text.startsWith('#!')) return 'shell';
  if (start.startsWith('#cloud-boothook')) return 'boothook';
  if (start.startsWith('#cloud-config')) return 'cloud-config';
  if (family === 'al2023') return 'node-config';
  // A shell script whose first line is missing: what it was meant to be.
  return start === '' ? 'other' : 'shell';
};

const kindOf = (part: MimePart, text: string, family: Family): PartKind => {
  const known = Object.hasOwn(kindOfType, part.type) ? kindOfType[part.type] : undefined;
  if (known !== undefined) return known;
  if (gzipTypes.has(part.type)) return kindOfText(text, 'al2');
  if (part.type !== 'text/plain') return 'other';
  return /^#[!c]/.test(text) ? kindOfText(text, family) : 'other';
};

/** Types of a part that cloud-init inflates and then tells by its first line. */
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
  // Quoted-printable is undone to text already.
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

/** `family` undefined: as the text looks; Amazon Linux 2023 when it looks like nothing. */
export const readUserData = (bytes: Uint8Array, family?: Family): UserData => {
  const decoded = decode(bytes);
  return fromDecoded(decoded, family ?? guessFamily(decoded.text) ?? 'al2023');
};

/** Of a text as it reaches the node, base64 already undone. */
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
    // Bytes that are no text are then a fault of the part that has them.
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
