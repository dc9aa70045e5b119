// One evaluation of a query over logs that are fed to it piece by piece, and its result. Reads no
// file, no clock: whoever feeds it decides what and when.
import type { LogEvent, LogSource } from './evaluate/event.ts';
import { Row } from './evaluate/row.ts';
import type { Value } from './evaluate/values.ts';
import type { Query } from './language/ast.ts';
import { type LineCounts, LineFeed, noLines } from './lines.ts';
import type { LookupTables } from './lookup-table.ts';
import { isWithin, type TimeRange } from './patterns/periods.ts';
import { planQuery } from './plan.ts';
import type { Pass, Plan } from './plan-types.ts';
import { type Needles, needlesOf } from './prefilter.ts';
import { MemoryBudget } from './stages/budget.ts';

export interface ExecutionOptions {
  /** Events of that moment or later, epoch milliseconds. */
  readonly startMs?: number;
  /** Events of that moment or earlier. */
  readonly endMs?: number;
  /** What `now()` answers. */
  readonly nowMs: number;
  /** Rows where the query has no `limit`; 10,000 as CloudWatch. */
  readonly defaultLimit?: number;
  readonly memoryBytes?: number;
  /** What `lookup` knows, by name. */
  readonly lookupTables?: LookupTables;
  /** False decodes and parses every line: the result is the same. For tests. */
  readonly usePrefilter?: boolean;
}

export interface ResultRow {
  /** In the order of the columns. */
  readonly values: readonly Value[];
  /** Leads to the event; undefined after `stats`. */
  readonly pointer: string | undefined;
}

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly ResultRow[];
  /**
   * Events that the filters let through, before `stats`, `limit`, `dedup` and what makes rows of a
   * row.
   */
  readonly matched: number;
  readonly counts: Readonly<LineCounts>;
  /** Events left out of a time range because nothing tells their time. */
  readonly withoutTime: number;
  /** What a reader should know of the query itself. */
  readonly notices: readonly string[];
}

/** What has a beginning; without an end it goes as far as now. */
const rangeOf = ({ startMs, endMs, nowMs }: ExecutionOptions): TimeRange | undefined =>
  startMs === undefined ? undefined : { startMs, endMs: endMs ?? nowMs };

const usualLimit = 10_000;
const usualMemoryBytes = 256 * 1024 * 1024;
const noNeedles: Needles = { inValues: [], inText: [] };

export class Execution {
  readonly #options: ExecutionOptions;
  readonly #plan: Plan;
  /** Subqueries first; the last is the query itself. */
  readonly #passes: readonly Pass[];
  #at = 0;
  readonly #counts = noLines();
  readonly #rows: ResultRow[] = [];
  #matched = 0;
  #isDone = false;
  #order = 0;
  #withoutTime = 0;

  /** Throws QueryError. */
  constructor(query: Query, options: ExecutionOptions) {
    this.#options = options;
    const budget = new MemoryBudget(options.memoryBytes ?? usualMemoryBytes);
    this.#plan = planQuery(query, {
      nowMs: options.nowMs,
      budget,
      defaultLimit: options.defaultLimit ?? usualLimit,
      range: rangeOf(options),
      lookupTables: options.lookupTables ?? new Map(),
      onMatch: () => {
        this.#matched++;
      },
      onDone: () => {
        this.#isDone = true;
      },
    });
    const { columns, hasPointers, alsoWithin } = this.#plan;
    const first = this.#plan.connect({
      push: (row) => {
        const values = columns.map((column) => column.read(row));
        row.event?.release();
        this.#rows.push({ values, pointer: hasPointers ? row.event?.pointer : undefined });
      },
      finish: () => {},
    });
    const isDone = () => this.#isDone;
    const own: Pass = { source: undefined, query, first, alsoWithin, isDone };
    this.#passes = [...this.#plan.passes, own];
  }

  get #pass(): Pass {
    const pass = this.#passes[this.#at];
    if (pass === undefined) throw new Error('there is no pass to read for');
    return pass;
  }

  /**
   * The logs to read one after the other, `advance` between them; undefined is what the query
   * reads.
   */
  get sources(): readonly (string | undefined)[] {
    return this.#passes.map(({ source }) => source);
  }

  /**
   * What is opened from here on is for the next of `sources`; false when there is none. Throws
   * QueryLimitError.
   */
  advance(): boolean {
    if (this.#at === this.#passes.length - 1) return false;
    this.#pass.first.finish();
    this.#at++;
    return true;
  }

  /** What a subquery reads of the query's own log, the query tells. */
  get #isTold(): boolean {
    return this.#at === this.#passes.length - 1 || this.#pass.source !== undefined;
  }

  /** True once nothing more of this log need be read: `limit any` has its rows. */
  get isDone(): boolean {
    return this.#pass.isDone();
  }

  /** How far it has come. */
  get progress(): { readonly lines: number; readonly bytes: number; readonly matched: number } {
    const { lines, bytes } = this.#counts;
    return { lines, bytes, matched: this.#matched };
  }

  /**
   * A log as bytes, the first of which stands at `offset`. `push` and `end` throw QueryLimitError.
   */
  open(source: LogSource, offset = 0): LineFeed {
    return new LineFeed({
      source,
      offset,
      needles: this.#options.usePrefilter === false ? noNeedles : needlesOf(this.#pass.query),
      counts: this.#isTold ? this.#counts : noLines(),
      onEvent: (event) => this.#event(event),
    });
  }

  #event(event: LogEvent): void {
    const { first, alsoWithin, isDone } = this.#pass;
    if (isDone()) return;
    const { startMs, endMs } = this.#options;
    if (startMs !== undefined || endMs !== undefined) {
      const { timeMs } = event;
      if (timeMs === undefined) {
        if (this.#isTold) this.#withoutTime++;
        return;
      }
      const isAsked = timeMs >= (startMs ?? timeMs) && timeMs <= (endMs ?? timeMs);
      if (!isAsked && (alsoWithin === undefined || !isWithin(alsoWithin, timeMs))) return;
    }
    first.push(new Row(event, [], this.#order++));
  }

  /** Throws QueryLimitError. */
  finish(): QueryResult {
    while (this.advance());
    this.#pass.first.finish();
    return {
      columns: this.#plan.columns.map((column) => column.name),
      rows: this.#rows,
      matched: this.#matched,
      counts: this.#counts,
      withoutTime: this.#withoutTime,
      notices: this.#plan.notices(),
    };
  }
}
