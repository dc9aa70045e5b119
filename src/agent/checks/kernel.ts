// Checks the kernel's own figures: open files, connections, stalls, compressed swap, its clock.
import { parseFileHandles, parsePressure } from '../../formats/node-health/index.ts';
import {
  type Check,
  type CheckContext,
  limitOf,
  listIfThere,
  outputText,
  percentOf,
  type Results,
  readIfThere,
  readOrLack,
  runProgram,
} from './check.ts';

export const openFiles: Check = {
  name: 'open-files',
  title: 'open files against fs.file-max',
  look: async (context, results) => {
    const reason = 'ApproachingMaxOpenFiles';
    const text = await readOrLack(context, results, '/proc/sys/fs/file-nr', [reason]);
    const handles = text === undefined ? undefined : parseFileHandles(text);
    if (handles === undefined) return;
    const { allocated: count, max } = handles;
    results.saw(`${count} open files`);
    if (max === 0 || (count / max) * 100 < limitOf(context, reason, 70)) return;
    results.found(reason, { count, max, percent: percentOf(count, max) });
  },
};

export const conntrack: Check = {
  name: 'conntrack',
  title: 'tracked connections against nf_conntrack_max',
  look: async (context, results) => {
    const reason = 'ConntrackExceededKernel';
    const read = async (name: string): Promise<number> =>
      Number((await readIfThere(context.host, `/proc/sys/net/netfilter/${name}`)) ?? Number.NaN);
    const count = await read('nf_conntrack_count');
    const max = await read('nf_conntrack_max');
    if (!Number.isFinite(count) || !(max > 0)) return results.saw('no connections are tracked');
    results.saw(`${count} of ${max} connections`);
    if ((count / max) * 100 <= limitOf(context, reason, 90)) return;
    results.found(reason, { detail: `: ${count} of ${max} connections` });
  },
};

const lookAtPressure = async (
  context: CheckContext,
  results: Results,
  [what, reason, otherwise]: readonly [string, string, number],
): Promise<void> => {
  const text = await readOrLack(context, results, `/proc/pressure/${what}`, [reason]);
  const pressure = text === undefined ? undefined : parsePressure(text);
  if (pressure === undefined) {
    if (text !== undefined) results.lacks([reason], 'the kernel counts no stalls (psi=0)');
    return;
  }
  const percent = pressure.fullAverage60;
  results.saw(`stalled for ${what} ${percent}% of the last minute`);
  if (percent >= limitOf(context, reason, otherwise)) results.found(reason, { percent });
};

export const pressure: Check = {
  name: 'pressure',
  title: 'time in which all work stood still for I/O or memory',
  look: async (context, results) => {
    await lookAtPressure(context, results, ['io', 'IODelays', 40]);
    await lookAtPressure(context, results, ['memory', 'MemoryStalls', 20]);
  },
};

export const zram: Check = {
  name: 'zram',
  title: 'compressed swap in memory',
  look: async (context, results) => {
    const { host } = context;
    const devices = (await listIfThere(host, '/sys/block')).filter((name) => /^zram\d/.test(name));
    if (devices.length === 0) return results.saw('no zram device');
    for (const device of devices) {
      const [used = ''] = ((await readIfThere(host, `/sys/block/${device}/mm_stat`)) ?? '')
        .trim()
        .split(/\s+/);
      const size = Number((await readIfThere(host, `/sys/block/${device}/disksize`)) ?? 0);
      if (used === '' || !(size > 0)) {
        results.saw(`${device} is not used`);
        continue;
      }
      const percent = percentOf(Number(used), size);
      results.saw(`${device} at ${percent}%`);
      if (Number(percent) > limitOf(context, 'ZramHighUsage', 10)) {
        results.found('ZramHighUsage', { device, percent });
      }
    }
  },
};

/** STA_UNSYNC of adjtimex(2). */
const unsynchronized = 0x40;

/** Programs that report adjtimex(2), which Node.js cannot call: the first usable answer counts. */
const clockSources: readonly {
  readonly words: readonly [string, ...string[]];
  readonly isSynchronized: (text: string) => boolean | undefined;
}[] = [
  {
    words: ['timedatectl', 'show', '--property=NTPSynchronized', '--value'],
    isSynchronized: (text) => (/^(yes|no)\s*$/.test(text) ? text.startsWith('yes') : undefined),
  },
  {
    words: ['busybox', 'adjtimex'],
    isSynchronized: (text) => {
      const status = /^\s*status:\s+(\d+)/m.exec(text)?.[1];
      return status === undefined ? undefined : (Number(status) & unsynchronized) === 0;
    },
  },
  {
    words: ['adjtimex', '--print'],
    isSynchronized: (text) => {
      const status = /^\s*status:\s+(\d+)/m.exec(text)?.[1];
      return status === undefined ? undefined : (Number(status) & unsynchronized) === 0;
    },
  },
  {
    words: ['chronyc', 'tracking'],
    isSynchronized: (text) => {
      const leap = /^Leap status\s*:\s*(.*)$/m.exec(text)?.[1];
      return leap === undefined ? undefined : !leap.startsWith('Not synchronised');
    },
  },
];

export const clock: Check = {
  name: 'clock',
  title: 'whether the kernel’s clock is synchronized',
  look: async (context, results) => {
    for (const { words, isSynchronized } of clockSources) {
      const [program, ...rest] = words;
      const outcome = await runProgram(context, program, rest);
      const answer = isSynchronized(outputText(outcome));
      if (outcome.kind !== 'ended' || outcome.code !== 0 || answer === undefined) continue;
      results.saw(`${answer ? 'synchronized' : 'not synchronized'} (${words.join(' ')})`);
      if (!answer) results.found('ClockUnsynchronized');
      return;
    }
    results.lacks(
      ['ClockUnsynchronized'],
      'none of timedatectl, busybox, adjtimex and chronyc tells of the clock',
    );
  },
};
