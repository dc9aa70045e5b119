// Matches log lines against rules. Every pattern takes time linear in the line, whose length is
// bounded; a line without the pattern's required text costs one search.
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

/** A line that explains another one precedes it by at most this. */
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

  /** Throws RegexError for a pattern that is invalid, or that has no linear-time matching. */
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

  /** At most one occurrence per rule. */
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
