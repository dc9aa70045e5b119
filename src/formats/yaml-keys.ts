// Finds duplicate keys in maps of a YAML document. The yaml library compares every pair of keys,
// which takes minutes for 100,000: documents are parsed with `uniqueKeys: false` and checked here.
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  YAMLParseError,
} from 'yaml';

const placeOf = (node: unknown): [number, number] => {
  const [start = 0, end = start] = (node as Node | null)?.range ?? [];
  return [start, end];
};

/**
 * An error of a document that was parsed with `prettyErrors: false`, with its place. A pretty error
 * quotes the line, which takes minutes for thousands of errors in one long line.
 */
export const placedMessage = ({ message, pos }: YAMLParseError, lines: LineCounter): string => {
  const { line, col } = lines.linePos(pos[0]);
  return `${message} at line ${line}, column ${col}`;
};

/** Adds the library's error DUPLICATE_KEY for each repeated key; linear in the document's nodes. */
export const refuseRepeatedKeys = (document: Document): void => {
  const open: unknown[] = [document.contents];
  while (open.length > 0) {
    const node = open.pop();
    if (isSeq(node)) for (const item of node.items) open.push(item);
    if (!isMap(node)) continue;
    const known = new Set<unknown>();
    for (const { key, value } of node.items) {
      open.push(key, value);
      if (!isScalar(key)) continue;
      const { value: name } = key;
      if (known.has(name) && name !== '<<') {
        const error = new YAMLParseError(placeOf(key), 'DUPLICATE_KEY', 'Map keys must be unique');
        document.errors.push(error);
      }
      known.add(name);
    }
  }
};
