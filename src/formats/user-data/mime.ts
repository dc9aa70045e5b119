// Multi-part MIME in user data: parts with the line where each body starts. Parses like nodeadm
// (Go's mime/multipart) and reports each place where cloud-init (Python's email) differs.
import { begin, type ParseFault, type Position } from '../position.ts';

export interface MimeHeader {
  readonly name: string;
  readonly value: string;
  readonly at: Position;
}

export interface MimePart {
  /** From 1. */
  readonly index: number;
  /** Media type in lower case, without parameters; text/plain by default. */
  readonly type: string;
  readonly headers: readonly MimeHeader[];
  /** Place of the boundary line. */
  readonly at: Position;
  readonly body: string;
  readonly bodyAt: Position;
}

export type MimeFaultKind =
  | 'indented'
  | 'no-boundary'
  | 'no-parts'
  | 'bad-top-header'
  | 'no-blank-line'
  | 'bad-header'
  | 'no-close'
  | 'after-close';

export interface MimeFault extends ParseFault {
  readonly kind: MimeFaultKind;
  /** True when nodeadm therefore reads nothing of the document. */
  readonly isFatal: boolean;
}

export interface MimeDocument {
  readonly boundary: string;
  readonly headers: readonly MimeHeader[];
  /** The parts that cloud-init reads; nodeadm reads the same unless a fault is fatal. */
  readonly parts: readonly MimePart[];
  readonly faults: readonly MimeFault[];
  /** Text after the closing boundary, which neither reader reads. */
  readonly epilogue: { readonly at: Position; readonly text: string } | undefined;
}

const headerLine = /^([!-9;-~]+):[ \t]*(.*)$/;
const bare = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);
const isBlank = (line: string): boolean => /^[ \t\r]*$/.test(line);

interface Headers {
  readonly headers: readonly MimeHeader[];
  /** Index of the first line after the blank one, or of the line that is not a header. */
  readonly next: number;
  readonly broken: boolean;
  readonly unfinished: boolean;
}

const readHeaders = (
  lines: readonly string[],
  from: number,
  to: number = lines.length,
): Headers => {
  const headers: MimeHeader[] = [];
  for (let i = from; i < to; i++) {
    const line = bare(lines[i] ?? '');
    if (line === '') return { headers, next: i + 1, broken: false, unfinished: false };
    const last = headers.at(-1);
    if (/^[ \t]/.test(line) && last !== undefined) {
      headers[headers.length - 1] = { ...last, value: `${last.value} ${line.trim()}` };
      continue;
    }
    const match = headerLine.exec(line);
    if (match === null) return { headers, next: i, broken: true, unfinished: false };
    const [, name = '', value = ''] = match;
    headers.push({ name, value, at: { line: i + 1, column: 1 } });
  }
  return { headers, next: to, broken: false, unfinished: true };
};

/** The first of that name: eksctl writes two Content-Types, and both readers use the first. */
const headerOf = (headers: readonly MimeHeader[], name: string): MimeHeader | undefined =>
  headers.find((header) => header.name.toLowerCase() === name);

const mediaTypeOf = (headers: readonly MimeHeader[]): string =>
  (headerOf(headers, 'content-type')?.value ?? 'text/plain').split(';')[0]?.trim().toLowerCase() ??
  '';

const boundaryOf = (value: string): string | undefined => {
  const match = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(value);
  return match?.[1] ?? match?.[2];
};

/** Whether a text is intended to be MIME, even if malformed. */
export const looksLikeMime = (text: string): boolean =>
  /^\s*(?:[!-9;-~]+:[^\n]*\n\s*){0,8}?content-type:\s*multipart\//i.test(text.slice(0, 4096));

/** `--B` followed only by blanks, or `--B--`. */
const delimiter = (line: string, boundary: string): 'part' | 'close' | undefined => {
  if (!line.startsWith(`--${boundary}`)) return undefined;
  const rest = line.slice(boundary.length + 2).trimEnd();
  if (rest === '') return 'part';
  return rest === '--' ? 'close' : undefined;
};

interface Cut {
  readonly start: number;
  readonly end: number;
}

/** Lines of each part without boundary lines, and the line of the closing boundary, if any. */
const cut = (lines: readonly string[], from: number, boundary: string) => {
  const cuts: Cut[] = [];
  let start: number | undefined;
  for (let i = from; i < lines.length; i++) {
    const kind = delimiter(bare(lines[i] ?? ''), boundary);
    if (kind === undefined) continue;
    if (start !== undefined) cuts.push({ start, end: i });
    if (kind === 'close') return { cuts, closedAt: i };
    start = i + 1;
  }
  // Go's reader treats a part that ends before it starts as the end, with or without dashes.
  // Without its line end it does not recognize the boundary.
  const isEnd = start === lines.length - 1 && lines[start] === '' && cuts.length > 0;
  if (start !== undefined && isEnd) return { cuts, closedAt: start - 1 };
  if (start !== undefined) cuts.push({ start, end: lines.length });
  return { cuts, closedAt: undefined };
};

/** Keys of a NodeConfig, which look like headers when the blank line before them is missing. */
const bodyKeys: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec']);

const partOf = (
  lines: readonly string[],
  { start, end }: Cut,
  index: number,
): { readonly part: MimePart; readonly faults: readonly MimeFault[] } => {
  const { headers, next, broken, unfinished } = readHeaders(lines, start, end);
  const faults: MimeFault[] = [];
  if (broken) {
    const line = bare(lines[next] ?? '');
    const isBody = headers.length > 0;
    faults.push({
      kind: isBody ? 'no-blank-line' : 'bad-header',
      at: { line: next + 1, column: 1 },
      message: isBody
        ? `part ${index} has no blank line between its headers and ` +
          `${JSON.stringify(line.slice(0, 40))}`
        : `part ${index} begins with ${JSON.stringify(line.slice(0, 40))}, which is no header`,
      isFatal: true,
    });
  } else if (unfinished && end - start > 0) {
    faults.push({
      kind: 'no-blank-line',
      at: { line: start + 1, column: 1 },
      message: `part ${index} has headers and no blank line after them, hence no body`,
      isFatal: true,
    });
  }
  const body = lines.slice(next, end).join('\n');
  const swallowed = headers.find(({ name }) => bodyKeys.has(name));
  if (faults.length === 0 && swallowed !== undefined && body.trim() === '') {
    faults.push({
      kind: 'no-blank-line',
      at: swallowed.at,
      message:
        `part ${index} has no blank line before "${swallowed.name}:", which is read as a ` +
        'header: its body is empty',
      isFatal: false,
    });
  }
  const part: MimePart = {
    index,
    type: mediaTypeOf(headers),
    headers,
    at: { line: start, column: 1 },
    body: end < lines.length && body.endsWith('\r') ? body.slice(0, -1) : body,
    bodyAt: { line: next + 1, column: 1 },
  };
  return { part, faults };
};

interface Top {
  readonly boundary: string | undefined;
  readonly headers: readonly MimeHeader[];
  readonly next: number;
  readonly faults: readonly MimeFault[];
}

const readTop = (lines: readonly string[]): Top => {
  const faults: MimeFault[] = [];
  const first = lines.findIndex((line) => !isBlank(line));
  const from = Math.max(0, first);
  const indented = /^[ \t]/.test(lines[from] ?? '');
  if (from > 0 || indented) {
    faults.push({
      kind: 'indented',
      at: begin,
      message: indented
        ? 'the first header is indented: nodeadm takes the document for YAML'
        : 'a blank line before the first header: nodeadm takes the document for YAML',
      isFatal: true,
    });
  }
  const straight = indented ? lines.map((line, i) => (i < 12 ? line.trimStart() : line)) : lines;
  const { headers, next, broken } = readHeaders(straight, from);
  if (broken) {
    faults.push({
      kind: 'bad-top-header',
      at: { line: next + 1, column: 1 },
      message:
        `${JSON.stringify(bare(lines[next] ?? '').slice(0, 40))} is among the headers of ` +
        'the document; a blank line must end them',
      isFatal: true,
    });
  }
  const type = headerOf(headers, 'content-type');
  const boundary = type === undefined ? undefined : boundaryOf(type.value);
  if (boundary === undefined || boundary === '') {
    faults.push({
      kind: 'no-boundary',
      at: type?.at ?? begin,
      message: 'Content-Type says multipart and names no boundary',
      isFatal: true,
    });
  }
  return { boundary, headers, next, faults };
};

/** Undefined when the text does not start as multi-part MIME. */
export const parseMime = (text: string): MimeDocument | undefined => {
  if (!looksLikeMime(text)) return undefined;
  const lines = text.split('\n');
  const { boundary = '', headers, next, faults: topFaults } = readTop(lines);
  const nothing = { boundary, headers, parts: [], epilogue: undefined };
  if (boundary === '') return { ...nothing, faults: topFaults };
  const { cuts, closedAt } = cut(lines, next, boundary);
  const parts = cuts.map((one, i) => partOf(lines, one, i + 1));
  const faults = [...topFaults, ...parts.flatMap((one) => one.faults)];
  if (cuts.length === 0) {
    const message = `no line is --${boundary}: the boundary of the header and of the parts differ`;
    const at = headerOf(headers, 'content-type')?.at ?? begin;
    return { ...nothing, faults: [...faults, { kind: 'no-parts', at, message, isFatal: true }] };
  }
  if (closedAt === undefined) {
    const message = `no line --${boundary}-- closes the document`;
    const at = { line: lines.length, column: 1 };
    faults.push({ kind: 'no-close', at, message, isFatal: true });
  }
  const rest = closedAt === undefined ? [] : lines.slice(closedAt + 1);
  const firstLine = rest.findIndex((line) => !isBlank(line));
  const epilogue =
    closedAt === undefined || firstLine < 0
      ? undefined
      : {
          at: { line: closedAt + 2 + firstLine, column: 1 },
          text: rest.slice(firstLine).join('\n'),
        };
  if (epilogue !== undefined) {
    const message =
      `the document ended with --${boundary}-- on line ${(closedAt ?? 0) + 1}; what follows ` +
      'is read by no program';
    faults.push({ kind: 'after-close', at: epilogue.at, message, isFatal: false });
  }
  return { boundary, headers, parts: parts.map((one) => one.part), faults, epilogue };
};

export interface PartToPrint {
  /** The header's value, including parameters. */
  readonly type: string;
  readonly headers?: readonly Pick<MimeHeader, 'name' | 'value'>[];
  readonly body: string;
}

/** EKS' boundary, or another when a body has a line that starts with it. */
const freeBoundary = (parts: readonly PartToPrint[]): string => {
  for (let i = 0; ; i++) {
    const boundary = i === 0 ? '//' : `==DROVER${i}==`;
    const taken = new RegExp(`(?:^|\\n)--${boundary}`);
    if (!parts.some(({ body }) => taken.test(body))) return boundary;
  }
};

/** A document that both readers parse identically; keeps bodies byte for byte. */
export const printMime = (parts: readonly PartToPrint[]): string => {
  const boundary = freeBoundary(parts);
  const lines = ['MIME-Version: 1.0', `Content-Type: multipart/mixed; boundary="${boundary}"`, ''];
  for (const { type, headers = [], body } of parts) {
    lines.push(`--${boundary}`, `Content-Type: ${type}`);
    for (const { name, value } of headers) lines.push(`${name}: ${value}`);
    lines.push('', body);
  }
  return [...lines, `--${boundary}--`, ''].join('\n');
};

/** A parsed part, for printing in another document. */
export const partToPrint = ({ headers, body, type }: MimePart): PartToPrint => ({
  type: headerOf(headers, 'content-type')?.value ?? type,
  headers: headers.filter(({ name }) => name.toLowerCase() !== 'content-type'),
  body,
});

/** The part's Content-Transfer-Encoding in lower case; 7bit by default. */
export const transferEncodingOf = ({ headers }: MimePart): string =>
  headerOf(headers, 'content-transfer-encoding')?.value.trim().toLowerCase() ?? '7bit';

const quotedPrintable = (text: string): string => {
  const bytes: number[] = [];
  const clean = text.replaceAll(/[ \t]*=[ \t]*\r?\n/g, '');
  for (let i = 0; i < clean.length; i++) {
    const hex = /^=([0-9A-Fa-f]{2})/.exec(clean.slice(i, i + 3))?.[1];
    if (hex === undefined) bytes.push(...new TextEncoder().encode(clean[i] ?? ''));
    else {
      bytes.push(Number.parseInt(hex, 16));
      i += 2;
    }
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
};

/** The part's body with quoted-printable decoded; `decodeBody` handles base64. */
export const bodyOf = (part: MimePart): string =>
  transferEncodingOf(part) === 'quoted-printable' ? quotedPrintable(part.body) : part.body;
