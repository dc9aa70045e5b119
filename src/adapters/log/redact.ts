// Removes secrets from log facts: tokens, keys, passwords, user data. Recognizes them by the
// field's name, and by the text's form under other names.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';

const redacted = '[redacted]';

const secretName =
  /token|secret|password|passwd|authorization|credential|cookie|user-?_?data|private-?_?key|key-?_?data|access-?_?key|receipt-?_?handle/i;

/** Bearer and Basic headers, JSON web tokens, PEM keys, AWS secret-like assignments. */
const secretText = [
  /\b(Bearer|Basic)\s+[\w+/=.~-]{8,}/g,
  /\beyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bk8s-aws-v1\.[\w-]+/g,
];

/** Facts are shallow; deeper nesting is not logged. */
const maxDepth = 8;

const redactText = (text: string): string =>
  secretText.reduce((clean, pattern) => clean.replace(pattern, redacted), text);

const redactValue = (value: Json, depth: number): Json => {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return '[nested]';
  if (Array.isArray(value)) return value.map((item: Json) => redactValue(item, depth + 1));
  return isObject(value) ? redactFacts(value, depth + 1) : value;
};

/** Keeps numbers under such names: `tokens: 3` is a count. */
const keepsUnderSecretName = (value: Json): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || value === null;

/** A copy of `facts` without secrets. */
export const redactFacts = (facts: JsonObject, depth = 0): JsonObject => {
  const clean: Record<string, Json> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined) continue;
    const secret = secretName.test(name) && !keepsUnderSecretName(value);
    clean[name] = secret ? redacted : redactValue(value, depth);
  }
  return clean;
};
