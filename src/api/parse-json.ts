// JSON that comes from outside (requests, messages, patches, templates), with one limit on its
// depth: what walks a value later, and what writes it to disk, calls itself once for each level.
import { isObject, type Json } from './json.ts';

/**
 * Levels of objects and lists within each other. No Kubernetes or AWS document comes near it, and a
 * walk of that depth needs little stack; some 2,000 levels end in a RangeError.
 */
export const maxJsonDepth = 400;

const tooDeep = `nested deeper than ${maxJsonDepth} levels`;

/** Brackets that are open at once, those within texts left out; stops at the limit. */
const isTextTooDeep = (text: string): boolean => {
  // Too short to hold them all, closed.
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

/** For values that other decoders make; calls itself never. */
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
