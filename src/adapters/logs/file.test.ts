// Every kind of standard input that a shell or program may provide: a socket (from Node.js
// programs), a pipe, a file; also bytes that arrive one by one.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';

const dir = mkdtempSync(join(tmpdir(), 'drover-input-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const reading = `
  import { openLogFile } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))};
  const log = await openLogFile('-');
  let text = '';
  for await (const chunk of log.chunks()) text += Buffer.from(chunk).toString();
  await log.close();
  console.log(JSON.stringify(text));
`;
const script = join(dir, 'read.mjs');
writeFileSync(script, reading);

/** The content read from a socket that is written in pieces. */
const fromSocket = async (pieces: readonly Uint8Array[]): Promise<unknown> => {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const over = new Promise((resolve) => child.on('close', resolve));
  for (const piece of pieces) {
    await new Promise((resolve) => child.stdin.write(piece, resolve));
  }
  child.stdin.end();
  await over;
  return JSON.parse(out);
};

const fromShell = (command: string): unknown => {
  const { stdout, stderr } = spawnSync('sh', ['-c', command], {
    env: { ...process.env, READ: `${process.execPath} ${script}` },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
};

describe('standard input', () => {
  const text = '{"verb":"get"}\n'.repeat(20_000);
  const file = join(dir, 'a.log');
  writeFileSync(file, text);

  it('is read from a socket, a pipe and a file', async () => {
    expect(await fromSocket([Buffer.from(text.slice(0, 100)), Buffer.from(text.slice(100))])).toBe(
      text,
    );
    expect(fromShell(`cat ${file} | $READ`)).toBe(text);
    expect(fromShell(`$READ < ${file}`)).toBe(text);
    expect(fromShell('$READ < /dev/null')).toBe('');
  });

  it('is known to be packed where its first bytes come one by one', () => {
    writeFileSync(`${file}.gz`, gzipSync(text));
    const oneByOne = `(dd bs=1 count=3 2> /dev/null; cat) < ${file}.gz`;
    expect(fromShell(`${oneByOne} | $READ`)).toBe(text);
  });
});
