import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLogFile } from '../../adapters/logs/index.ts';
import { epochMs } from '../../api/brand.ts';
import type { CliContext } from '../context.ts';
import { visible } from '../visible.ts';
import { parseMoment } from './moment.ts';
import { type QueryFlags, runQuery, streamOf } from './query.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-query-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const nowMs = Date.UTC(2022, 8, 25, 14);
const event = (second: number, verb: string) =>
  `${JSON.stringify({ stageTimestamp: `2022-09-25T13:58:0${second}Z`, verb })}\n`;

interface Told {
  readonly out: string;
  readonly err: string;
  readonly error: unknown;
}

const run = async (
  query: string,
  contents: Readonly<Record<string, string | Uint8Array>>,
  flags: Partial<QueryFlags> = {},
  more: Partial<CliContext> = {},
): Promise<Told> => {
  const files = Object.entries(contents).map(([name, content]) => {
    const path = join(dir, name);
    writeFileSync(path, content);
    return path;
  });
  const [out, err]: [string[], string[]] = [[], []];
  const context: Partial<CliContext> = {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    progress: () => {},
    isTerminal: false,
    signal: new AbortController().signal,
    clock: { now: () => epochMs(nowMs), sleep: () => Promise.reject(new Error('nobody sleeps')) },
    openLog: openLogFile,
    ...more,
  };
  let error: unknown;
  try {
    const request = { query, files, flags: { output: 'csv', ...flags } } as const;
    await runQuery(context as CliContext, {}, request);
  } catch (caught) {
    error = caught;
  }
  return { out: out.join('\n'), err: err.join('\n'), error };
};

describe('drover logs query', () => {
  it('reads several files, compressed ones by their bytes, each as a stream', async () => {
    const { out, err } = await run('fields verb, @logStream | sort @timestamp', {
      'a.log': event(2, 'get'),
      'kube-apiserver-audit-x.log': Buffer.concat([
        gzipSync(event(1, 'list')),
        gzipSync(event(3, 'watch')),
      ]),
    });
    expect(out).toBe(
      'verb,@logStream\nlist,kube-apiserver-audit-x\nget,kube-apiserver-audit-a\nwatch,kube-apiserver-audit-x',
    );
    expect(err).toBe('3 rows; 3 of 3 events matched (0.2 kB scanned)');
    expect(streamOf('/var/log/kube-scheduler-7.log.gz')).toBe('kube-scheduler-7');
    expect(streamOf('a/audit.log.zst')).toBe('kube-apiserver-audit-audit');
    expect(streamOf('-')).toBe('kube-apiserver-audit-stdin');
  });

  it('prints a table, JSON with its kind, and CSV that a spreadsheet takes', async () => {
    const log = { 'a.log': event(1, 'a,"b"') };
    expect((await run('fields verb', log)).out).toBe('verb\n"a,""b"""');
    expect((await run('fields verb, missing, @timestamp', log, { output: 'table' })).out).toBe(
      ['verb   missing  @timestamp', 'a,"b"           2022-09-25 13:58:01.000'].join('\n'),
    );
    const shown: unknown = JSON.parse(
      (await run('stats count(*) as n by verb, x', log, { output: 'json' })).out,
    );
    expect(shown).toEqual({
      apiVersion: 'cli.drover.dev/v1',
      kind: 'LogQueryResult',
      columns: ['verb', 'x', 'n'],
      rows: [{ verb: 'a,"b"', n: 1 }],
      statistics: { recordsMatched: 1, recordsScanned: 1, bytesScanned: 59 },
      notices: [],
    });
  });

  it('reads compressed logs of many blocks whole, each line once', async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => event(index % 10, `v${index}`));
    const { out } = await run('stats count(*) as n, count_distinct(verb) as d', {
      'b.gz': gzipSync(lines.slice(0, 20_000).join('')),
      'c.log': zstdCompressSync(lines.slice(20_000).join('')),
    });
    expect(out).toBe('n,d\n30000,30000');
    const { error } = await run('limit 1', { 'd.bz2': Buffer.from('BZh91AY&SY') });
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(/bzip2.*bzcat/) });
  });

  it('gives names to that many fields as asked for, and says what it left out', async () => {
    const log = { 'a.log': '{"a":1,"b":{"c":[2,3]},"d":4}\n{"d":5}\n' };
    const { out, err } = await run('fields a, b.c.0, b.c.1, d | sort d', log, { fieldCap: '2' });
    expect(out).toBe('a,b.c.0,b.c.1,d\n,,,5\n1,2,,');
    expect(err).toMatch(/^! 1 event has more than 2 fields: .*--field-cap none/m);
    expect((await run('fields d | sort d', log, { fieldCap: 'none' })).out).toBe('d\n4\n5');
    expect((await run('fields d', log, { fieldCap: 'many' })).error).toMatchObject({ exitCode: 2 });
  });

  it('evaluates what came before damage, and fails', async () => {
    const whole = gzipSync(
      Array.from({ length: 3000 }, (_, index) => event(index % 10, `v${index}`)).join(''),
    );
    const { out, err, error } = await run('stats count(*) as n', {
      'b.gz': whole.subarray(0, whole.length - 40),
    });
    expect(Number(out.split('\n')[1])).toBeGreaterThan(100);
    expect(err).toMatch(
      /b\.gz is damaged or cut off \(unexpected end of file\); what came before it was read/,
    );
    expect(error).toMatchObject({ exitCode: 1 });
  });

  it('counts lines that are no JSON, bad text and a last line without an end', async () => {
    const odd = Buffer.concat([
      Buffer.from('plain\n'),
      Buffer.from([0xe4, 0x0a]),
      Buffer.from('{"verb":"ge'),
    ]);
    const { out, err } = await run('fields @message | limit 5', { 'a.log': odd });
    expect(out).toBe('@message\nplain\n\ufffd\n"{""verb"":""ge"');
    expect(err).toContain('! 3 lines are no JSON object: only @message stands for them');
    expect(err).toContain('! 1 line has bytes that are no UTF-8');
    expect(err).toContain('! 1 log ends without a line break');
    // Text that looks like JSON but is not is counted where it is parsed, once, even if a kept row
    // is parsed again.
    const broken = { 'b.log': '{"verb": }\n{"verb":"get"}\n' };
    const told = await run('fields verb | sort verb | limit 2', broken);
    expect([told.out, told.err]).toEqual([
      'verb\nget\n',
      '! 1 line is no JSON object: only @message stands for them\n2 rows; 2 of 2 events matched (0.0 kB scanned)',
    ]);
  });

  it('takes blanks around an object for nothing', async () => {
    const log = { 'a.log': '  {"verb":"get"}\n\t{"verb":"list"} \t\r\n' };
    const { out, err } = await run('fields verb | sort verb', log);
    expect(out).toBe('verb\nget\nlist');
    expect(err).toBe('2 rows; 2 of 2 events matched (0.0 kB scanned)');
    const passed = await run('filter verb = "list" | fields verb', log);
    expect(passed.err).toBe('1 row; 1 of 2 events matched (0.0 kB scanned)');
  });

  it('looks up in CSV files, and says what is wrong with one', async () => {
    const log = { 'a.log': event(1, 'get') + event(2, 'patch') };
    const query =
      'sort @timestamp asc | lookup kinds verb as verb OUTPUT kind | display verb, kind';
    const tables: Readonly<Record<string, string>> = {
      'k.csv': 'verb,kind\nget,reads\n',
      'twice.csv': 'a,a\n',
      'large.csv': `a\n${'x'.repeat(11_000_000)}\n`,
    };
    for (const [name, text] of Object.entries(tables)) writeFileSync(join(dir, name), text);
    const asked = (...pairs: readonly string[]) => {
      const lookupTable = pairs.map((pair) => pair.replace('=', `=${dir}/`));
      return run(query, log, { lookupTable });
    };
    expect((await asked('kinds=k.csv')).out).toBe('verb,kind\nget,reads\npatch,');
    for (const [pairs, words] of [
      [[], 'no lookup table called kinds'],
      [['kinds'], '--lookup-table takes NAME=FILE'],
      [['a=k.csv', 'a=k.csv'], 'two lookup tables are called a'],
      [['kinds=none.csv'], /cannot read the lookup table \S+none\.csv: ENOENT/],
      [['kinds=twice.csv'], 'twice.csv cannot be read: two columns are called a'],
      [['kinds=large.csv'], 'larger than 10 MB'],
    ] as const) {
      const { error } = await asked(...pairs);
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(words) });
    }
  });

  it('reads of a lookup table without an end no more than it may have', async () => {
    let chunks = 0;
    const endless = async function* () {
      for (; ; chunks++) yield Buffer.alloc(1024 * 1024);
    };
    let isClosed = false;
    const close = async () => {
      isClosed = true;
    };
    const openLog = async (name: string) => {
      const packing = () => undefined;
      return { name, size: undefined, position: () => 0, packing, chunks: endless, close };
    };
    const flags = { lookupTable: ['t=/dev/zero'] };
    const { error } = await run('fields verb', { 'a.log': '' }, flags, { openLog });
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining('than 10 MB') });
    expect([chunks, isClosed]).toEqual([10, true]);
  });

  it('reads no further than limit any needs', async () => {
    const megabytes = event(1, 'get').repeat(60_000);
    const log = { 'a.log': megabytes, 'b.log': '{"verb":"cut off' };
    const { out, err } = await run('limit any 2 | fields verb', log);
    expect(out).toBe('verb\nget\nget');
    const [, matched, lines] = /^2 rows; (\d+) of (\d+) events matched/.exec(err) ?? [];
    expect(Number(matched)).toBe(2);
    expect(Number(lines)).toBeLessThan(30_000);
  });

  it('says what a file of another format is, and how to make lines of it', async () => {
    const of = async (text: string | Uint8Array, name = 'a.json') =>
      (await run('stats count(*)', { [name]: text })).err.replaceAll(dir, 'logs');
    expect(await of('{"Records":[{"eventName":"x"}]}')).toContain(
      '! logs/a.json is one JSON document (a CloudTrail file), not a line for each event: ' +
        "`jq -c '.Records[]' logs/a.json | drover logs ... -`",
    );
    expect(await of('{\n  "apiVersion": "v1",\n  "items": []\n}\n')).toContain(
      "`jq -c '.items[]' logs/a.json | drover logs ... -`",
    );
    expect(await of('[\n  {"a": 1}\n]\n')).toContain(
      "`jq -c '.[]' logs/a.json | drover logs ... -`",
    );
    expect(await of('{\n "a": 1\n}\n{\n')).toContain("`jq -c '.' logs/a.json | drover logs ... -`");
    const trail = '{"Records":[]}';
    const unpacked = "| jq -c '.Records[]' | drover logs ... -`";
    expect(await of(gzipSync(trail), 'a.json.gz')).toContain(
      `\`gzip -dc < logs/a.json.gz ${unpacked}`,
    );
    expect(await of(zstdCompressSync(trail), 'b')).toContain(`\`zstd -dc < logs/b ${unpacked}`);
    expect(await of(trail, "a;id 'x'.json")).toContain(` 'logs/a;id '\\''x'\\''.json' | drover`);
    for (const lines of ['{"verb":"get","items":[]}\n{"verb":"list"}\n', '[INFO] {\n', '[]\n']) {
      expect(await of(lines)).not.toContain('document');
    }
  });

  it('says that it counts some of the broken lines where the query passes lines over', async () => {
    const log = { 'a.log': '{"verb":"get",}\n{"verb":"list",}\n{"verb":"watch"}\n' };
    const counted = async (query: string) =>
      /^! .*no JSON object/m.exec((await run(query, log)).err)?.[0];
    expect(await counted('fields verb')).toBe('! 2 lines are no JSON object');
    expect(await counted('filter verb = "get"')).toBe('! at least 1 line is no JSON object');
    expect(await counted('filter verb = "watch"')).toBeUndefined();
    const plain = { 'a.log': 'plain\n{"verb":"get"}\n' };
    expect((await run('stats count(*) as n', plain)).err).toContain('! at least 1 line is');
    expect((await run('fields verb', plain)).err).toContain('! 1 line is no JSON object');
  });

  it('never lets the name of a file move the cursor', async () => {
    const name = 'a\u001b[2J\u202e.log';
    const packed = await run('limit 1', { [name]: Buffer.from('BZh91AY&SY') });
    const cut = await run('limit 1', { [name]: gzipSync(event(1, 'a')).subarray(0, 20) });
    const openLog = (path: string) => openLogFile(`${path}.missing`);
    const missing = await run('limit 1', { [name]: '' }, {}, { openLog });
    for (const text of [String(packed.error), cut.err, String(missing.error)]) {
      expect(text).toContain('a\\u001b[2J\\u202e.log');
      expect(text).not.toContain('\u001b');
    }
  });

  it.each([
    ['BZh91AY&SY', 'bzip2: unpack it first, `... | bzcat | drover logs ... -`'],
    ['PK\u0003\u0004', 'zip: unpack it first, write it to a file, then `unzip -p FILE | drover'],
  ])('says how to unpack standard input that begins with %j', (bytes, how) => {
    const path = join(dir, 'stdin');
    writeFileSync(path, bytes);
    const file = fileURLToPath(new URL('../../adapters/logs/index.ts', import.meta.url));
    const script = `import { openLogFile } from ${JSON.stringify(file)};
      const input = await openLogFile('-');
      try { for await (const chunk of input.chunks()) void chunk; } catch (e) { console.log(e.message); }`;
    const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      stdio: [openSync(path, 'r'), 'pipe', 'inherit'],
      encoding: 'utf8',
    });
    expect(told).toContain(`standard input is packed with ${how}`);
  });

  it('reads UTF-16, a byte order mark, Windows line ends and lines of an export', async () => {
    const query = 'stats count(*) as n by verb, @timestamp';
    const line = '{"verb":"get"}';
    const exported = `2022-09-25T13:58:01.000Z ${line}\r\n`;
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(exported, 'utf16le')]);
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(exported)]);
    const { out, err } = await run(query, { 'a.log': utf16, 'b.log': marked, 'c.log': exported });
    expect(out).toBe('verb,@timestamp,n\nget,2022-09-25 13:58:01.000,3');
    expect(err).not.toContain('no JSON');
  });

  it('never lets a log move the cursor', async () => {
    const evil = {
      'a.log': `${JSON.stringify({ verb: '\u001b[2J\u009b31m\u202e\r\nx' })}\n\u001b]0;title\u0007\n`,
    };
    for (const output of ['table', 'csv', 'json'] as const) {
      const { out } = await run('fields verb, @message', evil, { output });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there.
      expect(out.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
      expect(out).toContain('\\u001b');
    }
    expect(visible('a\tb\u2066')).toBe('a\\tb\\u2066');
  });

  it('takes a range by moments, by epochs, and by how long ago', async () => {
    const log = { 'a.log': event(1, 'a') + event(2, 'b') + event(3, 'c') };
    const flags = { start: '2022-09-25T13:58:02Z', end: '2022-09-25 13:58:02' };
    expect((await run('fields verb', log, flags)).out).toBe('verb\nb');
    expect((await run('fields verb', log, { start: '118s' })).out).toBe('verb\nc\nb');
    expect(parseMoment('--start', '1664114322', nowMs)).toBe(1_664_114_322_000);
    expect(parseMoment('--start', '1664114322000', nowMs)).toBe(1_664_114_322_000);
    expect(parseMoment('--start', '2022-09-25T15:58:02+02:00', nowMs)).toBe(1_664_114_282_000);
    expect((await run('fields verb', log, { start: 'yesterday' })).error).toMatchObject({
      exitCode: 2,
    });
  });

  it('refuses a query with its place, and files that are none', async () => {
    const { error } = await run('fields, verb', { 'a.log': '' });
    expect(error).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('line 1, column 7'),
    });
    const opened: string[] = [];
    const openLog = async (path: string) => {
      opened.push(path);
      return openLogFile(`${path}.missing`);
    };
    const missing = await run('fields verb', { 'a.log': '' }, {}, { openLog });
    expect(missing.error).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('ENOENT'),
    });
    await expect(openLogFile(dir)).rejects.toThrow('it is a directory: name the files in it');
  });

  it('reads a file as far as it reached when it was opened', async () => {
    const path = join(dir, 'grows.log');
    writeFileSync(path, event(1, 'a'));
    const input = await openLogFile(path);
    writeFileSync(path, event(1, 'a') + event(2, 'b'));
    const { out } = await run(
      'fields verb',
      {},
      {},
      {
        auditFiles: async () => [path],
        cluster: async () => ({ embedded: true, now: epochMs(nowMs) }),
        openLog: async () => input,
      },
    );
    expect(out).toBe('verb\na');
  });

  it('stops at ^C and prints nothing of a part', async () => {
    const stopped = new AbortController();
    stopped.abort();
    const { out, error } = await run(
      'fields verb',
      { 'a.log': event(1, 'a') },
      {},
      { signal: stopped.signal },
    );
    expect(out).toBe('');
    expect(error).toMatchObject({ exitCode: 130 });
  });

  it('shows its progress on a terminal', async () => {
    const lines: string[] = [];
    let now = nowMs;
    await run(
      'fields verb',
      { 'a.log': event(1, 'a') },
      {},
      {
        isTerminal: true,
        progress: (line) => lines.push(line),
        clock: {
          now: () => {
            now += 300;
            return epochMs(now);
          },
          sleep: () => Promise.reject(new Error('nobody sleeps')),
        },
      },
    );
    expect(lines).toEqual(['100%, 0 MB read, 1 events matched', '']);
  });
});
