// Random queries over random logs, answered by this engine, by jq and by DuckDB: on what all three
// define the same way (numbers, text without natural order, fields that are there) the answers are
// equal. Each run has a fresh seed, told in the test's name; DROVER_SEED repeats one, DROVER_RUNS
// asks for more logs of ten questions.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Instant, type Value } from '../../src/insights/evaluate/values.ts';
import { execute } from '../builders/insights.ts';
import { joined } from './random-joins.ts';
import { type Asked, type Log, log, query } from './random-queries.ts';

const seed = Number(process.env.DROVER_SEED ?? Math.floor(Math.random() * 2 ** 31));
const hasJq = spawnSync('jq', ['--version']).status === 0;

const plain = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value);
  return value ?? null;
};
const shownValue = (value: Value): unknown => plain(value instanceof Instant ? value.ms : value);

const byUs = (asked: Asked, bytes: Uint8Array): readonly (readonly unknown[])[] =>
  execute(asked.ours, bytes).rows.map(({ values }) => values.map(shownValue));

const byJq = (asked: readonly Asked[], bytes: Uint8Array): readonly unknown[] => {
  const program = `[inputs] as $all | [${asked.map(({ jq }) => `(${jq})`).join(',\n')}]`;
  const { stdout, status, stderr } = spawnSync('jq', ['-n', '-c', program], {
    input: bytes,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`jq: ${stderr}\n${program}`);
  return JSON.parse(stdout) as readonly unknown[];
};

let instance: DuckDBInstance;
let duck: DuckDBConnection;
let dir = '';
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'drover-referees-'));
  instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  duck = await instance.connect();
});
afterAll(() => {
  duck?.closeSync();
  instance?.closeSync();
  rmSync(dir, { recursive: true, force: true });
});

const load = async (bytes: Uint8Array): Promise<void> => {
  const file = join(dir, 'log.ndjson');
  writeFileSync(file, bytes);
  const columns =
    "{seq: 'double', ms: 'double', verb: 'varchar', code: 'double', took: 'double', agent: 'varchar', resource: 'varchar', note: 'varchar', groups: 'varchar[]'}";
  await duck.run(
    `create or replace table log as select * from read_json('${file}', format = 'newline_delimited', columns = ${columns})`,
  );
};
const byDuck = async ({ sql }: Asked): Promise<readonly (readonly unknown[])[]> => {
  const rows = (await duck.runAndReadAll(sql)).getRows();
  return rows.map((row) => row.map(plain));
};

/** Sums of fractions depend on the order that they are added in. */
const isClose = (a: unknown, b: unknown): boolean =>
  a === b ||
  (typeof a === 'number' &&
    typeof b === 'number' &&
    Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)));
const areSame = (a: unknown, b: unknown): boolean =>
  Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((item, index) => areSame(item, b[index]))
    : isClose(a, b);

const bytesOf = (events: Log): Uint8Array =>
  Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
const question = fc.oneof({ arbitrary: query, weight: 6 }, joined);
const questions = fc.array(question, { minLength: 10, maxLength: 10 });
const runs = { seed, numRuns: Number(process.env.DROVER_RUNS ?? 25) } as const;

const expectSame = (asked: Asked, theirs: unknown, bytes: Uint8Array, who: keyof Asked): void => {
  const ours = byUs(asked, bytes);
  if (areSame(ours, theirs)) return;
  expect({ query: asked.ours, rows: ours }, `${asked[who]}`).toEqual({
    query: asked.ours,
    rows: theirs,
  });
};

describe('random queries', () => {
  it.skipIf(!hasJq)(`are answered as jq answers them (seed ${seed})`, () => {
    fc.assert(
      fc.property(log, questions, (events, asked) => {
        const bytes = bytesOf(events);
        for (const [index, theirs] of byJq(asked, bytes).entries()) {
          const question = asked[index];
          if (question !== undefined) expectSame(question, theirs, bytes, 'jq');
        }
      }),
      runs,
    );
  });

  it(`are answered as DuckDB answers them (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(log, questions, async (events, asked) => {
        const bytes = bytesOf(events);
        await load(bytes);
        for (const question of asked) {
          expectSame(question, await byDuck(question), bytes, 'sql');
        }
      }),
      runs,
    );
  });
});
