// components.schemas of an OpenAPI v3 document: types, required, enums and the x-kubernetes-*
// extensions that kubectl uses to merge and explain. Generated from the facts, without
// descriptions.
import { defined } from '../../../src/api/defined.ts';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import {
  type FieldFact,
  type KindSchema,
  namedType,
  resolveType,
  type ScalarType,
  type SpecialType,
  type StructFact,
  type TypeRef,
} from './facts.ts';
import { componentName, specialName } from './openapi-names.ts';

const SCALARS: Readonly<Record<ScalarType, JsonObject>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};
const SPECIALS: Readonly<Record<SpecialType, JsonObject>> = {
  Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  IntOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  Time: { type: 'string', format: 'date-time' },
  MicroTime: { type: 'string', format: 'date-time' },
  Duration: { type: 'string' },
  FieldsV1: { type: 'object' },
  RawExtension: { type: 'object' },
  AnyJson: {},
  SchemaOrArray: {},
  SchemaOrBool: {},
  SchemaOrStringArray: {},
};

const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** Collects components as they are referenced. */
export class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #kinds: ReadonlyMap<string, readonly KindSchema[]>;

  constructor(kinds: readonly KindSchema[]) {
    this.#kinds = Map.groupBy(kinds, (kind) => kind.type.name);
  }

  add(name: string, schema: Json): void {
    this.#schemas.set(name, schema);
  }

  /** Reference to a struct's component, which is added with all components below it. */
  struct(type: StructFact): JsonObject {
    const name = componentName(type.name);
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, null);
      this.#schemas.set(name, this.#structSchema(type));
    }
    return reference(name);
  }

  /** Reference to a struct by its Go name, e.g. `meta/v1.ObjectMeta`. */
  named(typeName: string): JsonObject {
    const type = namedType(typeName);
    return type.kind === 'struct' ? this.struct(type) : this.#type(type.type);
  }

  finish(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #special(special: SpecialType): JsonObject {
    const name = specialName(special);
    if (!this.#schemas.has(name)) this.#schemas.set(name, SPECIALS[special]);
    return reference(name);
  }

  #type(ref: TypeRef): JsonObject {
    if (ref.kind === 'named') {
      const type = namedType(ref.name);
      if (type.kind === 'struct') return this.struct(type);
      const schema = this.#type(type.type);
      return type.enum.length === 0 ? schema : { ...schema, enum: type.enum };
    }
    if (ref.kind === 'scalar') return SCALARS[ref.scalar];
    if (ref.kind === 'special') return this.#special(ref.special);
    const inner = this.#type(ref.of);
    return ref.kind === 'list'
      ? { type: 'array', items: inner }
      : { type: 'object', additionalProperties: inner };
  }

  #structSchema(type: StructFact): JsonObject {
    const properties: [string, Json][] = [];
    const required: string[] = [];
    for (const field of type.fields.values()) {
      properties.push([field.name, this.#property(field)]);
      if (field.required) required.push(field.name);
    }
    const kinds = (this.#kinds.get(type.name) ?? []).map(({ group, version, kind }) => ({
      // DeleteOptions and similar kinds have no group of their own.
      group: group === 'meta.k8s.io' ? '' : group,
      kind,
      version,
    }));
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': kinds }),
      ...defined({ 'x-kubernetes-map-type': type.structType }),
    };
  }

  #property(field: FieldFact): JsonObject {
    const schema = this.#type(field.type);
    const extra: JsonObject = {
      ...defined({ default: field.default }),
      ...extensionsOf(field),
    };
    if (Object.keys(extra).length === 0) return schema;
    // A reference cannot have siblings.
    return schema.$ref === undefined ? { ...schema, ...extra } : { allOf: [schema], ...extra };
  }
}

function extensionsOf(field: FieldFact): JsonObject {
  const isMap = resolveType(field.type).kind !== 'list';
  const mapType = field.mapType ?? (isMap ? field.structType : undefined);
  return {
    ...defined({ 'x-kubernetes-list-type': field.listType }),
    ...(field.listMapKeys.length === 0 ? {} : { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...defined({
      'x-kubernetes-map-type': mapType,
      'x-kubernetes-patch-merge-key': field.mergeKey,
    }),
    ...(field.patchStrategy.length === 0
      ? {}
      : { 'x-kubernetes-patch-strategy': field.patchStrategy.join(',') }),
  };
}
