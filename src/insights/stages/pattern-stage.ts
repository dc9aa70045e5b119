// `pattern`, and `diff` after it: counts events by the pattern of a text, in one or two time
// ranges. Keeps each distinct masked text, never an event.
import type { Read, Row } from '../evaluate/row.ts';
import { Row as NewRow } from '../evaluate/row.ts';
import { toText, type Value } from '../evaluate/values.ts';
import { type Pattern, patternsOf, type Shape } from '../patterns/cluster.ts';
import { remedy } from '../patterns/leaders.ts';
import { mask } from '../patterns/mask.ts';
import { isWithin, type TimeRange } from '../patterns/periods.ts';
import { Vocabulary } from '../patterns/vocabulary.ts';
import type { MemoryBudget } from './budget.ts';
import type { Stage } from './stage.ts';

export const patternColumns = ['@pattern', '@ratio', '@sampleCount', '@severityLabel'] as const;
export const diffColumns = ['@diffEventCount', '@differenceDescription'] as const;

interface Kept extends Shape {
  readonly varies: boolean[];
  readonly counts: number[];
}

/** Memory including its lists; the text is counted separately. */
const shapeBytes = 700;
const valueBytes = 80;
/** Its number, and its share of the keys built when shapes are compared. */
const wordBytes = 16;

/** A copy: a substring would keep its message of possibly megabytes in memory. */
const own = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/** The first word of a text that names a level, at any position. */
const levelWord =
  /\b(?:(fatal|critical|severe|error|err|exception|panic)|(warn|warning)|(info|notice)|(debug|trace))\b/i;
const levels = ['Error', 'Warning', 'Info', 'Debug'] as const;

export const severityOf = (pattern: string): string | undefined => {
  const found = levelWord.exec(pattern);
  return found === null ? undefined : levels[found.slice(1).findIndex((one) => one !== undefined)];
};

const describe = (now: number, before: number): string => {
  if (before === 0) return 'New';
  if (now === 0) return 'Gone';
  if (now === before) return 'No change';
  const [count, word] = now > before ? [now - before, 'more'] : [before - now, 'fewer'];
  return `${count} ${word} event${count === 1 ? '' : 's'}`;
};

export class PatternStage implements Stage {
  readonly #read: Read;
  /** The ranges that `diff` compares: the requested one and the previous one. */
  readonly #ranges: readonly [TimeRange, TimeRange] | undefined;
  readonly #budget: MemoryBudget;
  readonly #next: Stage;
  readonly #shapes = new Map<string, Kept>();
  readonly #vocabulary = new Vocabulary();

  constructor(
    options: {
      readonly read: Read;
      readonly ranges: readonly [TimeRange, TimeRange] | undefined;
      readonly budget: MemoryBudget;
    },
    next: Stage,
  ) {
    this.#read = options.read;
    this.#ranges = options.ranges;
    this.#budget = options.budget;
    this.#next = next;
  }

  push(row: Row): void {
    const text = toText(this.#read(row));
    if (text === undefined) return;
    const masked = mask(text);
    const known = this.#shapes.get(masked.text);
    const shape = known ?? this.#open(masked.text, masked.values);
    if (known !== undefined) {
      for (const [index, value] of masked.values.entries()) {
        if (value !== shape.values[index]) shape.varies[index] = true;
      }
    }
    this.#count(shape, row.event?.timeMs);
  }

  #count({ counts }: Kept, timeMs: number | undefined): void {
    const ranges = this.#ranges;
    if (ranges === undefined) counts[0] = (counts[0] ?? 0) + 1;
    else if (timeMs !== undefined) {
      // Ranges longer than a day and the day before overlap: an event may be in both.
      for (const [index, range] of ranges.entries()) {
        if (isWithin(range, timeMs)) counts[index] = (counts[index] ?? 0) + 1;
      }
    }
  }

  #open(masked: string, met: readonly string[]): Kept {
    const counts = this.#ranges === undefined ? [0] : [0, 0];
    const [text, values] = [own(masked), met.map(own)];
    const before = this.#vocabulary.bytes;
    const { words, separators } = this.#vocabulary.read(text);
    const varies = values.map(() => false);
    const shape = { text, words, separators, values, varies, counts };
    this.#shapes.set(text, shape);
    const ofValues = values.reduce((sum, { length }) => sum + valueBytes + length * 2, 0);
    const ofWords = this.#vocabulary.bytes - before + words.length * wordBytes;
    this.#budget.charge(
      shapeBytes + text.length * 2 + ofValues + ofWords,
      () => `\`pattern\` has met ${this.#shapes.size} texts without a pattern in common`,
      remedy,
    );
    return shape;
  }

  finish(): void {
    const all = patternsOf([...this.#shapes.values()], {
      vocabulary: this.#vocabulary,
      budget: this.#budget,
    });
    this.#shapes.clear();
    const events = all.reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0);
    const weight = ({ counts: [now = 0, before] }: Pattern): number =>
      before === undefined ? now : Math.abs(now - before);
    const sorted = all.toSorted((a, b) => weight(b) - weight(a) || (a.text < b.text ? -1 : 1));
    for (const [order, { text, counts }] of sorted.entries()) {
      const [now = 0, before] = counts;
      const ratio = events === 0 ? 0 : Math.round((now / events) * 10_000) / 10_000;
      const compared: readonly Value[] =
        before === undefined ? [] : [now - before, describe(now, before)];
      this.#next.push(
        new NewRow(undefined, [text, ratio, now, severityOf(text), ...compared], order),
      );
    }
    this.#next.finish();
  }
}
