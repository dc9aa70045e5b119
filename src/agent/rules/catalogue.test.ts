// Each rule's sample lines set it, and similar lines do not; texts are EKS' for EKS' reasons.
import { describe, expect, it } from 'vitest';
import { type EpochMs, epochMs } from '../../api/brand.ts';
import { emptyState, type HealthState, type Notice, observe } from '../engine/index.ts';
import { catalogue } from './catalogue.ts';
import { LineMatcher } from './line-matcher.ts';
import type { HealthRule, LineSource } from './rule.ts';

const start = epochMs(Date.UTC(2026, 0, 1));
const matcher = new LineMatcher(catalogue);

/** A rule's occurrences in lines, a second apart. */
const told = (
  rule: HealthRule,
  lines: readonly string[],
  source: LineSource,
): readonly Notice[] => {
  let state: HealthState = emptyState;
  const notices: Notice[] = [];
  lines.forEach((line, index) => {
    const at: EpochMs = epochMs(start + index * 500);
    for (const one of matcher.find(source, line, at).filter((each) => each.rule === rule)) {
      const step = observe(state, one, at);
      state = step.state;
      notices.push(...step.notices);
    }
  });
  return notices;
};

const sourcesOf = (rule: HealthRule): readonly LineSource[] => [
  ...new Set((rule.lines ?? []).map(({ source }) => source)),
];
const nameOf = ({ reason, text }: HealthRule): string => `${reason} (${text.found[0] ?? ''})`;
const ofLines = catalogue.filter(({ lines }) => lines !== undefined);

describe('rules on lines', () => {
  it.each(ofLines.map((rule) => [nameOf(rule), rule] as const))(
    '%s: its lines set it',
    (_, rule) => {
      const { found } = rule.text;
      expect(found.length).toBeGreaterThan(0);
      const each = rule.threshold === undefined ? found.map((line) => [line]) : [found];
      const some = (lines: readonly string[]) =>
        sourcesOf(rule).flatMap((source) => told(rule, lines, source).slice(0, 1));
      for (const lines of each) {
        expect(some(lines).length, lines.join('\n')).toBeGreaterThan(0);
      }
    },
  );

  it.each(ofLines.map((rule) => [nameOf(rule), rule] as const))(
    '%s: other lines do not',
    (_, rule) => {
      expect(rule.text.ignored.length).toBeGreaterThan(0);
      for (const source of sourcesOf(rule)) {
        expect(told(rule, rule.text.ignored, source)).toEqual([]);
      }
    },
  );
});

const messages = (source: LineSource, ...lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) =>
    matcher.find(source, line, start).map(({ reason, message }) => `${reason}: ${message}`),
  );

describe('texts', () => {
  it.each([
    [
      'watchdog: BUG: soft lockup - CPU#6 stuck for 23s! [VM Thread:4054]',
      'SoftLockup: CPU stuck for 23s',
    ],
    [
      'traps: ud2[18703] trap invalid opcode ip:55e8331ad12d sp:7ffd2fc3da30 error:0 in ud2[...]',
      'AppCrash: Process "ud2" on the node has crashed',
    ],
    [
      'segv[18701]: segfault at 0 ip 0000560f8a7b1129 sp 00007ffc2e7a0b50 error 6 in segv[...]',
      'AppCrash: Process "segv" on the node has crashed',
    ],
    [
      'I/O error, dev loop0, sector 32768 op 0x0:(READ) flags 0x800 phys_seg 1 prio class 2',
      'BlockDeviceIOError: I/O error detected on block device loop0 at sector 32768, indicating a failed physical drive or EBS volume',
    ],
    [
      'Buffer I/O error on dev loop0, logical block 4096, async page read',
      'BlockDeviceIOError: I/O error detected on block device loop0 at logical block 4096, indicating a failed physical drive or EBS volume',
    ],
    [
      'blk_update_request: I/O error, dev nvme1n1, sector 1234567',
      'BlockDeviceIOError: I/O error detected on block device nvme1n1 at sector 1234567, indicating a failed physical drive or EBS volume',
    ],
    [
      'nf_conntrack: nf_conntrack: table full, dropping packet',
      'ConntrackExceededKernel: Connection tracking exceeded the maximum for the kernel',
    ],
    [
      "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
      "NvidiaXID79Error: XID 79 on GPU 0000:3b:00: pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    ],
    [
      'NVRM: Xid (PCI:0000:3b:00): 43, pid=1, name=x, Ch 8',
      'NvidiaXID43Warning: XID 43 on GPU 0000:3b:00: pid=1, name=x, Ch 8',
    ],
    ['Some other kernel message', undefined],
  ])('%s', (line, text) => {
    expect(messages('kernel', line)).toEqual(text === undefined ? [] : [text]);
  });

  it('name the cgroup of a killed process, which stands in the line before', () => {
    const before =
      'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/ra-oom,task_memcg=/ra-oom,task=python3,pid=18705,uid=0';
    const killed =
      'Memory cgroup out of memory: Killed process 18705 (python3) total-vm:41236kB, anon-rss:30464kB, file-rss:6640kB, shmem-rss:0kB, UID:0 pgtables:116kB oom_score_adj:0';
    expect(messages('kernel', before, killed)).toEqual([
      'OOMKilling: Memory cgroup out of memory: killed process "python3" (anonymous memory 30464kB) in cgroup /ra-oom',
    ]);
    expect(messages('kernel', killed)[0]).toMatch(/in cgroup $/);
  });

  it('of one source are not looked for in another', () => {
    expect(messages('kubelet', 'nf_conntrack: nf_conntrack: table full, dropping packet')).toEqual(
      [],
    );
  });
});

describe('the catalogue', () => {
  it('gives each rule something that sets it', () => {
    for (const { reason, lines, check } of catalogue) {
      expect(lines !== undefined || check !== undefined, reason).toBe(true);
    }
  });

  it('matches long lines of any kind in bounded time', () => {
    const nasty = [
      `traps: ${'['.repeat(2000)}`,
      'a'.repeat(2048),
      `oom-kill:constraint=${',task_memcg='.repeat(150)}`,
      `NVRM: Xid (PCI:${':'.repeat(2000)}`,
    ];
    const begun = performance.now();
    for (const line of nasty) for (let n = 0; n < 10; n++) matcher.find('kernel', line, start);
    // 40 lines; a backtracking matcher would take minutes. Generous for a busy machine.
    expect(performance.now() - begun).toBeLessThan(10_000);
  });
});
