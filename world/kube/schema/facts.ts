// Reads the generated facts about built-in kinds: fields, types, list types, merge keys, protobuf
// numbers. Each type is parsed on first use. Contains no facts of its own and no descriptions.
import type { Json } from '../../../src/api/json.ts';
import facts from './facts/kube.json' with { type: 'json' };

/** Types whose JSON form is not that of a struct, list or map. */
export type SpecialType =
  | 'Quantity'
  | 'IntOrString'
  | 'Time'
  | 'MicroTime'
  | 'Duration'
  | 'FieldsV1'
  | 'RawExtension'
  | 'AnyJson'
  | 'SchemaOrArray'
  | 'SchemaOrBool'
  | 'SchemaOrStringArray';

export type ScalarType = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes';

export type TypeRef =
  | { readonly kind: 'scalar'; readonly scalar: ScalarType }
  | { readonly kind: 'special'; readonly special: SpecialType }
  | { readonly kind: 'list'; readonly of: TypeRef }
  | { readonly kind: 'map'; readonly of: TypeRef }
  /** A named Go type, e.g. `core/v1.PodSpec` or `core/v1.Protocol`. */
  | { readonly kind: 'named'; readonly name: string };

export interface FieldFact {
  readonly name: string;
  readonly type: TypeRef;
  /**
   * Protobuf field numbers: several if the Go struct is embedded, none if the field is not in
   * protobuf.
   */
  readonly proto: readonly number[];
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly required: boolean;
  readonly patchStrategy: readonly string[];
  readonly mergeKey: string | undefined;
  readonly listType: string | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly structType: string | undefined;
  readonly default: Json | undefined;
}

export interface StructFact {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldFact>;
  readonly structType: string | undefined;
}

export interface AliasFact {
  readonly kind: 'alias';
  readonly name: string;
  readonly type: TypeRef;
  readonly enum: readonly string[];
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface KindSchema extends GroupVersionKind {
  readonly namespaced: boolean;
  readonly type: StructFact;
}

/** Debian packages (Kubernetes 1.32; CRD types 1.36) that the facts were read from. */
export const factSources: readonly string[] = facts.sources;

const kindTexts: Readonly<Record<string, string>> = facts.kinds;
const typeTexts: Readonly<Record<string, string | Readonly<Record<string, string>>>> = facts.types;

const SCALARS: ReadonlySet<string> = new Set<ScalarType>([
  'string',
  'bool',
  'int32',
  'int64',
  'float64',
  'bytes',
]);
const isScalar = (text: string): text is ScalarType => SCALARS.has(text);
const SPECIALS: ReadonlySet<string> = new Set<SpecialType>([
  'Quantity',
  'IntOrString',
  'Time',
  'MicroTime',
  'Duration',
  'FieldsV1',
  'RawExtension',
  'AnyJson',
  'SchemaOrArray',
  'SchemaOrBool',
  'SchemaOrStringArray',
]);
const isSpecial = (text: string): text is SpecialType => SPECIALS.has(text);

const refs = new Map<string, TypeRef>();
const types = new Map<string, StructFact | AliasFact>();
const kinds = new Map<string, KindSchema>();

function makeRef(text: string): TypeRef {
  if (text.startsWith('[]')) return { kind: 'list', of: typeRef(text.slice(2)) };
  if (text.startsWith('{}')) return { kind: 'map', of: typeRef(text.slice(2)) };
  if (isScalar(text)) return { kind: 'scalar', scalar: text };
  if (isSpecial(text)) return { kind: 'special', special: text };
  return { kind: 'named', name: text };
}

function typeRef(text: string): TypeRef {
  let ref = refs.get(text);
  if (ref === undefined) {
    ref = makeRef(text);
    refs.set(text, ref);
  }
  return ref;
}

function parseDefault(text: string): Json {
  const value: Json = JSON.parse(text);
  return value;
}

function parseField(name: string, text: string): FieldFact {
  const defaultAt = text.indexOf(' d:');
  const words = (defaultAt < 0 ? text : text.slice(0, defaultAt)).split(' ');
  const value = (prefix: string): string | undefined =>
    words.find((word, index) => index > 0 && word.startsWith(prefix))?.slice(prefix.length);
  const proto = value('p');
  const strategy = value('~');
  return {
    name,
    type: typeRef(words[0] ?? ''),
    proto: proto === undefined ? [] : proto.split('.').map(Number),
    pointer: words.includes('*'),
    omitEmpty: words.includes('o'),
    required: words.includes('!'),
    patchStrategy: strategy === undefined ? [] : strategy.split(','),
    mergeKey: value('^'),
    listType: value('l:'),
    listMapKeys: words.filter((word) => word.startsWith('k:')).map((word) => word.slice(2)),
    mapType: value('m:'),
    structType: value('s:'),
    default: defaultAt < 0 ? undefined : parseDefault(text.slice(defaultAt + 3)),
  };
}

function parseType(name: string): StructFact | AliasFact {
  const text = typeTexts[name];
  if (text === undefined) throw new Error(`no facts about type ${name}`);
  if (typeof text === 'string') {
    const [type = '', values] = text.split(' ');
    return { kind: 'alias', name, type: typeRef(type), enum: values?.split(',') ?? [] };
  }
  const fields = new Map<string, FieldFact>();
  for (const [field, fieldText] of Object.entries(text)) {
    if (field !== '#') fields.set(field, parseField(field, fieldText));
  }
  return { kind: 'struct', name, fields, structType: text['#'] };
}

/**
 * A named type. Throws for a name that occurs in no field of the facts, which is a programmer's
 * error.
 */
export function namedType(name: string): StructFact | AliasFact {
  let type = types.get(name);
  if (type === undefined) {
    type = parseType(name);
    types.set(name, type);
  }
  return type;
}

export type ResolvedType = Exclude<TypeRef, { readonly kind: 'named' }> | StructFact;

/** Resolves named aliases (`core/v1.Protocol` is a string) to the type that JSON shows. */
export function resolveType(ref: TypeRef): ResolvedType {
  if (ref.kind !== 'named') return ref;
  const type = namedType(ref.name);
  return type.kind === 'struct' ? type : resolveType(type.type);
}

/** The schema of a served kind; undefined for a custom resource or an unknown kind. */
export function findSchema(gvk: GroupVersionKind): KindSchema | undefined {
  const key = `${gvk.group}/${gvk.version}/${gvk.kind}`;
  const known = kinds.get(key);
  if (known !== undefined) return known;
  const text = kindTexts[key];
  if (text === undefined) return undefined;
  const [name = '', scope] = text.split(' ');
  const type = namedType(name);
  if (type.kind !== 'struct') throw new Error(`${name} is no struct`);
  const { group, version, kind } = gvk;
  const schema: KindSchema = { group, version, kind, namespaced: scope !== 'cluster', type };
  kinds.set(key, schema);
  return schema;
}

/** Every kind in the facts; meta/v1 is included as group `meta.k8s.io`. */
export function allKinds(): readonly KindSchema[] {
  return Object.keys(kindTexts).flatMap((key) => {
    const [group = '', version = '', kind = ''] = key.split('/');
    const schema = findSchema({ group, version, kind });
    return schema === undefined ? [] : [schema];
  });
}
