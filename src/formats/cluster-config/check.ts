// Checks a YAML document against a shape and returns plain values: every fault with its line and
// column, nothing guessed. An unknown field is an error that suggests the nearest known name.
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import type { Json } from '../../api/json.ts';
import { editDistance } from '../../api/similar.ts';
import { refuseRepeatedKeys } from '../yaml-keys.ts';
import type { MapShape, ObjectShape, Shape } from './shape.ts';

export interface Fault {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly column: number;
  /** Path of the field, e.g. `managedNodeGroups[0].minSize`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
}

/** A position in the text; counted from 1. */
export type Position = Pick<Fault, 'line' | 'column'>;

export type Checked =
  | {
      readonly kind: 'ok';
      readonly value: Json;
      /** Position of a path; the start of the document when the path does not exist. */
      readonly positionOf: (path: string) => Position;
    }
  | { readonly kind: 'faults'; readonly faults: readonly Fault[] };

interface Place {
  readonly path: string;
  readonly node: Node | null | undefined;
}

const nearest = (word: string, known: readonly string[]): string | undefined => {
  const lower = word.toLowerCase();
  const ranked = known
    .map((name) => ({ name, far: editDistance(lower, name.toLowerCase()) }))
    .toSorted((a, b) => a.far - b.far);
  const best = ranked[0];
  return best !== undefined && best.far <= Math.max(2, word.length / 4) ? best.name : undefined;
};

const kindOf = (node: Node): string => {
  if (isMap(node)) return 'an object';
  if (isSeq(node)) return 'a list';
  if (!isScalar(node)) return 'an alias';
  if (node.value === null) return 'nothing';
  if (typeof node.value === 'string') return `the text ${JSON.stringify(node.value)}`;
  return `${typeof node.value === 'boolean' ? 'the boolean' : 'the number'} ${String(node.value)}`;
};

class Checker {
  readonly faults: Fault[] = [];
  readonly positions = new Map<string, Position>();
  readonly #lines: LineCounter;
  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  #position(node: Node | null | undefined): Position {
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  fault({ path, node }: Place, message: string): undefined {
    this.faults.push({ ...this.#position(node), path, message });
    return undefined;
  }

  /** The value at `place` according to `shape`; undefined when absent or faulty. */
  read(shape: Shape, place: Place): Json | undefined {
    const { node } = place;
    if (node === null || node === undefined) return undefined;
    this.positions.set(place.path, this.#position(node));
    if (isAlias(node)) return this.fault(place, 'an alias (*name); write the value out');
    // eksctl's own examples contain headings without a value; these count as absent.
    if (isScalar(node) && node.value === null && shape.kind !== 'refused') return undefined;
    switch (shape.kind) {
      case 'text':
        return this.#text(shape, place, node);
      case 'integer':
        return this.#integer(shape, place, node);
      case 'boolean':
        return this.#boolean(shape, place, node);
      case 'list':
        if (!isSeq(node)) return this.fault(place, `takes a list, not ${kindOf(node)}`);
        return node.items.flatMap((item, i) => {
          const value = this.read(shape.item, {
            path: `${place.path}[${i}]`,
            node: item as Node,
          });
          return value === undefined ? [] : [value];
        });
      case 'map':
      case 'object':
        return this.#members(shape, place, node);
      case 'refused':
        return this.fault(place, `is not supported: ${shape.why}`);
    }
  }

  #text(shape: Extract<Shape, { kind: 'text' }>, place: Place, node: Node): Json | undefined {
    if (!isScalar(node)) return this.fault(place, `takes a text, not ${kindOf(node)}`);
    // `version: 1.30` is the number 1.3 in YAML: uses the source text.
    const value = typeof node.value === 'string' ? node.value : String(node.source ?? node.value);
    const why = shape.refused?.[value];
    if (why !== undefined) return this.fault(place, `cannot be ${value}: ${why}`);
    if (shape.oneOf !== undefined && !shape.oneOf.includes(value)) {
      return this.fault(place, `takes one of ${shape.oneOf.join(', ')}, not ${kindOf(node)}`);
    }
    if (shape.pattern !== undefined && !shape.pattern.regex.test(value)) {
      return this.fault(place, `takes ${shape.pattern.says}, not ${kindOf(node)}`);
    }
    return value;
  }

  #integer(shape: Extract<Shape, { kind: 'integer' }>, place: Place, node: Node): Json | undefined {
    const { min, max } = shape;
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      return this.fault(place, `takes a whole number, not ${kindOf(node)}`);
    }
    if ((min !== undefined && value < min) || (max !== undefined && value > max)) {
      const range = max === undefined ? `from ${min}` : `from ${min ?? 0} to ${max}`;
      return this.fault(place, `takes a whole number ${range}, not ${value}`);
    }
    return value;
  }

  #boolean(shape: Extract<Shape, { kind: 'boolean' }>, place: Place, node: Node): Json | undefined {
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value !== 'boolean') {
      return this.fault(place, `takes true or false, not ${kindOf(node)}`);
    }
    if (shape.only !== undefined && value !== shape.only.value) {
      return this.fault(place, `cannot be ${value}: ${shape.only.why}`);
    }
    return value;
  }

  #members(shape: ObjectShape | MapShape, place: Place, node: Node): Json | undefined {
    if (!isMap(node)) return this.fault(place, `takes an object, not ${kindOf(node)}`);
    const result: Record<string, Json> = {};
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '?';
      const path = place.path === '' ? key : `${place.path}.${key}`;
      const at: Place = { path, node: pair.key as Node };
      if (shape.kind === 'map' && shape.key !== undefined && !shape.key.regex.test(key)) {
        this.fault(at, `is named wrongly: a name is ${shape.key.says}`);
        continue;
      }
      const member = memberOf(shape, key);
      if (member === undefined) {
        const near = nearest(key, Object.keys((shape as ObjectShape).fields));
        this.fault(at, `is no field${near === undefined ? '' : `; did you mean ${near}?`}`);
        continue;
      }
      if (member.kind === 'refused') {
        this.read(member, at);
        continue;
      }
      const value = this.read(member, { path, node: pair.value as Node });
      if (value !== undefined) result[key] = value;
    }
    for (const name of shape.kind === 'object' ? (shape.required ?? []) : []) {
      if (node.has(name)) continue;
      this.fault(
        { ...place, path: place.path === '' ? name : `${place.path}.${name}` },
        'is missing',
      );
    }
    return result;
  }
}

const memberOf = (shape: ObjectShape | MapShape, key: string): Shape | undefined => {
  if (shape.kind === 'map') return shape.value;
  return Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
};

/**
 * Checks one YAML document of `text` against `shape`. Duplicate keys and invalid YAML are faults
 * too.
 */
export const checkYaml = (text: string, shape: Shape): Checked => {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const checker = new Checker(lines);
  const [document, second] = Array.isArray(documents) ? documents : [];
  if (document === undefined || document.contents === null) {
    checker.fault({ path: '', node: undefined }, 'the file is empty');
    return { kind: 'faults', faults: checker.faults };
  }
  for (const one of documents) {
    refuseRepeatedKeys(one);
    for (const error of one.errors) {
      const { line, col } = lines.linePos(error.pos[0]);
      const message = error.message.split('\n')[0] ?? error.message;
      checker.faults.push({
        line,
        column: col,
        path: '',
        message: message.replace(/ at line .*/, ''),
      });
    }
  }
  if (second !== undefined) {
    checker.fault({ path: '', node: second.contents }, 'a second document; one file, one cluster');
  }
  if (checker.faults.length > 0) return { kind: 'faults', faults: checker.faults };
  const value = checker.read(shape, { path: '', node: document.contents as Node });
  return checker.faults.length > 0 || value === undefined
    ? { kind: 'faults', faults: checker.faults }
    : {
        kind: 'ok',
        value,
        positionOf: (path) => checker.positions.get(path) ?? { line: 1, column: 1 },
      };
};

/** `ng.yaml:12:5: managedNodeGroups[0].minSize takes a whole number, not the text "two"`. */
export const faultLine = (file: string, { line, column, path, message }: Fault): string =>
  `${file}:${line}:${column}: ${path === '' ? '' : `${path} `}${message}`;
