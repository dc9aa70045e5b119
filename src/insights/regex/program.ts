// Compiles a syntax tree to instructions of a non-deterministic automaton, and groups UTF-16 units
// into classes that all instructions treat alike. Matches nothing itself.
import {
  type AssertionKind,
  lineBreaks,
  type Node,
  type Ranges,
  RegexError,
  type RegexTree,
  wordUnits,
} from './syntax.ts';

export type Instruction =
  | { readonly op: 'set'; readonly ranges: Ranges; readonly next: number }
  /** `first` is preferred. */
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'save'; readonly slot: number; readonly next: number }
  | { readonly op: 'assert'; readonly assertion: AssertionKind; readonly next: number }
  | { readonly op: 'match' };

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  /** Two for the complete match and two for each group. */
  readonly slotCount: number;
}

/** Groups UTF-16 code units into classes: no instruction distinguishes two units of one class. */
export interface Alphabet {
  /** Class of each unit: 128 KiB. */
  readonly classOf: Uint16Array;
  readonly classCount: number;
  /** By class, one of its units. */
  readonly sample: readonly number[];
}

/** Expressions such as `(a{1000}){1000}` are refused when compiled, not when run. */
const maxInstructions = 10_000;

export const compileProgram = (tree: RegexTree): Program => {
  const built: Instruction[] = [];
  const emit = (instruction: Instruction): number => {
    if (built.length >= maxInstructions) {
      throw new RegexError('its counts make it too large', 0);
    }
    return built.push(instruction) - 1;
  };
  const build = (node: Node, next: number): number => {
    switch (node.kind) {
      case 'set':
        return emit({ op: 'set', ranges: node.ranges, next });
      case 'assertion':
        return emit({ op: 'assert', assertion: node.assertion, next });
      case 'sequence':
        return node.parts.reduceRight((after, part) => build(part, after), next);
      case 'either': {
        const starts = node.branches.map((branch) => build(branch, next));
        return starts.reduceRight((second, first) => emit({ op: 'split', first, second }));
      }
      case 'group': {
        const close = emit({ op: 'save', slot: node.index * 2 + 1, next });
        return emit({ op: 'save', slot: node.index * 2, next: build(node.body, close) });
      }
      case 'repeat':
        return buildRepeat(node, next);
    }
  };
  const fork = (body: number, skip: number, lazy: boolean): number =>
    emit({ op: 'split', first: lazy ? skip : body, second: lazy ? body : skip });
  const buildRepeat = (node: Node & { readonly kind: 'repeat' }, next: number): number => {
    let after = next;
    if (node.max === Number.POSITIVE_INFINITY) {
      // Allocates the loop's own instruction before its body, which jumps back to it.
      const loop = emit({ op: 'match' });
      const body = build(node.body, loop);
      const [first, second] = node.lazy ? [next, body] : [body, next];
      built[loop] = { op: 'split', first, second };
      after = loop;
    } else {
      for (let count = node.min; count < node.max; count++) {
        after = fork(build(node.body, after), next, node.lazy);
      }
    }
    for (let count = 0; count < node.min; count++) after = build(node.body, after);
    return after;
  };
  const start = build(tree.root, emit({ op: 'match' }));
  return {
    instructions: built,
    start,
    slotCount: (tree.groupCount + 1) * 2,
  };
};

export const alphabetOf = ({ instructions }: Program): Alphabet => {
  // Assertions examine word units and line breaks, independent of the sets.
  const cuts = new Set<number>([0]);
  const cut = (ranges: Ranges): void => {
    for (const [from, to] of ranges) {
      cuts.add(from);
      cuts.add(to + 1);
    }
  };
  cut(wordUnits);
  cut(lineBreaks);
  for (const one of instructions) if (one.op === 'set') cut(one.ranges);
  const starts = [...cuts].filter((at) => at <= 0xffff).sort((a, b) => a - b);
  // Ranges that every set and assertion treat alike are one class.
  const sets = instructions.flatMap((one) => (one.op === 'set' ? [one.ranges] : []));
  const kinds = new Map<string, number>();
  const sample: number[] = [];
  const classOf = new Uint16Array(0x10000);
  const all = [...new Set([...sets, wordUnits, lineBreaks])];
  starts.forEach((from, index) => {
    const key = all.map((ranges) => (contains(ranges, from) ? '1' : '0')).join('');
    let kind = kinds.get(key);
    if (kind === undefined) {
      kind = kinds.size;
      kinds.set(key, kind);
      sample.push(from);
    }
    classOf.fill(kind, from, starts[index + 1] ?? 0x10000);
  });
  return { classOf, classCount: kinds.size, sample };
};

export const contains = (ranges: Ranges, unit: number): boolean =>
  ranges.some(([from, to]) => unit >= from && unit <= to);

/** Whether an assertion holds between two units; undefined is the end of the text. */
export const holds = (
  assertion: AssertionKind,
  before: number | undefined,
  after: number | undefined,
): boolean => {
  switch (assertion) {
    case 'start':
      return before === undefined;
    case 'end':
      return after === undefined;
    case 'lineStart':
      return before === undefined || contains(lineBreaks, before);
    case 'lineEnd':
      return after === undefined || contains(lineBreaks, after);
    case 'word':
    case 'notWord': {
      const isWord = (unit: number | undefined): boolean =>
        unit !== undefined && contains(wordUnits, unit);
      return (isWord(before) !== isWord(after)) === (assertion === 'word');
    }
  }
};
