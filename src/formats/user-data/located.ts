// Values with their places in the source: the common form of YAML, TOML and flags before they are
// merged. Independent of the source format.
import type { Json, JsonObject } from '../../api/json.ts';
import { type Position, within } from '../position.ts';

export interface LocatedScalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  readonly at: Position;
  /** For multi-line text that is written literally: where its first line starts. */
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
      // A key named __proto__ is an ordinary key.
      const members = [...located.members].map(([key, { value }]) => [key, toJson(value)] as const);
      return Object.fromEntries(members) as JsonObject;
    }
  }
};

/** The same value, with places within a text that starts at `outer`. */
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

/** The value at a path of keys, or undefined. */
export const find = (
  located: Located | undefined,
  ...path: readonly string[]
): Located | undefined =>
  path.reduce<Located | undefined>((value, key) => memberOf(value, key)?.value, located);

export const textOf = (located: Located | undefined): string | undefined =>
  located?.kind === 'scalar' && typeof located.value === 'string' ? located.value : undefined;

export const numberOf = (located: Located | undefined): number | undefined =>
  located?.kind === 'scalar' && typeof located.value === 'number' ? located.value : undefined;

/** The texts of a list; skips other items. */
export const textsOf = (located: Located | undefined): readonly { text: string; at: Position }[] =>
  located?.kind === 'list'
    ? located.items.flatMap((item) => {
        const text = textOf(item);
        return text === undefined ? [] : [{ text, at: item.at }];
      })
    : [];

/** The kind of a value, for messages. */
export const kindOf = (located: Located): string => {
  if (located.kind === 'map') return 'an object';
  if (located.kind === 'list') return 'a list';
  if (located.value === null) return 'nothing';
  if (typeof located.value === 'string') return `the text ${JSON.stringify(located.value)}`;
  return `the ${typeof located.value} ${String(located.value)}`;
};

/** Every leaf with its path, including empty maps and lists. */
export const leavesOf = (
  located: Located,
  path: readonly string[] = [],
): readonly { readonly path: readonly string[]; readonly value: Located }[] =>
  located.kind === 'map' && located.members.size > 0
    ? [...located.members].flatMap(([key, { value }]) => leavesOf(value, [...path, key]))
    : [{ path, value: located }];
