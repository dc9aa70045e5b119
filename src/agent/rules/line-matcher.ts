// Finds what rules say of a line. Every pattern is matched in time linear to the line, whose length
// is bounded; lines without a text that the pattern needs cost one search for it.
import type { EpochMs } from '../../api/brand.ts';
import { LinearRegex, type Match } from '../../insights/regex/index.ts';
import {
  type Facts,
  type HealthRule,
  type LinePattern,
  type LineSource,
  lineSources,
  type Occurrence,
  occurrenceOf,
} from './rule.ts';

/** A line that another one explains stands shortly before it. */
const rememberedMs = 5_000;

const factsOf = (regex: LinearRegex, match: Match): Facts =>
  Object.fromEntries(
    [...regex.names].flatMap(([name, group]) => {
      const value = match.groups[group];
      return value === undefined ? [] : [[name, value]];
    }),
  );

class CompiledPattern {
  readonly rule: HealthRule;
  readonly #regex: LinearRegex;
  readonly #unless: LinearRegex | undefined;
  readonly #after: LinearRegex | undefined;
  #remembered: { readonly at: EpochMs; readonly facts: Facts } | undefined;

  /** Throws RegexError. */
  constructor(rule: HealthRule, { pattern, unless, after }: LinePattern) {
    this.rule = rule;
    this.#regex = new LinearRegex(pattern);
    this.#unless = unless === undefined ? undefined : new LinearRegex(unless);
    this.#after = after === undefined ? undefined : new LinearRegex(after);
  }

  find(text: string, at: EpochMs): Facts | undefined {
    const before = this.#after?.find(text);
    if (before !== undefined && this.#after !== undefined) {
      this.#remembered = { at, facts: factsOf(this.#after, before) };
    }
    const match = this.#regex.find(text);
    if (match === undefined || this.#unless?.test(text) === true) return undefined;
    const remembered = this.#remembered;
    this.#remembered = undefined;
    const isRecent = remembered !== undefined && Math.abs(at - remembered.at) <= rememberedMs;
    return { ...(isRecent ? remembered.facts : {}), ...factsOf(this.#regex, match) };
  }
}

export class LineMatcher {
  readonly #bySource: ReadonlyMap<LineSource, readonly CompiledPattern[]>;

  /** Throws RegexError for a pattern that is none, or that cannot be matched in linear time. */
  constructor(rules: readonly HealthRule[]) {
    const compiled = rules.flatMap((rule) =>
      (rule.lines ?? []).map((one) => [one.source, new CompiledPattern(rule, one)] as const),
    );
    this.#bySource = new Map(
      lineSources.map((source) => [
        source,
        compiled.flatMap(([of, pattern]) => (of === source ? [pattern] : [])),
      ]),
    );
  }

  /** One occurrence a rule at most. */
  find(source: LineSource, text: string, at: EpochMs): readonly Occurrence[] {
    const found: Occurrence[] = [];
    for (const pattern of this.#bySource.get(source) ?? []) {
      const facts = pattern.find(text, at);
      if (facts === undefined || found.some(({ rule }) => rule === pattern.rule)) continue;
      found.push(occurrenceOf(pattern.rule, facts));
    }
    return found;
  }
}
