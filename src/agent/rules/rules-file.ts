// A node's own rules file: changes to the built-in rules, and additional ones. A file with an error
// is refused completely, with the place; the active rules stay.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import { parseJson } from '../../api/parse-json.ts';
import { type JsonPath, jsonPosition } from '../../formats/json-position/index.ts';
import { LinearRegex, RegexError } from '../../insights/regex/index.ts';
import { catalogue } from './catalogue.ts';
import {
  conditionTypes,
  type HealthRule,
  type LinePattern,
  lineSources,
  severities,
  type Threshold,
} from './rule.ts';

export class RulesFileError extends Error {
  override readonly name = 'RulesFileError';
}

/** Why a file is refused: the path names the place. */
class Wrong extends Error {
  readonly path: JsonPath;
  constructor(path: JsonPath, message: string) {
    super(message);
    this.path = path;
  }
}

const maxSeconds = 7 * 24 * 3600;
const maxCount = 64;
const maxPatternLength = 1000;

/** A value with its place. */
class At {
  readonly value: Json | undefined;
  readonly path: JsonPath;
  constructor(value: Json | undefined, path: JsonPath) {
    this.value = value;
    this.path = path;
  }

  wrong(message: string): Wrong {
    return new Wrong(this.path, message);
  }
  get isAbsent(): boolean {
    return this.value === undefined;
  }
  /** Refuses fields outside `known`. */
  object(known: readonly string[]): JsonObject {
    if (!isObject(this.value)) throw this.wrong('must be an object');
    for (const key of Object.keys(this.value)) {
      if (known.includes(key)) continue;
      throw new Wrong([...this.path, key], `unknown field ${key}; known: ${known.join(', ')}`);
    }
    return this.value;
  }
  field(name: string): At {
    const value = isObject(this.value) ? this.value[name] : undefined;
    return new At(value, [...this.path, name]);
  }
  list(): readonly At[] {
    if (this.isAbsent) return [];
    if (!Array.isArray(this.value)) throw this.wrong('must be a list');
    return this.value.map((value: Json, index) => new At(value, [...this.path, index]));
  }
  text(): string {
    if (typeof this.value === 'string' && this.value !== '') return this.value;
    throw this.wrong('must be a text');
  }
  /** An integer from `least` to `most`. */
  whole(least: number, most: number): number {
    const { value } = this;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) {
      return value;
    }
    throw this.wrong(`must be a whole number from ${least} to ${most}`);
  }
  oneOf<T extends string>(values: readonly T[]): T {
    const found = values.find((one) => one === this.value);
    if (found !== undefined) return found;
    throw this.wrong(`must be one of ${values.join(', ')}`);
  }
  pattern(): string {
    const text = this.text();
    if (text.length > maxPatternLength) throw this.wrong(`longer than ${maxPatternLength} units`);
    try {
      new LinearRegex(text);
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      throw this.wrong(`no pattern that is matched in linear time: ${error.message}`);
    }
    return text;
  }
}

const thresholdOf = (at: At): Threshold => {
  at.object(['count', 'withinSeconds', 'of']);
  const of = at.field('of');
  return {
    count: at.field('count').whole(1, maxCount),
    withinSeconds: at.field('withinSeconds').whole(1, maxSeconds),
    ...(of.isAbsent ? {} : { of: of.oneOf(['any', 'same', 'distinct']) }),
  };
};

const clearAfterOf = (at: At): number | 'reboot' =>
  at.value === 'reboot' ? 'reboot' : at.whole(1, maxSeconds);

const lineOf = (at: At): LinePattern => {
  at.object(['source', 'pattern', 'unless', 'after']);
  const unless = at.field('unless');
  const after = at.field('after');
  return {
    source: at.field('source').oneOf(lineSources),
    pattern: at.field('pattern').pattern(),
    ...(unless.isAbsent ? {} : { unless: unless.pattern() }),
    ...(after.isAbsent ? {} : { after: after.pattern() }),
  };
};

const changeable = ['severity', 'threshold', 'limit', 'clearAfterSeconds', 'rank', 'allow'];

/** Fields common to a change and an additional rule. */
const settingsOf = (at: At): Partial<HealthRule> => {
  const [severity, threshold, limit, clearAfter, rank] = changeable.map((name) => at.field(name));
  return {
    ...(severity === undefined || severity.isAbsent
      ? {}
      : { severity: severity.oneOf(severities) }),
    ...(threshold === undefined || threshold.isAbsent ? {} : { threshold: thresholdOf(threshold) }),
    ...(limit === undefined || limit.isAbsent ? {} : { limit: limit.whole(0, 1_000_000_000) }),
    ...(clearAfter === undefined || clearAfter.isAbsent
      ? {}
      : { clearAfterSeconds: clearAfterOf(clearAfter) }),
    ...(rank === undefined || rank.isAbsent ? {} : { rank: rank.whole(0, 100) }),
  };
};

const changed = (rules: readonly HealthRule[], at: At): readonly HealthRule[] => {
  at.object(['reason', 'enabled', ...changeable]);
  const reason = at.field('reason');
  const name = reason.text();
  if (!rules.some((rule) => rule.reason === name)) {
    throw reason.wrong(`no rule has the reason ${name}`);
  }
  const { value: enabled = true } = at.field('enabled');
  if (typeof enabled !== 'boolean') throw at.field('enabled').wrong('must be true or false');
  if (!enabled) return rules.filter((rule) => rule.reason !== name);
  const allow = at
    .field('allow')
    .list()
    .map((one) => one.text());
  const settings = settingsOf(at);
  return rules.map((rule) =>
    rule.reason === name
      ? {
          ...rule,
          ...settings,
          ...(allow.length === 0 ? {} : { allow: [...(rule.allow ?? []), ...allow] }),
        }
      : rule,
  );
};

const reasonPattern = /^[A-Z][A-Za-z0-9]*(?:\{\w+\}[A-Za-z0-9]*)?$/;

const added = (rules: readonly HealthRule[], at: At): readonly HealthRule[] => {
  at.object(['reason', 'condition', 'lines', 'message', 'key', ...changeable]);
  const reason = at.field('reason');
  if (!reasonPattern.test(reason.text())) throw reason.wrong('must be one word in CamelCase');
  if (rules.some((rule) => rule.reason === reason.value)) {
    throw reason.wrong(`a rule has the reason ${reason.text()} already: change it under "change"`);
  }
  const lines = at.field('lines').list().map(lineOf);
  if (lines.length === 0) throw at.field('lines').wrong('needs at least one pattern');
  const key = at.field('key');
  const rule: HealthRule = {
    severity: 'Event',
    clearAfterSeconds: 900,
    ...settingsOf(at),
    reason: reason.text(),
    condition: at.field('condition').oneOf(conditionTypes),
    lines,
    message: at.field('message').text(),
    ...(key.isAbsent ? {} : { key: key.text() }),
    text: {
      meaning: 'A rule of the node’s own rules file.',
      remedy: '',
      origin: 'Drover',
      proof: 'written',
      found: [],
      ignored: [],
    },
  };
  return [...rules, rule];
};

const parsed = (text: string): At => {
  try {
    return new At(parseJson(text), []);
  } catch (error) {
    throw new RulesFileError(error instanceof Error ? error.message : String(error));
  }
};

/** The active rules with this file. Throws RulesFileError that names the place. */
export const withRulesFile = (
  rules: readonly HealthRule[],
  text: string,
): readonly HealthRule[] => {
  const document = parsed(text);
  try {
    document.object(['apiVersion', 'kind', 'change', 'add']);
    document.field('apiVersion').oneOf(['drover.dev/v1alpha1']);
    document.field('kind').oneOf(['AgentRules']);
    const after = document.field('change').list().reduce(changed, rules);
    return document.field('add').list().reduce(added, after);
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    const { line, column } = jsonPosition(text, error.path);
    const where = error.path.length === 0 ? 'the document' : error.path.join('.');
    throw new RulesFileError(`${line}:${column}: ${where}: ${error.message}`);
  }
};

/** The rules with a node's own file, if it has one; an invalid file changes none. */
export const rulesInForce = (
  text: string | undefined,
): { readonly rules: readonly HealthRule[]; readonly fault?: string } => {
  if (text === undefined) return { rules: catalogue };
  try {
    return { rules: withRulesFile(catalogue, text) };
  } catch (error) {
    if (!(error instanceof RulesFileError)) throw error;
    return { rules: catalogue, fault: error.message };
  }
};
