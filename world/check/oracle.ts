// Defines an oracle, and runs all oracles over a trace in one pass. `checked` shows which oracles
// looked at nothing: their silence proves nothing.
import type { Trace, TraceEntry, Violation } from '../../src/api/trace.ts';
import { Book, type Call, type ObjectEntry, type Request } from './state/book.ts';
import type { Scaling } from './state/cloud.ts';

/** Called with the entries of one kind in order; `end` is called once after the last entry. */
export interface Watcher {
  readonly request?: (entry: Request) => void;
  readonly object?: (entry: ObjectEntry) => void;
  readonly call?: (entry: Call) => void;
  readonly lifecycle?: (entry: Extract<TraceEntry, { kind: 'lifecycle' }>) => void;
  readonly scaling?: (entry: Scaling) => void;
  readonly fault?: (entry: Extract<TraceEntry, { kind: 'fault' }>) => void;
  readonly end?: () => void;
}

/** Name and reason of an exemption; the batch of lives prints how often each was used. */
export interface ExemptionName {
  readonly name: string;
  /** The race that it covers, in one sentence. */
  readonly race: string;
}

/** A race in which the rule of an oracle does not hold. */
export interface Exemption<Case> extends ExemptionName {
  readonly applies: (one: Case) => boolean;
}

export interface Context {
  readonly book: Book;
  /** Counts one thing that the oracle examined. */
  readonly saw: () => void;
  readonly report: (violation: {
    readonly subject: string;
    readonly message: string;
    /** Defaults to the time of the current entry. */
    readonly at?: number;
  }) => void;
  /** Whether an exemption applies to this breach of the rule; counts the first that does. */
  readonly isExempt: <Case>(exemptions: readonly Exemption<Case>[], one: Case) => boolean;
  /** A number for the report; the largest value per name is kept. */
  readonly figure: (name: string, value: number) => void;
}

export interface Oracle {
  readonly name: string;
  /** The rule in one sentence. */
  readonly what: string;
  readonly strategies: readonly ('eks' | 'native')[];
  /** Kinds of entries without which the oracle cannot judge. */
  readonly needs: readonly TraceEntry['kind'][];
  /** Absent: the rule has no exemptions. */
  readonly exemptions?: readonly ExemptionName[];
  /** Several watchers: the rule is judged in several places. */
  readonly watch: (context: Context) => Watcher | readonly Watcher[];
}

export interface CheckReport {
  readonly violations: readonly Violation[];
  /** Number of things each oracle looked at. 0: the oracle proves nothing. */
  readonly checked: Readonly<Record<string, number>>;
  /** By `oracle: exemption`, the number of breaches that it excused. 0: it was never used. */
  readonly exempted: Readonly<Record<string, number>>;
  readonly figures: Readonly<Record<string, number>>;
  /** Oracles that lack a kind of entry in the trace, with the kinds: `hooks-kept: call`. */
  readonly notRun: readonly string[];
}

/** Limits the violations of one oracle in a report. */
const maxPerOracle = 50;

export const both: Oracle['strategies'] = ['eks', 'native'];

/**
 * The oracle's `isExempt`, which counts in `exempted`. Throws a TypeError for an exemption that the
 * oracle does not list.
 */
const exemptionsOf = (
  { name, exemptions = [] }: Oracle,
  exempted: Record<string, number>,
): Context['isExempt'] => {
  for (const one of exemptions) exempted[`${name}: ${one.name}`] = 0;
  return (rows, one) => {
    const row = rows.find(({ applies }) => applies(one));
    if (row === undefined) return false;
    const key = `${name}: ${row.name}`;
    if (exempted[key] === undefined) throw new TypeError(`${key} is not among its exemptions`);
    exempted[key]++;
    return true;
  };
};

export const runOracles = (oracles: readonly Oracle[], trace: Trace): CheckReport => {
  const { facts, entries } = trace;
  const book = new Book(facts);
  const violations: Violation[] = [];
  const checked: Record<string, number> = {};
  const exempted: Record<string, number> = {};
  const figures: Record<string, number> = {};
  const watchers = oracles
    .filter((oracle) => oracle.strategies.includes(facts.compat))
    .flatMap((oracle) => {
      const { name } = oracle;
      let found = 0;
      checked[name] = 0;
      const isExempt = exemptionsOf(oracle, exempted);
      return oracle.watch({
        book,
        saw: () => {
          checked[name] = (checked[name] ?? 0) + 1;
        },
        report: ({ subject, message, at }) => {
          found++;
          if (found <= maxPerOracle) {
            violations.push({ oracle: name, at: at ?? book.now, subject, message });
          }
        },
        isExempt,
        figure: (figure, value) => {
          figures[figure] = Math.max(figures[figure] ?? value, value);
        },
      });
    });
  const kinds = pass(book, watchers, entries);
  book.now = facts.endedAt;
  for (const watcher of watchers) watcher.end?.();
  const notRun = oracles
    .filter((oracle) => checked[oracle.name] === 0)
    .flatMap((oracle) => {
      const missing = oracle.needs.filter((kind) => !kinds.has(kind));
      return missing.length === 0 ? [] : [`${oracle.name}: ${missing.join(', ')}`];
    });
  return { violations, checked, exempted, figures, notRun };
};

const listeners = <K extends 'request' | 'object' | 'call' | 'lifecycle' | 'scaling' | 'fault'>(
  watchers: readonly Watcher[],
  kind: K,
): readonly NonNullable<Watcher[K]>[] =>
  watchers.flatMap((watcher) => {
    const listener = watcher[kind];
    return listener === undefined ? [] : [listener];
  });

/** Passes every entry to the watchers of its kind; returns the kinds in the trace. */
const pass = (
  book: Book,
  watchers: readonly Watcher[],
  entries: readonly TraceEntry[],
): ReadonlySet<string> => {
  const kinds = new Set<string>();
  const request = listeners(watchers, 'request');
  const object = listeners(watchers, 'object');
  const call = listeners(watchers, 'call');
  const lifecycle = listeners(watchers, 'lifecycle');
  const scaling = listeners(watchers, 'scaling');
  const fault = listeners(watchers, 'fault');
  let last = '';
  for (const entry of entries) {
    if (entry.kind !== last) kinds.add(entry.kind);
    last = entry.kind;
    book.take(entry);
    switch (entry.kind) {
      case 'request':
        for (const listen of request) listen(entry);
        break;
      case 'object':
        for (const listen of object) listen(entry);
        break;
      case 'call':
        for (const listen of call) listen(entry);
        break;
      case 'lifecycle':
        for (const listen of lifecycle) listen(entry);
        break;
      case 'scaling':
        for (const listen of scaling) listen(entry);
        break;
      case 'fault':
        for (const listen of fault) listen(entry);
        break;
      case 'instance':
        break;
    }
    book.settle(entry);
  }
  return kinds;
};
