import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditFile } from './file.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-audit-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the audit file', () => {
  it('writes nothing before the flush and every line after it', () => {
    const file = join(dir, 'audit', 'audit.log');
    const audit = new AuditFile({ file, maxBytes: 1e6, keep: 2, onError: () => {} });
    audit.write({ n: 1 });
    audit.write({ n: 2 });
    expect(readdirSync(join(dir, 'audit'))).toEqual([]);
    audit.flush();
    expect(readFileSync(file, 'utf8')).toBe('{"n":1}\n{"n":2}\n');
  });

  it('rotates before a file grows too large and keeps only that many', () => {
    const file = join(dir, 'audit.log');
    const audit = new AuditFile({ file, maxBytes: 20, keep: 2, onError: () => {} });
    for (let n = 0; n < 5; n++) {
      audit.write({ line: n, pad: 'xx' });
      audit.flush();
    }
    expect(readdirSync(dir).sort()).toEqual(['audit.log', 'audit.log.1', 'audit.log.2']);
    expect(readFileSync(file, 'utf8')).toContain('"line":4');
    expect(readFileSync(`${file}.1`, 'utf8')).toContain('"line":3');
  });

  it('cuts off the half line of a killed process before it continues', () => {
    const file = join(dir, 'audit.log');
    writeFileSync(file, '{"n":1}\n{"n":2');
    const audit = new AuditFile({ file, maxBytes: 1e6, keep: 2, onError: () => {} });
    audit.write({ n: 3 });
    audit.flush();
    expect(readFileSync(file, 'utf8')).toBe('{"n":1}\n{"n":3}\n');
  });

  it('counts what it could not write, says so once, and continues', () => {
    const errors: unknown[] = [];
    const file = join(dir, 'gone', 'audit.log');
    const audit = new AuditFile({ file, maxBytes: 1e6, keep: 2, onError: (e) => errors.push(e) });
    rmSync(join(dir, 'gone'), { recursive: true });
    for (let n = 0; n < 3; n++) {
      audit.write({ n });
      audit.flush();
    }
    expect(audit.lost).toBe(3);
    expect(errors).toHaveLength(1);
  });

  it('is read again by position, across files, and positions outlive a rotation', () => {
    const file = join(dir, 'audit.log');
    const audit = new AuditFile({ file, maxBytes: 20, keep: 2, onError: () => {} });
    const line = (n: number) => `{"line":${n},"p":1}\n`;
    const bytes = line(0).length;
    for (let n = 0; n < 3; n++) {
      audit.write({ line: n, p: 1 });
      audit.flush();
    }
    expect(audit.extent()).toEqual({ start: 0, end: 3 * bytes });
    const text = (from: number, length: number) => Buffer.from(audit.read(from, length)).toString();
    expect(text(bytes, 1000)).toBe(line(1));
    audit.write({ line: 3, p: 1 });
    // Unflushed lines are not readable yet.
    expect(audit.extent().end).toBe(3 * bytes);
    audit.flush();
    expect(audit.extent()).toEqual({ start: bytes, end: 4 * bytes });
    audit.write({ line: 4, p: 1 });
    audit.flush();
    expect(audit.extent()).toEqual({ start: 2 * bytes, end: 5 * bytes });
    expect(text(4 * bytes, bytes)).toBe(line(4));
    expect([text(0, 10), text(2 * bytes, 5), text(3 * bytes, 1000), text(5 * bytes, 1)]).toEqual([
      '',
      line(2).slice(0, 5),
      line(3),
      '',
    ]);
  });
});
