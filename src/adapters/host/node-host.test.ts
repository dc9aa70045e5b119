// The agent's view of this machine: truncated and refused files, programs limited in time and
// output, non-blocking log reads, a bundle that tar can read.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NodeHostError, type ProgramOptions } from '../../ports/index.ts';
import { createBundleFile, createNodeHost, removeOldBundles } from './index.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-node-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const machine = () => createNodeHost({ root: '/', recordFile: join(directory, 'record.json') });
const options: ProgramOptions = { timeoutMs: 20_000, maxBytes: 1_000 };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const codeOf = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    await run();
  } catch (error) {
    if (error instanceof NodeHostError) return error.code;
    throw error;
  }
  return 'no error';
};

describe('files', () => {
  it('are read, cut, listed and absent', async () => {
    writeFileSync(join(directory, 'f'), 'x'.repeat(5_000));
    expect(await machine().read(join(directory, 'f'), { maxBytes: 10 })).toBe('x'.repeat(10));
    expect(await machine().read(join(directory, 'g'))).toBeUndefined();
    expect(await machine().list(directory)).toEqual(['f']);
    expect(await machine().list(join(directory, 'nowhere'))).toEqual([]);
    expect(await machine().read('/proc/self/nothing')).toBeUndefined();
    expect(await machine().read('/proc/self/comm')).toMatch(/\n$/);
    expect(await codeOf(() => machine().read(directory))).toBe('failed');
  });

  it('of another root are those below it', async () => {
    mkdirSync(join(directory, 'etc'));
    writeFileSync(join(directory, 'etc/os-release'), 'ID=other\n');
    const host = createNodeHost({ root: directory, recordFile: '/dev/null' });
    expect(await host.read('/etc/os-release')).toBe('ID=other\n');
    expect(await host.list('/etc')).toEqual(['os-release']);
  });

  it('that grow are read on', async () => {
    const path = join(directory, 'log');
    writeFileSync(path, 'one\ntwo\n');
    const first = await machine().readFrom(path, { offset: 0, maxBytes: 100 });
    expect(first).toMatchObject({ size: 8, end: 8, text: 'one\ntwo\n' });
    writeFileSync(path, 'one\ntwo\nthree\n');
    const second = await machine().readFrom(path, { offset: 8, maxBytes: 100 });
    expect(second).toMatchObject({ id: first?.id, text: 'three\n' });
  });

  it('can be tried for writing, and nothing is left', async () => {
    expect(await machine().tryWrite(directory)).toBe('written');
    expect(await machine().list(directory)).toEqual([]);
    expect(await machine().tryWrite(join(directory, 'nowhere'))).toBe('not-there');
  });

  it('of the record are whole', async () => {
    expect(await machine().readRecord()).toBeUndefined();
    await machine().writeRecord('{"a":1}');
    expect(await machine().readRecord()).toBe('{"a":1}');
    expect(statSync(join(directory, 'record.json')).mode & 0o777).toBe(0o600);
  });
});

describe('programs', () => {
  it('end with a code, output and errors', async () => {
    const outcome = await machine().run('sh', ['-c', 'echo hi; echo no >&2; exit 3'], options);
    expect(outcome).toMatchObject({ kind: 'ended', code: 3, errors: 'no\n', isCut: false });
    expect(outcome.kind === 'ended' && text(outcome.output)).toBe('hi\n');
  });

  it('that do not exist are missing', async () => {
    expect(await machine().run('drover-no-such-program', [], options)).toEqual({ kind: 'missing' });
  });

  it('that do not end are late, and killed', async () => {
    const begun = performance.now();
    const outcome = await machine().run('sleep', ['100'], { ...options, timeoutMs: 200 });
    expect(outcome).toEqual({ kind: 'late' });
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it('that print without end are cut', async () => {
    const words = ['-c', 'head -c 1000000 /dev/zero | tr "\\0" x'];
    const outcome = await machine().run('sh', words, options);
    expect(outcome).toMatchObject({ kind: 'ended', isCut: true });
    expect(outcome.kind === 'ended' && outcome.output.length).toBe(1_000);
  });

  it('give only the lines that are asked for', async () => {
    const words = ['-c', 'seq 1 100000; printf last9'];
    const keepLine = (line: string): boolean => line.endsWith('99999') || line.startsWith('last');
    const outcome = await machine().run('sh', words, { ...options, keepLine });
    expect(outcome.kind === 'ended' && text(outcome.output)).toBe('99999\nlast9');
  });
});

describe('logs', () => {
  it('of the kernel are read to their end without waiting, where they may be', async (test) => {
    const opened = await machine()
      .openKernelLog({})
      .catch((error: unknown) => error as Error);
    if (opened instanceof Error) return test.skip(opened.message);
    const { entries } = opened.read(1_000_000);
    if (opened.source === 'kmsg') expect(entries.length).toBeGreaterThan(0);
    expect(opened.read(10).entries.length).toBeLessThan(10);
    opened.close();
  });

  it('of the kernel go on after a record, and say how many were lost', async (test) => {
    const opened = await machine()
      .openKernelLog({})
      .catch((error: unknown) => error as Error);
    if (opened instanceof Error) return test.skip(opened.message);
    if (opened.source !== 'kmsg') return test.skip('there is no /dev/kmsg');
    const sequences = opened.read(1_000_000).entries.map((one) => Number(one.split(',')[1]));
    opened.close();
    const [first = 0, second = 0, third = 0] = sequences;
    const again = await machine().openKernelLog({ afterSequence: second });
    expect(again.read(1)).toMatchObject({ lost: 0 });
    again.close();
    const late = await machine().openKernelLog({ afterSequence: first - 18 });
    const { entries, lost } = late.read(1);
    late.close();
    expect(Number(entries[0]?.split(',')[1])).toBeLessThanOrEqual(third);
    expect(lost).toBeGreaterThanOrEqual(17);
  });

  it('of the kernel count nothing by a record that has no number', async () => {
    mkdirSync(join(directory, 'dev'));
    writeFileSync(join(directory, 'dev/kmsg'), 'no record');
    const host = createNodeHost({ root: directory, recordFile: '/dev/null' });
    const reader = await host.openKernelLog({ afterSequence: 5 });
    expect(reader.read(1)).toEqual({ entries: ['no record'], lost: 0 });
    reader.close();
  });

  it('of the journal that end are told as failed', async (test) => {
    const host = machine();
    const reader = await host
      .openJournal({ units: ['a.service'], identifiers: ['b'], afterCursor: 'no cursor' })
      .catch((error: unknown) => error as Error);
    if (reader instanceof Error) return test.skip(reader.message);
    const read = async (): Promise<string> => codeOf(async () => reader.read(10));
    for (let n = 0; n < 100 && (await read()) === 'no error'; n++) await sleep(50);
    expect(await read()).toBe('failed');
    reader.close();
  });
});

describe('HTTP', () => {
  it('to nothing is unreachable', async () => {
    expect(await codeOf(() => machine().httpGet('http://127.0.0.1:1/healthz', 1_000))).toBe(
      'unreachable',
    );
  });
});

describe('a bundle', () => {
  it('is an archive that tar reads, for its owner alone', async () => {
    const path = join(directory, 'b.tar.gz');
    const writer = createBundleFile(path);
    await writer.add('commands/a.txt', new TextEncoder().encode('hello\n'));
    await writer.add('empty', new Uint8Array());
    await writer.add('big', new Uint8Array(200_000).fill(120));
    const size = await writer.end();
    expect(size).toBe(statSync(path).size);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const list = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' });
    expect(list).toBe('commands/a.txt\nempty\nbig\n');
    const one = execFileSync('tar', ['-xzOf', path, 'commands/a.txt'], { encoding: 'utf8' });
    expect(one).toBe('hello\n');
  });

  it('is deleted when newer ones of its node are enough', async () => {
    const old = ['b_1', 'b_2', 'b_3', 'b-2_1'].map((name) => `${name}.tar.gz`);
    for (const [index, name] of [...old, 'b_4.tar.gz.part', 'other'].entries()) {
      writeFileSync(join(directory, name), '');
      utimesSync(join(directory, name), 1_000 + index, 1_000 + index);
    }
    await removeOldBundles({ directory, prefix: 'b_', kept: 2 });
    const left = ['b-2_1.tar.gz', 'b_2.tar.gz', 'b_3.tar.gz', 'other'];
    expect(readdirSync(directory).toSorted()).toEqual(left);
    const nowhere = { directory: join(directory, 'nowhere'), prefix: 'b_', kept: 2 };
    expect(await codeOf(() => removeOldBundles(nowhere))).toBe('failed');
  });

  it('that cannot be written is an error, and nothing is left', async () => {
    const writer = createBundleFile(join(directory, 'nowhere', 'b.tar.gz'));
    await sleep(50);
    expect(await codeOf(() => writer.add('a', new Uint8Array(1)))).toBe('failed');
    expect(await machine().list(directory)).toEqual([]);
  });
});
