// The Clock port over the machine's clock and timers.
import { setTimeout as sleep } from 'node:timers/promises';
import { type DurationMs, epochMs } from '../api/brand.ts';
import type { Clock } from '../ports/index.ts';

export const wallClock: Clock = {
  now: () => epochMs(Date.now()),
  sleep: async (duration: DurationMs, signal?: AbortSignal) => {
    await sleep(duration, undefined, signal === undefined ? {} : { signal });
  },
};
