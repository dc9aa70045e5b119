// One SQL statement in DuckDB, its rows as JSON lines: what its command line would print, for it is
// not on every machine. Its own process, so that its start and its memory are measured like
// everybody's.
import { DuckDBInstance } from '@duckdb/node-api';

const sql = process.argv[2] ?? '';
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const result = await connection.stream(sql);
for await (const rows of result.yieldRowsJson()) {
  process.stdout.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}
