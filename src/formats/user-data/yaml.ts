// Parses YAML to located values: the core schema, one or more documents, with a limit on nodes
// whatever the aliases. Never throws.

import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseAllDocuments,
} from 'yaml';
import { defined } from '../../api/defined.ts';
import { begin, type ParseFault, type Position, within } from '../position.ts';
import { refuseRepeatedKeys } from '../yaml-keys.ts';
import type { Located, LocatedMember } from './located.ts';

/** Limits alias bombs of a kilobyte that expand to gigabytes; far above any NodeConfig. */
const maxNodes = 20_000;
const maxDepth = 64;
/** CloudFormation's maximum size of a template; user data is far smaller. */
const maxTextLength = 1024 * 1024;

export interface LocatedDocument {
  readonly value: Located | undefined;
  readonly at: Position;
}

export interface YamlResult {
  readonly documents: readonly LocatedDocument[];
  readonly faults: readonly ParseFault[];
  /** Plain scalars that Go's YAML parser reads differently from YAML 1.2. */
  readonly ambiguous: readonly ParseFault[];
}

const oldBoolean = /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$/;
const oldOctal = /^0[0-7]+$/;

class Reader {
  readonly faults: ParseFault[] = [];
  readonly ambiguous: ParseFault[] = [];
  #nodes = 0;
  readonly #lines: LineCounter;
  readonly #outer: Position;
  readonly #text: string;
  constructor(text: string, lines: LineCounter, outer: Position) {
    this.#text = text;
    this.#lines = lines;
    this.#outer = outer;
  }

  position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return within(this.#outer, { line: Math.max(1, line), column: Math.max(1, col) });
  }

  read(node: Node | null | undefined, anchors: Map<string, Node>, depth: number): Located {
    const at = this.position(node?.range?.[0] ?? 0);
    this.#nodes++;
    if (this.#nodes > maxNodes || depth > maxDepth) {
      if (this.#nodes === maxNodes + 1 || depth === maxDepth + 1) {
        const what = depth > maxDepth ? `${maxDepth} levels` : `${maxNodes} values`;
        this.faults.push({ at, message: `more than ${what}, aliases followed` });
      }
      return { kind: 'scalar', value: null, at };
    }
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) return this.read(target, anchors, depth + 1);
      this.faults.push({ at, message: `the alias *${node.source} names no anchor` });
      return { kind: 'scalar', value: null, at };
    }
    if (isMap(node)) {
      const members = new Map<string, LocatedMember>();
      for (const pair of node.items) {
        const key = isScalar(pair.key) ? String(pair.key.value) : '?';
        members.set(key, {
          keyAt: this.position((pair.key as Node | null)?.range?.[0] ?? 0),
          value: this.read(pair.value as Node | null, anchors, depth + 1),
        });
      }
      return { kind: 'map', members, at };
    }
    if (isSeq(node)) {
      const items = node.items.map((item) => this.read(item as Node, anchors, depth + 1));
      return { kind: 'list', items, at };
    }
    const value = this.#scalar(node, at);
    const contentAt = this.#contentAt(node);
    return { kind: 'scalar', value, at, ...defined({ contentAt }) };
  }

  /** For a block scalar: its first line, at the column of its indentation. */
  #contentAt(node: Node | null | undefined): Position | undefined {
    if (!isScalar(node) || !/^BLOCK_/.test(node.type ?? '')) return undefined;
    const from = this.#text.indexOf('\n', node.range?.[0] ?? 0);
    if (from < 0) return undefined;
    const indent = /^(?:[ \t]*\r?\n)*( *)/.exec(this.#text.slice(from + 1, from + 4096))?.[1] ?? '';
    const { line } = this.#lines.linePos(from + 1);
    return within(this.#outer, { line, column: indent.length + 1 });
  }

  #scalar(node: Node | null | undefined, at: Position): string | number | boolean | null {
    if (!isScalar(node)) return null;
    const { value, source, type } = node;
    if (type === 'PLAIN' && source !== undefined) {
      if (oldBoolean.test(source)) {
        this.ambiguous.push({ at, message: `${source} is a text here and a truth in YAML 1.1` });
      } else if (oldOctal.test(source) && source !== '0') {
        this.ambiguous.push({ at, message: `${source} is decimal here and octal in YAML 1.1` });
      }
    }
    if (typeof value === 'bigint') return Number(value);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return value;
    }
    return value === null || value === undefined ? null : String(value);
  }
}

const anchorsOf = (root: ParsedNode | null): Map<string, Node> => {
  const anchors = new Map<string, Node>();
  const walk = (node: unknown, depth: number): void => {
    if (depth > maxDepth) return;
    const { anchor } = (node ?? {}) as { anchor?: string };
    if (anchor !== undefined) anchors.set(anchor, node as Node);
    if (isMap(node)) for (const pair of node.items) walk(pair.value, depth + 1);
    if (isSeq(node)) for (const item of node.items) walk(item, depth + 1);
  };
  walk(root, 0);
  return anchors;
};

/** Keeps only line and column of the parser's message; the rest quotes lines of the text. */
const plain = (message: string): string =>
  (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '');

/** Parses `text`, which starts at `outer` of the file. */
export const parseYaml = (text: string, outer: Position = begin): YamlResult => {
  if (text.length > maxTextLength) {
    const message = `more than ${maxTextLength} characters of YAML`;
    return { documents: [], faults: [{ at: outer, message }], ambiguous: [] };
  }
  const lines = new LineCounter();
  const reader = new Reader(text, lines, outer);
  try {
    // Pretty errors quote the text around them, which is slow for many errors in one long line.
    const parsed = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
    });
    const list = Array.isArray(parsed) ? parsed : [];
    const documents = list.map((document) => {
      refuseRepeatedKeys(document);
      for (const error of document.errors) {
        reader.faults.push({ at: reader.position(error.pos[0]), message: plain(error.message) });
      }
      const { contents } = document;
      const at = reader.position(contents?.range?.[0] ?? 0);
      if (contents === null) return { value: undefined, at };
      return { value: reader.read(contents, anchorsOf(contents), 0), at };
    });
    return { documents, faults: reader.faults, ambiguous: reader.ambiguous };
  } catch (error) {
    // Exceeding the library's own nesting limit throws an engine exception instead of reporting an
    // error.
    const message = `YAML that cannot be read (${error instanceof Error ? error.message : error})`;
    return { documents: [], faults: [{ at: outer, message }], ambiguous: [] };
  }
};
