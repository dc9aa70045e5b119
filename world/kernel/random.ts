// Seeded random streams, one per component name, so that a new component never shifts the numbers
// of the others. The state is one 32-bit integer and can be stored. Never cryptographic.
import type { Random } from '../../src/ports/index.ts';

/** FNV-1a of the name, mixed with the seed: the initial state of the component's stream. */
const startState = (seed: number, name: string): number => {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash;
};

/** mulberry32: 32 bits of state, good enough for simulation. */
export class SeededRandom implements Random {
  #state: number;
  constructor(state: number) {
    this.#state = state >>> 0;
  }
  static split(seed: number, name: string): SeededRandom {
    return new SeededRandom(startState(seed, name));
  }
  get state(): number {
    return this.#state;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }
}

/** Kubernetes' alphabet for generated names: no vowels and no easily confused characters. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

const pick = (random: Random, alphabet: string, length: number): string => {
  let out = '';
  for (let i = 0; i < length; i++) out += alphabet[random.below(alphabet.length)];
  return out;
};

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** `length` lower-case hex digits, eight per number drawn. */
export const hexString = (random: Random, length: number): string => {
  // Joined at the end: `+=` would keep a chain of pieces, ten times as large, until the first read.
  const bytes: string[] = [];
  while (bytes.length * 2 < length) {
    const drawn = random.below(0x1_0000_0000);
    // Numbers above 2^31 are slow to print, and every cloud call has an id.
    for (let shift = 24; shift >= 0; shift -= 8)
      bytes.push(hexBytes[(drawn >>> shift) & 0xff] ?? '');
  }
  return bytes.join('').slice(0, length);
};

/** The suffix that the API server and ReplicaSets append to names. */
export const nameSuffix = (random: Random, length = 5): string =>
  pick(random, suffixAlphabet, length);

/** A UUID in version-4 form from seeded random numbers. */
export const uuid = (random: Random): string => {
  const hex = hexString(random, 30);
  const variant = '89ab'[random.below(4)];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(12, 15)}`,
    `${variant}${hex.slice(15, 18)}`,
    hex.slice(18, 30),
  ].join('-');
};
