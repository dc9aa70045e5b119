// Public entry of the Logs Insights query language: parse, evaluate over logs, explain errors.

export { compileCondition } from './condition.ts';
export {
  cloudFieldCap,
  type FieldCap,
  LogEvent,
  type LogSource,
  readPointer,
} from './evaluate/event.ts';
export { toJson, toText, type Value } from './evaluate/values.ts';
export { Execution, type QueryResult, type ResultRow } from './execution.ts';
export { parseQuery } from './language/parse.ts';
export { explainQueryError, QueryError, QueryLimitError } from './language/query-error.ts';
export { LineFeed, noLines } from './lines.ts';
export { type LookupTable, type LookupTables, readLookupTable } from './lookup-table.ts';
