// FNV-1a, 32 bits: a stable, well distributed hash of a text. Used for identifiers and for
// pseudorandom orders; not cryptographic. Pure.

export const fnvBasis = 0x811c9dc5;

/** Hash of the UTF-16 units of `text`: 0 to 2^32 - 1. */
export const fnv1a = (text: string, basis: number = fnvBasis): number => {
  let hash = basis;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
};

/** As eight hexadecimal digits. */
export const fnv1aHex = (text: string, basis?: number): string =>
  fnv1a(text, basis).toString(16).padStart(8, '0');
