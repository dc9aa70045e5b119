// Malformed records of the kernel log: they throw nothing and report nothing, and later records are
// still read.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { KernelLogReader, NodeHost } from '../../ports/index.ts';
import { KernelLog, markerPrefix } from './kernel-log.ts';

const now = epochMs(Date.UTC(2026, 0, 1));
const longest = 2048;

const logOf = (entries: readonly string[], source: KernelLogReader['source'] = 'kmsg') => {
  const left = [...entries];
  const reader: KernelLogReader = {
    source,
    read: (max) => ({ entries: left.splice(0, max), lost: 0 }),
    close: () => undefined,
  };
  const host = { openKernelLog: async () => reader } as unknown as NodeHost;
  return new KernelLog(host, { bootedAt: epochMs(0), afterSequence: undefined });
};
const textsOf = async (log: KernelLog): Promise<readonly string[]> => {
  const { lines } = await log.read(100, now);
  return lines.map(({ text }) => text);
};
const good = '3,425,885999201,-;I/O error, dev loop0, sector 32768';

describe('a kernel log', () => {
  it.each([
    ['nothing', ''],
    ['a text alone', 'I/O error, dev loop0, sector 1'],
    ['no text', '3,424,885999200,-'],
    ['letters for numbers', 'x,y,z,-;I/O error, dev loop0, sector 1'],
    ['bytes of no text', '\u0000\ufffd\u0007;\ufffd'],
    ['a negative number', '-3,-1,-5,-;I/O error, dev loop0, sector 1'],
  ])('skips a record that is %s, and reads on after it', async (_what, record) => {
    const log = logOf([record, good]);
    expect(await textsOf(log)).toEqual(['I/O error, dev loop0, sector 32768']);
    expect(log.sequence).toBe(425);
    expect(log.failure).toBeUndefined();
  });

  it('cuts a line of megabytes', async () => {
    const [text = ''] = await textsOf(logOf([`3,1,1,-;${'a'.repeat(3_000_000)}`]));
    expect(text.length).toBeLessThanOrEqual(longest);
  });

  it('counts lines of user space, which it never hands on, but for its own marker', async () => {
    const marker = `${markerPrefix}7`;
    const log = logOf([`12,1,1,-;BUG: kernel NULL pointer`, `12,2,1,-;${marker}`]);
    expect(await textsOf(log)).toEqual([]);
    expect(log.takeForged()).toBe(1);
    expect(log.marker).toBe(marker);
  });

  it('skips entries of the journal that are no JSON', async () => {
    const at = { __CURSOR: 'c', __REALTIME_TIMESTAMP: '1000' };
    const entry = { ...at, MESSAGE: 'a', SYSLOG_FACILITY: '0' };
    const log = logOf(['{', '[]', 'null', '{"MESSAGE":{}}', JSON.stringify(entry)], 'journal');
    expect(await textsOf(log)).toEqual(['a']);
  });
});
