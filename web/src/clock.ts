// The cluster's time, continued between two beats of the server at the cluster's speed. It is never
// compared with the reader's clock. It stops after a long silence of the server; the connection
// badge then shows how old the displayed data is.
import { signal } from '@preact/signals';
import type { PageTime } from '../../src/api/page.ts';

/** Milliseconds since the epoch, in the cluster's time. Moves once a second. */
export const now = signal(0);
export const speed = signal<PageTime['speed']>(1);

const tickMs = 1_000;
/** The server beats every two seconds. */
const beatMs = 2_000;
const carriedMs = 15_000;

let base = 0;
let heardAt = 0;

const carried = (): number => {
  const rate = speed.peek();
  const passed = Math.min(performance.now() - heardAt, carriedMs);
  return base + (rate === 'max' ? 0 : passed * rate);
};

/** A late beat does not reduce ages: the clock waits for the server. */
const move = (): void => {
  const at = carried();
  const rate = speed.peek();
  const behind = now.peek() - at;
  const isLate = behind > 0 && behind < beatMs * (rate === 'max' ? 1 : rate);
  // Within a second nothing that is shown changes.
  if (!isLate && Math.abs(behind) >= tickMs) now.value = at;
};

/** A beat or a snapshot: the time is now. */
export const setTime = ({ now: at, speed: rate }: PageTime): void => {
  base = Date.parse(at);
  heardAt = performance.now();
  speed.value = rate;
  move();
};

/** A change may have been delayed, so it moves the clock forward only. */
export const reachTime = (time: PageTime): void => {
  if (Date.parse(time.now) > carried()) setTime(time);
};

export const startClock = (): void => {
  setInterval(() => {
    if (base !== 0) move();
  }, tickMs);
};
