// Public entry of the store adapter.
export { openSqliteStore } from './sqlite.ts';
