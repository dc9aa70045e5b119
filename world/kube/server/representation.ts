// The form of an answer: the object, PartialObjectMetadata or a server-side Table, by the Accept
// header (apiserver's negotiation and tableconvertor). The printers of cells are injected.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { ResourceDefinition } from './definition.ts';
import { metadataOf, type Stored } from './objects.ts';
import { failure } from './status.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority: number;
  readonly cell: (object: JsonObject, nowMs: number) => Json;
}
export type Printer = readonly Column[];

export type Shape =
  | { readonly kind: 'object' }
  | { readonly kind: 'table'; readonly version: string }
  | { readonly kind: 'metadata'; readonly version: string };

const acceptable = new Set([
  'application/json',
  'application/yaml',
  'application/*',
  '*/*',
  '',
  'application/vnd.kubernetes.protobuf',
]);

const plain: Shape = { kind: 'object' };

/**
 * The first supported form in Accept. Answers are JSON whatever the client prefers, if it accepts
 * JSON at all.
 */
export function shapeOf(accept: string): Shape {
  if (accept === 'application/json') return plain;
  for (const option of accept.split(',')) {
    const [media = '', ...parameters] = option.split(';').map((part) => part.trim());
    if (!acceptable.has(media) || media.endsWith('protobuf') || media.endsWith('yaml')) continue;
    const given = new Map(parameters.map((text) => text.split('=', 2) as [string, string]));
    const as = given.get('as');
    if (as === undefined) return { kind: 'object' };
    const version = given.get('v') ?? 'v1';
    if (given.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue;
    if (as === 'Table') return { kind: 'table', version };
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') {
      return { kind: 'metadata', version };
    }
  }
  if (accept.split(',').some((option) => acceptable.has(option.split(';', 1)[0]?.trim() ?? ''))) {
    return { kind: 'object' };
  }
  throw failure(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/yaml, ' +
      'application/vnd.kubernetes.protobuf',
  );
}

const partials = new WeakMap<JsonObject, JsonObject>();

/** PartialObjectMetadata of one object; cached per stored version. */
function partialOf(object: JsonObject, version: string): JsonObject {
  if (version !== 'v1') return makePartial(object, version);
  const known = partials.get(object);
  if (known !== undefined) return known;
  const partial = makePartial(object, version);
  partials.set(object, partial);
  return partial;
}

const makePartial = (object: JsonObject, version: string): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: metadataOf(object),
});

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableRequest {
  readonly version: string;
  readonly include: IncludeObject;
  readonly nowMs: number;
}

export function tableOf(
  printer: Printer,
  objects: readonly JsonObject[],
  listMetadata: JsonObject,
  request: TableRequest,
): JsonObject {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${request.version}`,
    metadata: listMetadata,
    columnDefinitions: printer.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format ?? '',
      description: column.description ?? '',
      priority: column.priority,
    })),
    rows: objects.map((object) => ({
      cells: printer.map((column) => column.cell(object, request.nowMs)),
      ...(request.include === 'None'
        ? {}
        : {
            object: request.include === 'Object' ? object : partialOf(object, request.version),
          }),
    })),
  };
}

export function includeOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject');
  return value === 'None' || value === 'Object' ? value : 'Metadata';
}

/** One object in the requested form. */
export function shown(
  shape: Shape,
  object: Stored | JsonObject,
  printer: () => Printer,
  request: { readonly include: IncludeObject; readonly nowMs: number },
): JsonObject {
  if (shape.kind === 'object') return object;
  if (shape.kind === 'metadata') return partialOf(object, shape.version);
  const { resourceVersion } = metadataOf(object);
  return tableOf(printer(), [object], { resourceVersion }, { ...request, version: shape.version });
}

export const listKindOf = (definition: ResourceDefinition, shape: Shape): JsonObject =>
  shape.kind === 'metadata'
    ? {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${shape.version}`,
      }
    : {
        kind: definition.listKind,
        apiVersion:
          definition.group === ''
            ? definition.version
            : `${definition.group}/${definition.version}`,
      };
