// Values that know where they were written: what YAML, TOML and flags become before they are
// merged. Never knows which format a value came from.
import type { Json, JsonObject } from '../../api/json.ts';
import { type Position, within } from '../position.ts';

export interface LocatedScalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  readonly at: Position;
  /** Of a text over several lines that is written as it is: where its first line begins. */
  readonly contentAt?: Position;
}
export interface LocatedList {
  readonly kind: 'list';
  readonly items: readonly Located[];
  readonly at: Position;
}
export interface LocatedMap {
  readonly kind: 'map';
  readonly members: ReadonlyMap<string, LocatedMember>;
  readonly at: Position;
}
export interface LocatedMember {
  readonly keyAt: Position;
  readonly value: Located;
}
export type Located = LocatedScalar | LocatedList | LocatedMap;

export const toJson = (located: Located): Json => {
  switch (located.kind) {
    case 'scalar':
      return located.value;
    case 'list':
      return located.items.map(toJson);
    case 'map': {
      // A key named __proto__ is a key like any other.
      const members = [...located.members].map(([key, { value }]) => [key, toJson(value)] as const);
      return Object.fromEntries(members) as JsonObject;
    }
  }
};

/** The same value as written within a text that begins at `outer`. */
export const shifted = (located: Located, outer: Position): Located => {
  const at = within(outer, located.at);
  switch (located.kind) {
    case 'scalar':
      return located.contentAt === undefined
        ? { ...located, at }
        : { ...located, at, contentAt: within(outer, located.contentAt) };
    case 'list':
      return { ...located, at, items: located.items.map((item) => shifted(item, outer)) };
    case 'map':
      return {
        ...located,
        at,
        members: new Map(
          [...located.members].map(([key, { keyAt, value }]) => [
            key,
            { keyAt: within(outer, keyAt), value: shifted(value, outer) },
          ]),
        ),
      };
  }
};

export const memberOf = (located: Located | undefined, key: string): LocatedMember | undefined =>
  located?.kind === 'map' ? located.members.get(key) : undefined;

/** What stands at a path of keys; undefined where there is none. */
export const find = (
  located: Located | undefined,
  ...path: readonly string[]
): Located | undefined =>
  path.reduce<Located | undefined>((value, key) => memberOf(value, key)?.value, located);

export const textOf = (located: Located | undefined): string | undefined =>
  located?.kind === 'scalar' && typeof located.value === 'string' ? located.value : undefined;

export const numberOf = (located: Located | undefined): number | undefined =>
  located?.kind === 'scalar' && typeof located.value === 'number' ? located.value : undefined;

/** The texts of a list; items that are none are left out. */
export const textsOf = (located: Located | undefined): readonly { text: string; at: Position }[] =>
  located?.kind === 'list'
    ? located.items.flatMap((item) => {
        const text = textOf(item);
        return text === undefined ? [] : [{ text, at: item.at }];
      })
    : [];

/** What a value is, for sentences. */
export const kindOf = (located: Located): string => {
  if (located.kind === 'map') return 'an object';
  if (located.kind === 'list') return 'a list';
  if (located.value === null) return 'nothing';
  if (typeof located.value === 'string') return `the text ${JSON.stringify(located.value)}`;
  return `the ${typeof located.value} ${String(located.value)}`;
};

/** Every leaf with its path; empty maps and lists are leaves too. */
export const leavesOf = (
  located: Located,
  path: readonly string[] = [],
): readonly { readonly path: readonly string[]; readonly value: Located }[] =>
  located.kind === 'map' && located.members.size > 0
    ? [...located.members].flatMap(([key, { value }]) => leavesOf(value, [...path, key]))
    : [{ path, value: located }];
