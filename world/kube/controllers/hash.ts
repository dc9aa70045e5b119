// Hashes of pod templates: 32 bits in the alphabet and length of real pod-template-hash labels.
// Pure; equal templates give equal hashes whatever the key order.
import type { Json } from '../../../src/api/json.ts';

const safeAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

const mix = (hash: number, text: string): number => {
  let next = hash;
  for (let i = 0; i < text.length; i++) {
    next = Math.imul(next ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return next;
};

const mixValue = (hash: number, value: Json | undefined): number => {
  if (value === null || typeof value !== 'object') return mix(hash, JSON.stringify(value) ?? '');
  if (Array.isArray(value)) {
    return mix(value.reduce<number>(mixValue, mix(hash, '[')), ']');
  }
  let next = mix(hash, '{');
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, one] of entries) {
    // kubectl rollout undo sends creationTimestamp: null, which counts as absent.
    if (one !== undefined && one !== null) next = mixValue(mix(next, `"${key}":`), one);
  }
  return mix(next, '}');
};

/**
 * Upstream prints the number in decimal and maps each digit to a letter (rand.SafeEncodeString).
 */
export const templateHash = (template: Json, collisionCount = 0): string => {
  const start = mixValue(0x811c9dc5, template);
  const hash = collisionCount === 0 ? start : mix(start, String(collisionCount));
  return [...String(hash)]
    .map((digit) => safeAlphabet[digit.charCodeAt(0) % safeAlphabet.length] ?? '')
    .join('');
};
