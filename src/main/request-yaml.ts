// Converts one YAML document of a request to JSON, and finds duplicate keys: the API server uses
// the last and, unless the client ignores them, reports the duplicates. Reads nothing else.
import { isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { Json } from '../api/json.ts';
import { isTooDeep, tooDeepMessage } from '../api/parse-json.ts';
import { placedMessage } from '../formats/yaml-keys.ts';

export interface RequestYaml {
  readonly value: Json;
  /** In the words of Go's decoder: `line 7: key "name" already set in map`. */
  readonly duplicates: readonly string[];
}

/** Throws the parser's error. */
export const parseRequestYaml = (text: string): RequestYaml => {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter,
  });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(placedMessage(error, lineCounter), { cause: error });
  const duplicates: { readonly line: number; readonly key: string }[] = [];
  visit(document, {
    Map: (_, map) => {
      const names = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const { line } = lineCounter.linePos(key.range?.[0] ?? 0);
        if (names.has(key.value)) duplicates.push({ line, key: String(key.value) });
        names.add(key.value);
      }
    },
  });
  const value = document.toJS() as Json;
  if (isTooDeep(value)) throw new Error(tooDeepMessage);
  const inOrder = duplicates.sort((a, b) => a.line - b.line);
  return {
    value,
    duplicates: inOrder.map(({ line, key }) => `line ${line}: key "${key}" already set in map`),
  };
};
