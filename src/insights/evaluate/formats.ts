// `parse ... csv` and `parse ... logfmt`. Values stay text; text in another format gives no values,
// never an error.

/** Comma-separated values; double quotes enclose commas and doubled quotes (RFC 4180). */
export const readCsv = (text: string, wanted: number): readonly string[] => {
  const values: string[] = [];
  let at = 0;
  while (values.length < wanted) {
    if (text[at] === '"') {
      const [value, end] = quotedValue(text, at);
      values.push(value);
      at = text.indexOf(',', end);
    } else {
      const comma = text.indexOf(',', at);
      values.push(text.slice(at, comma === -1 ? text.length : comma));
      at = comma;
    }
    if (at === -1) break;
    at++;
  }
  return values;
};

const quotedValue = (text: string, start: number): readonly [value: string, end: number] => {
  let value = '';
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return [value + text.slice(at), text.length];
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') return [value, quote + 1];
    value += '"';
    at = quote + 2;
  }
};

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** From a quote to the next unescaped one, or to the end of the text. */
const escapedValue = (text: string, start: number): readonly [value: string, end: number] => {
  let end = start + 1;
  // Not a regular expression: those overflow the stack on millions of characters.
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  const raw = text.slice(start + 1, end);
  return [raw.replace(/\\(.)/gs, (_, one: string) => escapes[one] ?? one), end + 1];
};

/** `key=value key="some words" key`; undefined when no key has a value. A lone key has none. */
export const readLogfmt = (text: string): Readonly<Record<string, string>> | undefined => {
  const pair = /([^\s="]+)(?:=(?:(?=")|([^\s"]*)))?/gy;
  const found = new Map<string, string>();
  let hasValue = false;
  for (let at = 0; at < text.length; ) {
    pair.lastIndex = at;
    const match = pair.exec(text);
    if (match === null) {
      at++;
      continue;
    }
    const [whole, key = '', bare] = match;
    at += whole.length;
    if (text[at] === '"' && whole.endsWith('=')) {
      const [value, end] = escapedValue(text, at);
      found.set(key, value);
      at = end;
      hasValue = true;
      continue;
    }
    if (bare !== undefined) hasValue = true;
    found.set(key, bare ?? '');
  }
  return hasValue ? Object.fromEntries(found) : undefined;
};
