// Parses TOML 1.0 to located values, reports every fault and continues; prints one canonical form:
// a table's plain keys first, then its tables. Never throws.
import { isObject, type Json } from '../../api/json.ts';
import { begin, type ParseFault, type Position, within } from '../position.ts';
import { type Located, type LocatedMap, shifted } from './located.ts';
import {
  type Key,
  type OpenTable,
  type TableMarks,
  TomlCursor,
  TomlSyntaxError,
} from './toml-values.ts';

/** What EKS' own, smaller parser of Bottlerocket's settings refuses (EKS user guide). */
export interface TomlForm {
  readonly at: Position;
  readonly form: 'quoted-key-with-quotes' | 'escaped-quotes' | 'mixed-list' | 'quoted-header';
}

export interface TomlResult {
  readonly value: LocatedMap;
  readonly faults: readonly ParseFault[];
  readonly forms: readonly TomlForm[];
}

const maxFaults = 20;
const maxTextLength = 4 * 1024 * 1024;

class Reader {
  readonly cursor: TomlCursor;
  readonly root: OpenTable;
  readonly faults: ParseFault[] = [];
  readonly forms: TomlForm[] = [];
  readonly #marks: TableMarks = { fixed: new WeakSet(), dotted: new WeakSet() };
  readonly #closed = new WeakSet<object>();
  #table: OpenTable;

  constructor(text: string) {
    this.cursor = new TomlCursor(text);
    this.root = { kind: 'map', members: new Map(), at: begin };
    this.#table = this.root;
  }

  run(): void {
    const { cursor } = this;
    for (;;) {
      cursor.skipSpace();
      if (cursor.done || this.faults.length >= maxFaults) return;
      try {
        if (cursor.here === '[') this.#header();
        else this.#pair();
        cursor.endOfLine();
      } catch (error) {
        if (!(error instanceof TomlSyntaxError)) throw error;
        this.faults.push({ at: cursor.position(error.offset), message: error.message });
        cursor.skipLine();
      }
    }
  }

  #pair(): void {
    const { cursor } = this;
    const keys = cursor.key();
    cursor.expect('=', 'after the key');
    cursor.skipBlanks();
    const from = cursor.offset;
    const value = cursor.value();
    this.#formsOf(keys, value, cursor.text.slice(from, cursor.offset));
    if (value.kind !== 'scalar') this.#close(value);
    cursor.put(this.#table, keys, value, this.#marks);
  }

  #formsOf(keys: readonly Key[], value: Located, source: string): void {
    for (const { name, quoted, offset } of keys) {
      if (quoted && /["']/.test(name)) {
        const at = this.cursor.position(offset);
        this.forms.push({ at, form: 'quoted-key-with-quotes' });
      }
    }
    const { at } = value;
    if (/^"/.test(source) && /\\"/.test(source)) this.forms.push({ at, form: 'escaped-quotes' });
    if (value.kind === 'list') {
      const types = new Set(
        value.items.map((item) => (item.kind === 'scalar' ? typeof item.value : item.kind)),
      );
      const numbers = source.match(/[[,]\s*[+-]?\d[\d_.eE+-]*/g) ?? [];
      const floats = numbers.filter((one) => /[.eE]/.test(one)).length;
      if (types.size > 1 || (floats > 0 && floats < numbers.length)) {
        this.forms.push({ at, form: 'mixed-list' });
      }
    }
  }

  #close(value: Located): void {
    this.#closed.add(value);
    this.#marks.fixed.add(value);
    if (value.kind === 'map')
      for (const member of value.members.values()) this.#close(member.value);
  }

  #header(): void {
    const { cursor } = this;
    const from = cursor.offset;
    const isList = cursor.text.startsWith('[[', from);
    cursor.offset += isList ? 2 : 1;
    // Keys after an invalid header must not be added to the previous table.
    this.#table = { kind: 'map', members: new Map(), at: cursor.position(from) };
    const keys = cursor.key();
    for (let i = 0; i < (isList ? 2 : 1); i++) cursor.expect(']', 'at the end of a header');
    if (keys.some(({ quoted }) => quoted)) {
      this.forms.push({ at: cursor.position(from), form: 'quoted-header' });
    }
    this.#table = this.#open(keys, isList);
  }

  #open(keys: readonly Key[], isList: boolean): OpenTable {
    const { cursor } = this;
    let open = this.root;
    for (const [i, { name, offset }] of keys.entries()) {
      const isLast = i === keys.length - 1;
      const keyAt = cursor.position(offset);
      const known = open.members.get(name)?.value;
      const fresh: OpenTable = { kind: 'map', members: new Map(), at: keyAt };
      const path = keys.slice(0, i + 1).map((key) => key.name);
      if (isLast && isList) {
        if (known !== undefined && (known.kind !== 'list' || this.#closed.has(known))) {
          cursor.fail(`${path.join('.')} is set twice, first on line ${known.at.line}`, offset);
        }
        const items = known?.kind === 'list' ? known.items : [];
        const value: Located = { kind: 'list', items: [...items, fresh], at: known?.at ?? keyAt };
        open.members.set(name, { keyAt, value });
        return fresh;
      }
      if (known === undefined) {
        open.members.set(name, { keyAt, value: fresh });
        if (isLast) this.#marks.fixed.add(fresh);
        open = fresh;
        continue;
      }
      const next = known.kind === 'list' && !isLast ? known.items.at(-1) : known;
      const { fixed, dotted } = this.#marks;
      if (
        next?.kind !== 'map' ||
        this.#closed.has(known) ||
        (isLast && (fixed.has(next) || dotted.has(next)))
      ) {
        return cursor.fail(
          `[${path.join('.')}] occurs twice, first on line ${known.at.line}`,
          offset,
        );
      }
      if (isLast) fixed.add(next);
      open = next as OpenTable;
    }
    return open;
  }
}

/** Parses `text`, which starts at `outer` of the file. */
export const parseToml = (text: string, outer: Position = begin): TomlResult => {
  if (text.length > maxTextLength) {
    const message = `more than ${maxTextLength} characters of TOML`;
    const value: LocatedMap = { kind: 'map', members: new Map(), at: outer };
    return { value, faults: [{ at: outer, message }], forms: [] };
  }
  const reader = new Reader(text);
  reader.run();
  const move = <T extends { readonly at: Position }>(one: T): T => ({
    ...one,
    at: within(outer, one.at),
  });
  return {
    value: shifted(reader.root, outer) as LocatedMap,
    faults: reader.faults.map(move),
    forms: reader.forms.map(move),
  };
};

const bare = /^[A-Za-z0-9_-]+$/;

/** A basic string: JSON's escapes are valid in TOML, except for DEL. */
const printText = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');

export const printTomlKey = (key: string): string => (bare.test(key) ? key : printText(key));

const printNumber = (value: number): string => {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return String(value);
};

const printValue = (value: Json | undefined): string => {
  if (typeof value === 'string') return printText(value);
  if (typeof value === 'number') return printNumber(value);
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`;
  if (!isObject(value)) return '""';
  const members = Object.entries(value).map(
    ([key, one]) => `${printTomlKey(key)} = ${printValue(one)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
};

/**
 * Prints a table and its subtables, each with its header. TOML has no null: null values are
 * omitted.
 */
export const printToml = (value: Json, path: readonly string[] = []): string => {
  if (!isObject(value)) return '';
  const members = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  const plain = members.filter(([, one]) => !isObject(one));
  const tables = members.filter(([, one]) => isObject(one));
  const header = path.length === 0 ? '' : `[${path.map(printTomlKey).join('.')}]\n`;
  const own = plain.map(([key, one]) => `${printTomlKey(key)} = ${printValue(one)}\n`).join('');
  const needsHeader = path.length > 0 && (plain.length > 0 || tables.length === 0);
  const below = tables.map(([key, one]) => printToml(one ?? null, [...path, key]));
  return [`${needsHeader ? header : ''}${own}`, ...below].filter((one) => one !== '').join('\n');
};
