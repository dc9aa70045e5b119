import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLogFile } from '../../adapters/logs/index.ts';
import { epochMs } from '../../api/brand.ts';
import type { CliContext } from '../context.ts';
import { runQuery } from './query.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-subquery-'));
  const event = (name: string, verb: string) => `${JSON.stringify({ name, verb })}\n`;
  writeFileSync(join(dir, 'own.log'), `${event('a', 'get')}${event('b', 'get')}{"half`);
  writeFileSync(join(dir, 'other.log'), event('b', 'delete'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const run = async (query: string, files: readonly string[] = [join(dir, 'own.log')]) => {
  const told: string[] = [];
  const context: Partial<CliContext> = {
    out: (line) => told.push(line),
    err: (line) => told.push(line),
    progress: () => {},
    isTerminal: false,
    signal: new AbortController().signal,
    clock: { now: () => epochMs(0), sleep: () => Promise.reject(new Error('nobody sleeps')) },
    openLog: openLogFile,
  };
  await runQuery(context as CliContext, {}, { query, files, flags: { output: 'csv' } });
  return told;
};

describe('a subquery', () => {
  it('reads the file that SOURCE names, besides those of the query', async () => {
    const query = `filter name in (SOURCE '${join(dir, 'other.log')}' | fields name) | display name`;
    expect((await run(query)).slice(0, 2)).toEqual(['name', 'b']);
    await expect(run("filter a in (SOURCE '/none.log' | fields a)")).rejects.toThrow('/none.log');
  });

  it('reads the files of the query where it names none, and reports them once', async () => {
    const told = await run('filter name not in (filter name = "a" | fields name) | display name');
    expect(told.slice(0, 2)).toEqual(['name', 'b']);
    expect(told.filter((line) => line.includes('last line'))).toHaveLength(1);
    expect(told.at(-1)).toMatch(/^1 row; 1 of 3 events matched/);
  });

  it('of a join reads the file that SOURCE names before those of the query', async () => {
    const query = (type: string) =>
      `join type=${type} left=mine right=theirs where mine.name = theirs.name (SOURCE '${join(dir, 'other.log')}')
       | fields mine.name, theirs.verb | sort mine.name`;
    expect((await run(query('inner'))).slice(0, 2)).toEqual(['mine.name,theirs.verb', 'b,delete']);
    expect((await run(query('left'))).slice(1, 4)).toEqual(['a,', 'b,delete', ',']);
  });

  it('of appendcols reads a file of its own, too', async () => {
    const query = `sort name | fields name | appendcols (SOURCE '${join(dir, 'other.log')}' | fields verb)`;
    expect((await run(query)).slice(0, 4)).toEqual(['name,verb', 'a,delete', 'b,', ',']);
  });

  it('is refused where standard input would be read twice', async () => {
    await expect(run('filter a in (fields a)', ['-'])).rejects.toThrow('can be read once');
  });
});
