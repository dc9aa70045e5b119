// World time in the two formats of the Kubernetes API. Never reads a clock.
import { epochMs, formatKubeTime, parseTime } from '../../../src/api/brand.ts';
import { type Micros, microsPerMs, microsPerSecond } from '../../kernel/index.ts';

let lastSecond = -1;
let lastText = '';

/** metav1.Time: whole seconds. Caches the last second, because most writes share it. */
export const kubeTime = (at: Micros): string => {
  const second = Math.floor(at / microsPerSecond);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = formatKubeTime(epochMs(second * 1000));
  }
  return lastText;
};

/** metav1.MicroTime: six digits after the second. */
export const kubeMicroTime = (at: Micros): string => {
  const fraction = String(Math.floor(at % microsPerSecond)).padStart(6, '0');
  return `${kubeTime(at).slice(0, 19)}.${fraction}Z`;
};

/** Microseconds of a formatted time, fractions kept; undefined when the text is not a time. */
export const microsOf = (text: string | undefined): Micros | undefined => {
  const ms = parseTime(text);
  if (ms === undefined || text === undefined) return undefined;
  const digits = /\.(\d{4,})/.exec(text)?.[1];
  const below = digits === undefined ? 0 : Number(digits.padEnd(6, '0').slice(3, 6));
  return Math.floor(ms) * microsPerMs + below;
};
