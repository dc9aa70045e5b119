// Takes out of log facts what must not be read later: tokens, keys, passwords, user data. By the
// name of the field, and by the look of the text where it stands under another name.
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

/** Facts are shallow; what is nested deeper than this is no fact. */
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

/** Numbers stay even under such a name: `tokens: 3` counts what a budget allows. */
const keepsUnderSecretName = (value: Json): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || value === null;

/** A copy of `facts` that may be written down. */
export const redactFacts = (facts: JsonObject, depth = 0): JsonObject => {
  const clean: Record<string, Json> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined) continue;
    const secret = secretName.test(name) && !keepsUnderSecretName(value);
    clean[name] = secret ? redacted : redactValue(value, depth);
  }
  return clean;
};
