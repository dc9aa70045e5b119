// The world's rows in one SQLite file (node:sqlite). Survives a killed process at any point; a
// power cut may lose the last seconds, as documented. Never interprets a row.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Json } from '../../api/json.ts';
import { type RowChange, type Store, StoreError } from '../../ports/index.ts';

/** "DRVR" in hex: identifies the file as Drover's (PRAGMA application_id). */
const applicationId = 0x44525652;
/** Raised when the meaning of rows changes; an older Drover refuses a newer file. */
const formatVersion = 1;
/** No wait: a second process fails at once instead of waiting for the first. */
const busyTimeoutMs = 0;

const codeOf = (error: unknown): StoreError['code'] => {
  const text = error instanceof Error ? error.message : String(error);
  if (/disk is full|database or disk is full|ENOSPC/i.test(text)) return 'full';
  if (/locked|busy/i.test(text)) return 'locked';
  if (/not a database|malformed|corrupt/i.test(text)) return 'corrupt';
  return 'unwritable';
};

const remedy: Readonly<Record<StoreError['code'], string>> = {
  full: 'free some space and start again; nothing was half-written',
  locked: 'another drover runs on it: `drover env` says where it answers, `drover down` stops it',
  corrupt: 'put a copy of it back, move the directory away, or pass another --data-dir',
  unencodable: 'the state on disk is that of the last commit; report this as a bug of drover',
  unwritable: 'check that the directory exists and that you may write to it',
  foreign: "pass another --data-dir; this file is not Drover's and is left untouched",
  newer: 'start it with the newer drover that wrote it, or pass another --data-dir',
};

const fail = (code: StoreError['code'], what: string, cause?: unknown): never => {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  throw new StoreError(code, `${what}${why}: ${remedy[code]}`, { cause });
};

const pragma = (db: DatabaseSync, name: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);

const textOf = ({ table, key, value }: RowChange): string | undefined => {
  if (value === undefined) return undefined;
  try {
    return JSON.stringify(value);
  } catch (error) {
    return fail('unencodable', `${table} ${key} cannot be written as JSON`, error);
  }
};

class SqliteStore implements Store {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #put: StatementSync;
  readonly #drop: StatementSync;
  constructor(db: DatabaseSync, file: string) {
    this.#db = db;
    this.#file = file;
    this.#put = db.prepare(
      'INSERT INTO rows (tbl, key, value) VALUES (?, ?, ?) ' +
        'ON CONFLICT (tbl, key) DO UPDATE SET value = excluded.value',
    );
    this.#drop = db.prepare('DELETE FROM rows WHERE tbl = ? AND key = ?');
  }

  *load(): Iterable<{ table: string; key: string; value: Json }> {
    let reading = 'its first row';
    try {
      const rows = this.#db.prepare('SELECT tbl, key, value FROM rows ORDER BY rowid').iterate();
      for (const row of rows) {
        const [table, key] = [String(row.tbl), String(row.key)];
        reading = `row ${table} ${key}`;
        yield { table, key, value: JSON.parse(String(row.value)) as Json };
      }
    } catch (error) {
      fail('corrupt', `${this.#file} is damaged at ${reading}`, error);
    }
  }

  commit(changes: readonly RowChange[]): void {
    // Serializes before the disk is used, so that a serialization error is not reported as a disk
    // error.
    const texts = changes.map((change) => textOf(change));
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      for (const [i, { table, key }] of changes.entries()) {
        const text = texts[i];
        if (text === undefined) this.#drop.run(table, key);
        else this.#put.run(table, key, text);
      }
      this.#db.exec('COMMIT');
    } catch (error) {
      try {
        this.#db.exec('ROLLBACK');
      } catch {
        // SQLite has already rolled back; the first error is the relevant one.
      }
      fail(codeOf(error), `cannot write the world's state to ${this.#file}`, error);
    }
  }

  close(): void {
    this.#db.close();
  }
}

/** Opens or creates the store at `file`; throws StoreError with file, reason and remedy. */
export const openSqliteStore = (file: string): Store => {
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    const isNew = !existsSync(file);
    db = new DatabaseSync(file, { timeout: busyTimeoutMs });
    const id = pragma(db, 'application_id');
    const tables = Number(
      Object.values(db.prepare('SELECT count(*) FROM sqlite_master').get() ?? {})[0] ?? 0,
    );
    if (!isNew && id !== applicationId && tables > 0) {
      fail('foreign', `${file} is a database of another program`);
    }
    if (pragma(db, 'user_version') > formatVersion) {
      fail('newer', `${file} was written by a newer drover`);
    }
    // WAL without fsync: a killed process loses nothing, and a commit costs microseconds.
    db.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${formatVersion};
      CREATE TABLE IF NOT EXISTS rows (
        tbl TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (tbl, key));`);
    return new SqliteStore(db, file);
  } catch (error) {
    db?.close();
    if (error instanceof StoreError) throw error;
    const code = codeOf(error);
    if (code === 'locked') return fail(code, `the world's state at ${file} is in use`);
    return fail(code, `cannot open the world's state at ${file}`, error);
  }
};
