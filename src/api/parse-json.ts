// Parses external JSON (requests, messages, patches, templates) with a limit on its depth, because
// code that walks or stores a value recurses once per level.
import { isObject, type Json } from './json.ts';

/**
 * Maximum nesting of objects and lists. No Kubernetes or AWS document comes near it, and recursion
 * of that depth needs little stack; some 2,000 levels end in a RangeError.
 */
export const maxJsonDepth = 400;

const tooDeep = `nested deeper than ${maxJsonDepth} levels`;

/** Whether too many brackets outside strings are open at once; stops at the limit. */
const isTextTooDeep = (text: string): boolean => {
  // Too short to contain that many closed brackets.
  if (text.length <= 2 * maxJsonDepth) return false;
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) isString = false;
    } else if (code === 0x22) isString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth++;
      if (depth > maxJsonDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
};

/** Throws a SyntaxError for a text that is not JSON or is nested deeper than `maxJsonDepth`. */
export const parseJson = (text: string): Json => {
  if (isTextTooDeep(text)) throw new SyntaxError(tooDeep);
  return JSON.parse(text) as Json;
};

/** For values from other decoders; not recursive itself. */
export const isTooDeep = (value: unknown): boolean => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= maxJsonDepth) return true;
    const next: unknown[] = [];
    for (const one of level) {
      const inner = Array.isArray(one) ? one : isObject(one) ? Object.values(one) : [];
      for (const item of inner) if (typeof item === 'object' && item !== null) next.push(item);
    }
    level = next;
  }
  return false;
};

export const tooDeepMessage = tooDeep;
