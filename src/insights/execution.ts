// One evaluation of a query over logs that the caller feeds in pieces, and its result. Reads no
// file and no clock.
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
  /** Events at or after this time, epoch milliseconds. */
  readonly startMs?: number;
  /** Events at or before this time. */
  readonly endMs?: number;
  /** Result of `now()`. */
  readonly nowMs: number;
  /** Number of rows for a query without `limit`; 10,000 as in CloudWatch. */
  readonly defaultLimit?: number;
  readonly memoryBytes?: number;
  /** Tables of `lookup`, by name. */
  readonly lookupTables?: LookupTables;
  /** False decodes and parses every line, with the same result. For tests. */
  readonly usePrefilter?: boolean;
}

export interface ResultRow {
  /** In the order of the columns. */
  readonly values: readonly Value[];
  /** Pointer to the event; undefined after `stats`. */
  readonly pointer: string | undefined;
}

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly ResultRow[];
  /**
   * Events that pass the filters, before `stats`, `limit`, `dedup` and commands that multiply rows.
   */
  readonly matched: number;
  readonly counts: Readonly<LineCounts>;
  /** Events without a time, omitted from a time range. */
  readonly withoutTime: number;
  /** Remarks about the query itself. */
  readonly notices: readonly string[];
}

/** A range with a start; its end defaults to now. */
const rangeOf = ({ startMs, endMs, nowMs }: ExecutionOptions): TimeRange | undefined =>
  startMs === undefined ? undefined : { startMs, endMs: endMs ?? nowMs };

const usualLimit = 10_000;
const usualMemoryBytes = 256 * 1024 * 1024;
const noNeedles: Needles = { inValues: [], inText: [] };

export class Execution {
  readonly #options: ExecutionOptions;
  readonly #plan: Plan;
  /** Subqueries first; the query itself last. */
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
   * The logs to read one after the other, with `advance` in between; undefined is the query's own
   * log.
   */
  get sources(): readonly (string | undefined)[] {
    return this.#passes.map(({ source }) => source);
  }

  /** Moves to the next of `sources`; false when there is none. Throws QueryLimitError. */
  advance(): boolean {
    if (this.#at === this.#passes.length - 1) return false;
    this.#pass.first.finish();
    this.#at++;
    return true;
  }

  /**
   * Whether the counts of the current pass are reported: not for a subquery that reads the query's
   * own log.
   */
  get #isTold(): boolean {
    return this.#at === this.#passes.length - 1 || this.#pass.source !== undefined;
  }

  /** True when no more of this log is needed: `limit any` is satisfied. */
  get isDone(): boolean {
    return this.#pass.isDone();
  }

  /** Progress so far. */
  get progress(): { readonly lines: number; readonly bytes: number; readonly matched: number } {
    const { lines, bytes } = this.#counts;
    return { lines, bytes, matched: this.#matched };
  }

  /** A log as bytes, the first of which is at `offset`. `push` and `end` throw QueryLimitError. */
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
