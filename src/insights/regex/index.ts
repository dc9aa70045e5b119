// Public entry of the regular expression matcher. Time is linear in the text for every supported
// expression, so none can block the thread; expressions without such a bound are refused.
import { findMatch, type Work } from './find-match.ts';
import { parseRegex } from './parse-regex.ts';
import { compileProgram, type Program } from './program.ts';
import { requiredText } from './required-text.ts';
import type { RegexTree } from './syntax.ts';
import { TestAutomaton } from './test-automaton.ts';

export { RegexWorkError } from './find-match.ts';
export { RegexError } from './syntax.ts';

/** Work that finding all matches may use: per unit of the text, and in addition. */
const placesPerUnit = 20;
const freePlaces = 1_000_000;

export interface Match {
  readonly start: number;
  readonly end: number;
  /** By number, the complete match first; undefined for a group that did not participate. */
  readonly groups: readonly (string | undefined)[];
}

export class LinearRegex {
  /** A text that every match contains; '' when there is none. */
  readonly required: string;
  /** Named groups in order, with their numbers. */
  readonly names: ReadonlyMap<string, number>;
  readonly groupCount: number;
  readonly #program: Program;
  readonly #automaton: TestAutomaton;
  readonly #isLiteral: boolean;

  /** Throws RegexError. */
  constructor(source: string) {
    const tree: RegexTree = parseRegex(source);
    this.#program = compileProgram(tree);
    this.#automaton = new TestAutomaton(this.#program);
    this.names = tree.names;
    this.groupCount = tree.groupCount;
    const { text, isWhole } = requiredText(tree.root);
    this.required = text;
    this.#isLiteral = isWhole;
  }

  test(text: string): boolean {
    if (this.required !== '' && !text.includes(this.required)) return false;
    return this.#isLiteral || this.#automaton.test(text);
  }

  find(text: string): Match | undefined {
    return this.test(text) ? this.#from(text, 0, {}) : undefined;
  }

  /**
   * All matches in order. Each may scan to the end of the text although it is short, so the total
   * can be quadratic: throws RegexWorkError beyond a limit.
   */
  *findAll(text: string): Generator<Match, void> {
    if (!this.test(text)) return;
    const work = { placesLeft: text.length * placesPerUnit + freePlaces };
    let lastEnd = -1;
    for (let at = 0; at <= text.length; ) {
      const match = this.#from(text, at, work);
      if (match === undefined) return;
      const isEmpty = match.end === match.start;
      // As in RE2: an empty match directly after a match is skipped.
      if (!isEmpty || match.start !== lastEnd) yield match;
      lastEnd = match.end;
      at = isEmpty ? match.end + 1 : match.end;
    }
  }

  #from(text: string, from: number, work: Work): Match | undefined {
    const slots = findMatch(this.#program, text, from, work);
    if (slots === undefined) return undefined;
    const groups = Array.from({ length: slots.length / 2 }, (_, index) => {
      const start = slots[index * 2] ?? -1;
      const end = slots[index * 2 + 1] ?? -1;
      return start < 0 || end < 0 ? undefined : text.slice(start, end);
    });
    return { start: slots[0] ?? 0, end: slots[1] ?? 0, groups };
  }
}
