// DER, the encoding of certificates and certificate requests: consecutive elements of definite
// length. Independent of element types; never reads past the end.

/** One DER element: its tag byte and the bytes of its value. */
export interface Element {
  readonly tag: number;
  readonly value: Uint8Array;
}

export class MalformedDer extends Error {}

const lengthAt = (
  bytes: Uint8Array,
  at: number,
): { readonly length: number; readonly at: number } => {
  const first = bytes[at];
  if (first === undefined) throw new MalformedDer('it ends within an element');
  if (first < 0x80) return { length: first, at: at + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > 3) throw new MalformedDer('an element has no definite length');
  let length = 0;
  for (const byte of bytes.subarray(at + 1, at + 1 + count)) length = length * 256 + byte;
  return { length, at: at + 1 + count };
};

/** The consecutive elements in `bytes`. */
export const elementsOf = (bytes: Uint8Array): readonly Element[] => {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const { length, at: begin } = lengthAt(bytes, at + 1);
    if (begin + length > bytes.length) throw new MalformedDer('it ends within an element');
    elements.push({ tag, value: bytes.subarray(begin, begin + length) });
    at = begin + length;
  }
  return elements;
};

/** Re-encodes an element: DER has exactly one form. */
export const encoded = ({ tag, value }: Element): Uint8Array => {
  const { length } = value;
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  const size = length < 0x80 ? [length] : [0x80 + digits.length, ...digits];
  return Uint8Array.from([tag, ...size, ...value]);
};

export const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
