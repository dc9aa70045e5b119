// Random numbers for the model's runs; seeded, so that the same snapshot gives the same plan. Pure.

/** mulberry32: 32 bits of state, enough for the few hundred thousand draws of a plan. */
export class Chance {
  /** Signed, since V8 keeps such numbers without allocating. */
  #state: number;
  #spare = 0;
  #hasSpare = false;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Uniform in [0, 1). */
  next(): number {
    const state = (this.#state + 0x6d2b79f5) | 0;
    this.#state = state;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000;
  }

  /** Standard normal. */
  normal(): number {
    if (this.#hasSpare) {
      this.#hasSpare = false;
      return this.#spare;
    }
    // Box-Muller; 1 - x is never 0.
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    const angle = 2 * Math.PI * this.next();
    this.#spare = radius * Math.sin(angle);
    this.#hasSpare = true;
    return radius * Math.cos(angle);
  }
}

/** Fisher-Yates. */
export const shuffled = <T>(items: readonly T[], chance: Chance): T[] => {
  const all = [...items];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(chance.next() * (i + 1));
    const a = all[i];
    const b = all[j];
    if (a !== undefined && b !== undefined) {
      all[i] = b;
      all[j] = a;
    }
  }
  return all;
};

/** Takes `count` random items out of `items`, or all of them in order if there are no more. */
export const takeSome = (items: number[], count: number, chance: Chance): number[] => {
  if (items.length <= count) return items.splice(0);
  for (let i = items.length - 1; i >= items.length - count; i--) {
    const j = Math.floor(chance.next() * (i + 1));
    const [a = 0, b = 0] = [items[i], items[j]];
    items[i] = b;
    items[j] = a;
  }
  return items.splice(items.length - count);
};
