// The agent's self-test: each hour a marker written to the kernel log must be read back. Without
// it, an agent whose log source stopped would report a healthy node forever.
import type { EpochMs } from '../api/brand.ts';
import { type NodeHost, NodeHostError, type Random } from '../ports/index.ts';
import type { Check, Results } from './checks/index.ts';
import type { LineSource } from './rules/rule.ts';
import { type KernelLog, markerPrefix } from './sources/kernel-log.ts';
import { sampledOneIn } from './sources/line-gate.ts';

const everyMs = 3_600_000;
/** The log is read every second, so a marker that is not back by then is lost. */
const patienceMs = 30_000;
/** After a missing marker, another one is tried. */
const againMs = 60_000;

interface Marker {
  readonly text: string;
  readonly at: EpochMs;
}

export interface SelfTestOptions {
  readonly kernelLog: KernelLog;
  readonly random: Random;
  /** Lines that were not examined, by source, since the last call. */
  readonly takeSkipped: () => readonly { readonly source: LineSource; readonly count: number }[];
}

class SelfTest {
  readonly #kernelLog: KernelLog;
  readonly #random: Random;
  #written: Marker | undefined;
  #isLost = false;

  constructor(kernelLog: KernelLog, random: Random) {
    this.#kernelLog = kernelLog;
    this.#random = random;
  }

  async look(host: NodeHost, now: EpochMs, results: Results): Promise<void> {
    const { failure } = this.#kernelLog;
    if (failure !== undefined) {
      results.found('KernelLogNotSeen', { detail: failure });
      return;
    }
    const written = this.#written;
    if (written !== undefined && this.#kernelLog.marker === written.text) this.#isLost = false;
    else if (written !== undefined && now - written.at >= patienceMs) this.#isLost = true;
    const wait = this.#isLost ? againMs : everyMs;
    if (written === undefined || now - written.at >= wait) await this.#write(host, now, results);
    if (!this.#isLost) return results.saw('the kernel log is read');
    results.found('KernelLogNotSeen', {
      detail: 'a marker that was written to it did not come back',
    });
  }

  async #write(host: NodeHost, now: EpochMs, results: Results): Promise<void> {
    const text = `${markerPrefix}${this.#random.below(0x1_0000_0000).toString(16)}`;
    try {
      await host.writeKernelLog(text);
      this.#written = { text, at: now };
    } catch (error) {
      if (!(error instanceof NodeHostError)) throw error;
      results.lacks([], `no marker can be written: ${error.message}`);
    }
  }
}

export const createSelfTest = ({ kernelLog, random, takeSkipped }: SelfTestOptions): Check => {
  const selfTest = new SelfTest(kernelLog, random);
  return {
    name: 'kernel-log',
    title: 'whether the agent sees the kernel log',
    look: async ({ host, now }, results) => {
      await selfTest.look(host, now, results);
      const lost = kernelLog.takeLost();
      if (lost > 0) results.found('LogRecordsLost', { count: lost });
      for (const { source, count } of takeSkipped()) {
        if (count > 0) results.found('LogFlood', { source, count, kept: sampledOneIn });
      }
      const forged = kernelLog.takeForged();
      if (forged > 0) results.saw(`${forged} records of user space left out`);
    },
  };
};
