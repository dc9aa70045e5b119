// Whether a text contains a match: a deterministic automaton with lazily built states. Time is
// linear in the text, memory is bounded: a full table is discarded.
import { type Alphabet, alphabetOf, holds, type Program } from './program.ts';

interface State {
  /** Instructions before the next unit, unordered: only whether there is a match counts. */
  readonly at: Int32Array;
  /** The previous unit; undefined at the start of the text. */
  readonly before: number | undefined;
  /** By class of the next unit: a state's number, `matched`, or `unknown`. */
  readonly next: Int32Array;
  /** Whether it matches when the text ends here. */
  atEnd: boolean | undefined;
}

const matched = -1;
const unknown = -2;
/** Maximum of classes times states: 4 bytes each. */
const maxCells = 1 << 20;

export class TestAutomaton {
  readonly #program: Program;
  #made: Alphabet | undefined;
  #states: State[] = [];
  #byKey = new Map<string, number>();

  constructor(program: Program) {
    this.#program = program;
  }

  /** Made for the first text: most programs hold many expressions that test none. */
  get #alphabet(): Alphabet {
    this.#made ??= alphabetOf(this.#program);
    return this.#made;
  }

  test(text: string): boolean {
    const { classOf } = this.#alphabet;
    let current = this.#state([this.#program.start], undefined);
    let state = this.#states[current];
    for (let at = 0; at < text.length; at++) {
      if (state === undefined) return false;
      const kind = classOf[text.charCodeAt(at)] ?? 0;
      let next = state.next[kind] ?? unknown;
      if (next === unknown) next = this.#step(current, kind);
      if (next === matched) return true;
      current = next;
      state = this.#states[current];
    }
    return state !== undefined && this.#matchesAtEnd(state);
  }

  #matchesAtEnd(state: State): boolean {
    state.atEnd ??= this.#closure(state, undefined) === undefined;
    return state.atEnd;
  }

  #step(number: number, kind: number): number {
    const state = this.#states[number];
    const unit = this.#alphabet.sample[kind] ?? 0;
    if (state === undefined) return matched;
    const open = this.#closure(state, unit);
    if (open === undefined) {
      state.next[kind] = matched;
      return matched;
    }
    const after = new Set<number>();
    for (const at of open) {
      const one = this.#program.instructions[at];
      if (one?.op !== 'set') continue;
      if (one.ranges.some(([from, to]) => unit >= from && unit <= to)) after.add(one.next);
    }
    // A match may start at every position.
    after.add(this.#program.start);
    this.#makeRoom();
    const next = this.#state(
      [...after].sort((a, b) => a - b),
      unit,
    );
    // If the table was just discarded, this entry is never read.
    state.next[kind] = next;
    return next;
  }

  #makeRoom(): void {
    if (this.#states.length * this.#alphabet.classCount < maxCells) return;
    this.#states = [];
    this.#byKey = new Map();
  }

  #state(at: readonly number[], unit: number | undefined): number {
    // Only the class of the previous unit matters.
    const kind = unit === undefined ? -1 : (this.#alphabet.classOf[unit] ?? 0);
    const key = `${kind}:${at.join()}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const next = new Int32Array(this.#alphabet.classCount).fill(unknown);
    const number = this.#states.push({
      at: Int32Array.from(at),
      before: unit,
      next,
      atEnd: undefined,
    });
    this.#byKey.set(key, number - 1);
    return number - 1;
  }

  /**
   * The instructions that consume a unit, reached without consuming one; undefined when a match is
   * among them.
   */
  #closure(state: State, after: number | undefined): readonly number[] | undefined {
    const { instructions } = this.#program;
    const seen = new Set<number>();
    const open = [...state.at];
    const found: number[] = [];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const one = instructions[at];
      if (one === undefined) continue;
      if (one.op === 'match') return undefined;
      if (one.op === 'set') found.push(at);
      else if (one.op === 'split') open.push(one.second, one.first);
      else if (one.op === 'save') open.push(one.next);
      else if (holds(one.assertion, state.before, after)) open.push(one.next);
    }
    return found;
  }
}
