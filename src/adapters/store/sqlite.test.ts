import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../ports/index.ts';
import { openSqliteStore } from './sqlite.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-store-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
  return 'no error';
};

describe('the SQLite store', () => {
  it('gives back what was committed, and forgets what was deleted', () => {
    const file = join(dir, 'world.db');
    const first = openSqliteStore(file);
    first.commit([
      { table: 'a', key: '1', value: { x: 1 } },
      { table: 'a', key: '2', value: { x: 2 } },
    ]);
    first.commit([
      { table: 'a', key: '1', value: undefined },
      { table: 'b', key: '1', value: { y: [true, null] } },
    ]);
    first.close();
    const second = openSqliteStore(file);
    expect([...second.load()]).toEqual([
      { table: 'a', key: '2', value: { x: 2 } },
      { table: 'b', key: '1', value: { y: [true, null] } },
    ]);
    second.close();
  });

  it('refuses a second process on the same file', () => {
    const file = join(dir, 'world.db');
    const first = openSqliteStore(file);
    expect(codeOf(() => openSqliteStore(file))).toBe('locked');
    first.close();
  });

  it('leaves a foreign database and a newer one untouched', () => {
    const foreign = join(dir, 'foreign.db');
    const other = new DatabaseSync(foreign);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    expect(codeOf(() => openSqliteStore(foreign))).toBe('foreign');
    const newer = join(dir, 'newer.db');
    openSqliteStore(newer).close();
    const db = new DatabaseSync(newer);
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect(codeOf(() => openSqliteStore(newer))).toBe('newer');
  });

  it('says that a file is no database', () => {
    const file = join(dir, 'text.db');
    writeFileSync(file, 'this is a letter, not a database. '.repeat(40));
    expect(codeOf(() => openSqliteStore(file))).toBe('corrupt');
  });
});
