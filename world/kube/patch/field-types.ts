// The types that structured merge needs for a kind: atomic values, lists that are sets or have
// keys, struct fields and map keys. Read from the facts about built-in kinds and from custom
// schemas; holds no objects.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import {
  type FieldFact,
  findSchema,
  type GroupVersionKind,
  type ResolvedType,
  resolveType,
} from '../schema/index.ts';

export interface ListKey {
  readonly name: string;
  readonly default: Json | undefined;
}

export type FieldType =
  /** A scalar, or an atomic map, list or struct. */
  | { readonly kind: 'leaf'; readonly scalar: ScalarKind | undefined }
  | { readonly kind: 'list'; readonly keys: readonly ListKey[] | undefined; readonly of: Lazy }
  | {
      readonly kind: 'map';
      /** Declared fields. */
      readonly field: (name: string) => FieldType | undefined;
      /** Type of undeclared keys; undefined when they are not allowed. */
      readonly of: Lazy | undefined;
    }
  /** Not described by a schema: maps are granular, lists are atomic. */
  | { readonly kind: 'deduced' };

type Lazy = () => FieldType;
export type ScalarKind = 'string' | 'number' | 'boolean' | 'any';

const anyLeaf: FieldType = { kind: 'leaf', scalar: undefined };
const deduced: FieldType = { kind: 'deduced' };
const deducedMap: FieldType = { kind: 'map', field: () => undefined, of: () => deduced };

const scalarLeaf = (scalar: ScalarKind): FieldType => ({ kind: 'leaf', scalar });
const leaves = {
  string: scalarLeaf('string'),
  number: scalarLeaf('number'),
  boolean: scalarLeaf('boolean'),
  any: scalarLeaf('any'),
} as const;

/** The type of a value without a schema. */
export const deducedType = (value: Json | undefined): FieldType =>
  isObject(value) ? deducedMap : anyLeaf;

const structs = new Map<string, FieldType>();

function structType(type: Extract<ResolvedType, { kind: 'struct' }>): FieldType {
  const known = structs.get(type.name);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldType>();
  const made: FieldType =
    type.structType === 'atomic'
      ? anyLeaf
      : {
          kind: 'map',
          of: undefined,
          field: (name) => {
            const found = fields.get(name);
            if (found !== undefined) return found;
            const fact = type.fields.get(name);
            if (fact === undefined) return undefined;
            const of = factType(fact);
            fields.set(name, of);
            return of;
          },
        };
  structs.set(type.name, made);
  return made;
}

const scalars: Readonly<Record<string, ScalarKind>> = {
  string: 'string',
  bytes: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  float64: 'number',
};
const jsonSpecials: readonly string[] = ['RawExtension', 'AnyJson', 'FieldsV1'];

function resolved(type: ResolvedType): FieldType {
  switch (type.kind) {
    case 'struct':
      return structType(type);
    case 'list':
      return anyLeaf;
    case 'map': {
      const { of } = type;
      return { kind: 'map', field: () => undefined, of: () => resolved(resolveType(of)) };
    }
    case 'scalar':
      return leaves[scalars[type.scalar] ?? 'any'];
    case 'special':
      if (jsonSpecials.includes(type.special) || type.special.startsWith('SchemaOr')) {
        return deduced;
      }
      return type.special === 'Time' || type.special === 'MicroTime' ? leaves.string : leaves.any;
  }
}

/** Value of a missing key: its default, else Go's zero value. */
function keyDefault(fact: FieldFact | undefined): Json | undefined {
  if (fact === undefined || fact.default !== undefined) return fact?.default;
  if (fact.pointer || fact.omitEmpty) return undefined;
  const type = resolveType(fact.type);
  if (type.kind !== 'scalar') return undefined;
  return scalars[type.scalar] === 'string' ? '' : 0;
}

/** The keys of a list of structs, with the defaults for missing keys. */
function listKeys(names: readonly string[], of: ResolvedType): readonly ListKey[] {
  const fields = of.kind === 'struct' ? of.fields : new Map<string, FieldFact>();
  return [...names].sort().map((name) => ({ name, default: keyDefault(fields.get(name)) }));
}

function factType(fact: FieldFact): FieldType {
  const type = resolveType(fact.type);
  if (fact.structType === 'atomic' || fact.mapType === 'atomic') return anyLeaf;
  if (type.kind !== 'list') return resolved(type);
  const element = resolveType(type.of);
  const of = (): FieldType => resolved(element);
  const merges = fact.patchStrategy.includes('merge');
  if (fact.listType === 'atomic') return anyLeaf;
  if (fact.listType === 'set') return { kind: 'list', keys: undefined, of };
  if (fact.listType === 'map') {
    return { kind: 'list', keys: listKeys(fact.listMapKeys, element), of };
  }
  if (fact.listType !== undefined || !merges) return anyLeaf;
  const keys = fact.mergeKey === undefined ? undefined : listKeys([fact.mergeKey], element);
  return { kind: 'list', keys, of };
}

const objectMeta = (): FieldType => {
  const schema = findSchema({ group: 'meta.k8s.io', version: 'v1', kind: 'ObjectMeta' });
  return schema === undefined ? deduced : structType(schema.type);
};

const customTypes = new WeakMap<JsonObject, FieldType>();

function customType(schema: JsonObject): FieldType {
  const known = customTypes.get(schema);
  if (known !== undefined) return known;
  const made = makeCustom(schema);
  customTypes.set(schema, made);
  return made;
}

const objectAt = (schema: JsonObject, key: string): JsonObject | undefined => {
  const value = schema[key];
  return isObject(value) ? value : undefined;
};

function customList(schema: JsonObject): FieldType {
  const items = objectAt(schema, 'items') ?? {};
  const of = (): FieldType => customType(items);
  const kind = schema['x-kubernetes-list-type'];
  if (kind === 'set') return { kind: 'list', keys: undefined, of };
  if (kind !== 'map') return anyLeaf;
  const names = schema['x-kubernetes-list-map-keys'];
  const properties = objectAt(items, 'properties') ?? {};
  const keys = (Array.isArray(names) ? names.map(String) : []).sort().map((name) => ({
    name,
    default: objectAt(properties, name)?.default,
  }));
  return { kind: 'list', keys, of };
}

function makeCustom(schema: JsonObject): FieldType {
  if (schema['x-kubernetes-int-or-string'] === true) return leaves.any;
  switch (schema.type) {
    case 'array':
      return customList(schema);
    case 'string':
      return leaves.string;
    case 'boolean':
      return leaves.boolean;
    case 'integer':
    case 'number':
      return leaves.number;
    case 'object':
      break;
    default:
      return deduced;
  }
  if (schema['x-kubernetes-map-type'] === 'atomic') return anyLeaf;
  const properties = objectAt(schema, 'properties') ?? {};
  const others = objectAt(schema, 'additionalProperties');
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || others !== undefined;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  return {
    kind: 'map',
    of: open ? () => (others === undefined ? deduced : customType(others)) : undefined,
    field: (name) => {
      if (embedded && name === 'metadata') return objectMeta();
      if (embedded && (name === 'apiVersion' || name === 'kind')) return leaves.string;
      const property = objectAt(properties, name);
      return property === undefined ? undefined : customType(property);
    },
  };
}

const roots = new WeakMap<JsonObject, FieldType>();

/** The type of a complete object; a kind without a schema is deduced from its values. */
export function objectType(gvk: GroupVersionKind, custom: JsonObject | undefined): FieldType {
  if (custom === undefined) {
    const schema = findSchema(gvk);
    return schema === undefined ? deducedMap : structType(schema.type);
  }
  const known = roots.get(custom);
  if (known !== undefined) return known;
  const type = customType(custom);
  const made: FieldType = {
    kind: 'map',
    of: type.kind === 'map' ? type.of : () => deduced,
    field: (name) => {
      if (name === 'metadata') return objectMeta();
      if (name === 'apiVersion' || name === 'kind') return leaves.string;
      return type.kind === 'map' ? type.field(name) : undefined;
    },
  };
  roots.set(custom, made);
  return made;
}
