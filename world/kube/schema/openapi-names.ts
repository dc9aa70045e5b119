// Names of types in OpenAPI documents, and paths of kinds. Names only.
import type { KindSchema } from './facts.ts';

/** A served resource as the document needs it; the server's own definitions have this form. */
export interface OpenApiResource {
  readonly group: string;
  readonly version: string;
  /** Plural, as in paths. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly group?: string;
    readonly version?: string;
    readonly verbs: readonly string[];
  }[];
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** `/api/v1` or `/apis/apps/v1`. */
export const rootPath = ({ group, version }: GroupVersion): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

const SPECIAL_NAMES: Readonly<Record<string, string>> = {
  Quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  IntOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  Time: `${META}.Time`,
  MicroTime: `${META}.MicroTime`,
  Duration: `${META}.Duration`,
  FieldsV1: `${META}.FieldsV1`,
  RawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
};
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const EXTENSION_NAMES: Readonly<Record<string, string>> = {
  AnyJson: 'JSON',
  SchemaOrArray: 'JSONSchemaPropsOrArray',
  SchemaOrBool: 'JSONSchemaPropsOrBool',
  SchemaOrStringArray: 'JSONSchemaPropsOrStringArray',
};

export const specialName = (special: string): string =>
  SPECIAL_NAMES[special] ?? `${EXTENSIONS}.${EXTENSION_NAMES[special] ?? special}`;

/** `core/v1.Pod` as `io.k8s.api.core.v1.Pod`. */
export function componentName(typeName: string): string {
  const dot = typeName.lastIndexOf('.');
  const dir = typeName.slice(0, dot);
  const name = typeName.slice(dot + 1);
  if (dir === 'meta/v1') return `${META}.${name}`;
  if (dir === 'apiextensions/v1') return `${EXTENSIONS}.${name}`;
  return `io.k8s.api.${dir.replaceAll('/', '.')}.${name}`;
}

/** `dev.drover.v1alpha1.NodeGroup`: custom kinds are named by their reversed group. */
export const customName = (of: GroupVersion & { readonly kind: string }): string =>
  [...of.group.split('.').reverse(), of.version, of.kind].join('.');

export const kindComponent = (
  of: GroupVersion & { readonly kind: string },
  schema: KindSchema | undefined,
): string => (schema === undefined ? customName(of) : componentName(schema.type.name));

/** FNV-1a over UTF-16 units, as hex: clients cache a document until the hash changes. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
