// What the planners of queries, subqueries and commands tell each other. Data alone: plan.ts makes
// it.
import type { Names, Read } from './evaluate/row.ts';
import type { Query } from './language/ast.ts';
import type { LookupTables } from './lookup-table.ts';
import type { TimeRange } from './patterns/periods.ts';
import type { MemoryBudget } from './stages/budget.ts';
import type { Stage } from './stages/stage.ts';

export interface Column {
  readonly name: string;
  readonly read: Read;
}

export interface PlanOptions {
  readonly nowMs: number;
  readonly budget: MemoryBudget;
  /**
   * Rows at most where the query itself has no `limit`; undefined where their order is of no use.
   */
  readonly defaultLimit: number | undefined;
  /** Told of each event that the filters let through. */
  readonly onMatch: () => void;
  /** Told once no event more can change the result. */
  readonly onDone: () => void;
  /** The time range asked for; undefined where it has no beginning. */
  readonly range: TimeRange | undefined;
  readonly lookupTables: LookupTables;
}

export interface Plan {
  /** The first stage of a chain that ends in `sink`. */
  readonly connect: (sink: Stage) => Stage;
  readonly columns: readonly Column[];
  /** What can be named at the end. */
  readonly names: Names;
  /** True when rows are events: each has a `@ptr`. */
  readonly hasPointers: boolean;
  /** Some are found only while rows come. */
  readonly notices: () => readonly string[];
  /** The range before, of which `diff` needs the events too. */
  readonly alsoWithin: TimeRange | undefined;
  /** Subqueries, each to be read before the query. */
  readonly passes: readonly Pass[];
}

export type Planning = (query: Query, options: PlanOptions) => Plan;

/** One reading of a log from front to back. */
export interface Pass {
  /** The log; undefined where it is what the query reads. */
  readonly source: string | undefined;
  readonly query: Query;
  readonly first: Stage;
  readonly alsoWithin: TimeRange | undefined;
  readonly isDone: () => boolean;
}
