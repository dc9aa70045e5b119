// The directory of a world holds its token, its CA key and its state. A world refuses it if other
// users can read or replace it, and never initializes it again because a file is missing or
// damaged.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dataDirAt, readSettings, writePrivate } from '../../src/main/data-dir.ts';

const root = mkdtempSync(join(tmpdir(), 'drover-private-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const bin = join(import.meta.dirname, '..', '..', 'bin', 'drover.mjs');

/**
 * Runs `drover up` until it prints that it is ready; rejects with its output if it ends earlier.
 */
const startAndStop = async (dataDir: string): Promise<string> => {
  const args = [bin, 'up', '--no-controller', '--port', '0', '--data-dir', dataDir];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [printed, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    const isReady = printed.includes('ready');
    printed += chunk;
    // One signal only: a second one ends the process before its state is closed.
    if (!isReady && printed.includes('ready')) child.kill('SIGTERM');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  await once(child, 'close');
  if (!printed.includes('ready')) throw new Error(errors);
  return printed;
};

const listed = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true }).map(String).toSorted();

describe('a directory that others could read or turn', () => {
  let path = '';
  beforeEach(() => {
    path = join(mkdtempSync(join(root, 'case-')), 'it');
  });
  const other = 12_345;
  const isRoot = process.getuid?.() === 0;

  const refused = async (words: RegExp): Promise<void> => {
    const before = existsSync(path) ? listed(path) : [];
    expect(() => readSettings(dataDirAt(path))).toThrow(words);
    await expect(startAndStop(path)).rejects.toThrow(words);
    expect(listed(path)).toEqual(before);
  };

  it('is refused where every user may write to it', async () => {
    mkdirSync(path);
    for (const mode of [0o777, 0o1777, 0o702]) {
      chmodSync(path, mode);
      await refused(/it can be written by every user; .*chmod 700.*--data-dir/);
    }
  });

  it('is refused where it is a link, even to a directory of one’s own', async () => {
    mkdirSync(`${path}.real`);
    symlinkSync(`${path}.real`, path);
    await refused(/it is a symbolic link; .*name the directory that the link points to/);
    expect(readdirSync(`${path}.real`)).toEqual([]);
  });

  it.runIf(isRoot)('is refused where it belongs to another user', async () => {
    mkdirSync(path);
    chownSync(path, other, other);
    await refused(/it belongs to another user \(uid 12345\); /);
  });

  it.runIf(isRoot)('is refused behind a link of another user, not behind one’s own', async () => {
    const real = `${path}.real`;
    mkdirSync(real);
    symlinkSync(real, `${path}.link`);
    expect(readSettings(dataDirAt(join(`${path}.link`, 'world')))).toBeUndefined();
    lchownSync(`${path}.link`, other, other);
    expect(() => readSettings(dataDirAt(join(`${path}.link`, 'world')))).toThrow(
      /it is reached through .*it\.link, a symbolic link of another user; .*by a path without that link/,
    );
  });
});

describe('a draft beside a file', () => {
  it('never writes through a link that lies in its place', () => {
    const dir = mkdtempSync(join(root, 'draft-'));
    const victim = join(dir, 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, join(dir, 'env.new'));
    writePrivate(join(dir, 'env'), 'text');
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(readFileSync(join(dir, 'env'), 'utf8')).toBe('text');
    const stats = lstatSync(join(dir, 'env'));
    expect([stats.isFile(), stats.mode & 0o777]).toEqual([true, 0o600]);
    expect(readdirSync(dir).toSorted()).toEqual(['env', 'victim']);
  });
});

describe('a world whose files are missing or damaged', () => {
  const whole = join(root, 'whole');
  beforeAll(async () => {
    expect(await startAndStop(whole)).toMatch(/^ready/);
  });

  const emptied = (file: string): void => truncateSync(file, 0);
  const removed = (file: string): void => rmSync(file);
  const withoutRows = (file: string): void => {
    const db = new DatabaseSync(file);
    db.exec('DELETE FROM rows');
    db.close();
  };
  const badRow = (file: string): void => {
    const db = new DatabaseSync(file);
    db.exec(`UPDATE rows SET value = '{' WHERE rowid = (SELECT max(rowid) FROM rows)`);
    db.close();
  };
  const cut = (file: string): void => truncateSync(file, 12_288);

  it.each([
    ['world.db', 'gone', removed, /world\.db is missing beside the files of a world: /],
    ['world.db', 'empty', emptied, /world\.db is empty beside the files of a world: /],
    ['world.db', 'without rows', withoutRows, /world\.db is empty beside the files of a world: /],
    ['world.db', 'with a bad row', badRow, /world\.db is damaged at row \S+ /],
    ['world.db', 'cut off', cut, /world\.db.*(?:is damaged at|malformed)/],
    ['pki.json', 'gone', removed, /pki\.json is missing beside the files of a world: /],
    ['pki.json', 'empty', emptied, /pki\.json is damaged \(/],
    [
      'pki.json',
      'of another program',
      (file: string) => writeFileSync(file, '{"ca": 1}'),
      /pki\.json is damaged \(/,
    ],
    ['settings.json', 'empty', emptied, /settings\.json cannot be read as settings of a world/],
  ])(
    '%s %s: is named with a remedy, and nothing is replaced',
    async (name, _what, spoil, words) => {
      const dir = mkdtempSync(join(root, 'spoilt-'));
      cpSync(whole, dir, { recursive: true });
      spoil(join(dir, name));
      const before = listed(dir);
      const remedy = /put .* back|move the directory away/;
      await expect(startAndStop(dir)).rejects.toThrow(words);
      await expect(startAndStop(dir)).rejects.toThrow(remedy);
      expect(listed(dir).filter((file) => !/-(?:wal|shm)$/.test(file))).toEqual(before);
    },
  );

  it('comes back whole when the file is put back', async () => {
    const dir = mkdtempSync(join(root, 'mended-'));
    cpSync(whole, dir, { recursive: true });
    rmSync(join(dir, 'world.db'));
    await expect(startAndStop(dir)).rejects.toThrow(/world\.db is missing/);
    copyFileSync(join(whole, 'world.db'), join(dir, 'world.db'));
    expect(await startAndStop(dir)).toMatch(/^ready .*resumed where it was/);
  });

  it('is begun where a crash left the settings alone', async () => {
    const dir = mkdtempSync(join(root, 'crashed-'));
    const settings = JSON.parse(readFileSync(join(whole, 'settings.json'), 'utf8'));
    writeFileSync(
      join(dir, 'settings.json'),
      JSON.stringify({ ...settings, frontPort: 0, kubePort: 0 }),
    );
    expect(await startAndStop(dir)).toMatch(/^ready/);
  });
});
