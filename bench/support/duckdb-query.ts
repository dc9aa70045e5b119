// One SQL statement in DuckDB with its rows as JSON lines, like DuckDB's command line, which not
// every machine has. A process of its own, so that start and memory are measured as for the others.
import { DuckDBInstance } from '@duckdb/node-api';

const sql = process.argv[2] ?? '';
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const result = await connection.stream(sql);
for await (const rows of result.yieldRowsJson()) {
  process.stdout.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}
