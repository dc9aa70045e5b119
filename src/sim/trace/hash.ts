// A hash of a trace: two runs with any difference get different hashes. FNV-1a, 64 bits in two
// halves; not cryptographic.
import type { Trace } from '../../api/trace.ts';

export const traceHash = (trace: Trace): string => {
  let high = 0x811c9dc5;
  let low = 0xcbf29ce4;
  for (const entry of trace.entries) {
    const text = JSON.stringify(entry);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      high = Math.imul(high ^ code, 0x01000193) >>> 0;
      low = Math.imul(low ^ (code + i), 0x01000193) >>> 0;
    }
  }
  const half = (value: number): string => value.toString(16).padStart(8, '0');
  return `${half(high)}${half(low)}`;
};
