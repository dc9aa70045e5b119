// Types shared by the planners of queries, subqueries and commands. Data only, created by plan.ts.
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
   * Maximum number of rows for a query without `limit`; undefined when their order does not matter.
   */
  readonly defaultLimit: number | undefined;
  /** Called for each event that passes the filters. */
  readonly onMatch: () => void;
  /** Called once when no further event can change the result. */
  readonly onDone: () => void;
  /** The requested time range; undefined when it has no start. */
  readonly range: TimeRange | undefined;
  readonly lookupTables: LookupTables;
}

export interface Plan {
  /** The first stage of a chain that ends in `sink`. */
  readonly connect: (sink: Stage) => Stage;
  readonly columns: readonly Column[];
  /** Names that are defined at the end. */
  readonly names: Names;
  /** True when rows are events: each has a `@ptr`. */
  readonly hasPointers: boolean;
  /** Some notices are found only during evaluation. */
  readonly notices: () => readonly string[];
  /** The previous range, whose events `diff` needs too. */
  readonly alsoWithin: TimeRange | undefined;
  /** Subqueries, each read before the query. */
  readonly passes: readonly Pass[];
}

export type Planning = (query: Query, options: PlanOptions) => Plan;

/** One reading of a log from start to end. */
export interface Pass {
  /** The log; undefined for the query's own. */
  readonly source: string | undefined;
  readonly query: Query;
  readonly first: Stage;
  readonly alsoWithin: TimeRange | undefined;
  readonly isDone: () => boolean;
}
