// Public entry of the matcher of regular expressions. Time is linear in the text for every
// expression that it takes, so none can stop the thread; those that cannot be bounded are refused.
import { findMatch } from './find-match.ts';
import { parseRegex } from './parse-regex.ts';
import { compileProgram, type Program } from './program.ts';
import { requiredText } from './required-text.ts';
import type { RegexTree } from './syntax.ts';
import { TestAutomaton } from './test-automaton.ts';

export { RegexError } from './syntax.ts';

export interface Match {
  readonly start: number;
  readonly end: number;
  /** By number, the whole match first; undefined where a group took no part. */
  readonly groups: readonly (string | undefined)[];
}

export class LinearRegex {
  /** A text that every match contains; '' when there is none. */
  readonly required: string;
  /** Names of the named groups in their order, with their numbers. */
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
    if (!this.test(text)) return undefined;
    const slots = findMatch(this.#program, text, 0);
    if (slots === undefined) return undefined;
    const groups = Array.from({ length: slots.length / 2 }, (_, index) => {
      const start = slots[index * 2] ?? -1;
      const end = slots[index * 2 + 1] ?? -1;
      return start < 0 || end < 0 ? undefined : text.slice(start, end);
    });
    return { start: slots[0] ?? 0, end: slots[1] ?? 0, groups };
  }
}
