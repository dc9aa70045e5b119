// The pruned service models (models/*.json, written by scripts/prune-aws-models.ts): types, loading
// on first use, and reading of traits. Never interprets a request.

export type Protocol = 'rest-json' | 'json' | 'query' | 'ec2';

export type ShapeType =
  | 'structure'
  | 'list'
  | 'map'
  | 'string'
  | 'boolean'
  | 'integer'
  | 'long'
  | 'float'
  | 'double'
  | 'timestamp'
  | 'blob';

/** A shape used as member, list element, map key or value. Its traits win over the shape's. */
export interface ShapeRef {
  readonly shape: string;
  readonly location?: 'uri' | 'querystring' | 'header' | 'statusCode';
  readonly locationName?: string;
  readonly queryName?: string;
  readonly flattened?: boolean;
  readonly idempotencyToken?: boolean;
  readonly timestampFormat?: string;
}

export interface Shape {
  readonly type: ShapeType;
  readonly members?: Readonly<Record<string, ShapeRef>>;
  readonly member?: ShapeRef;
  readonly key?: ShapeRef;
  readonly value?: ShapeRef;
  readonly required?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly flattened?: boolean;
  readonly locationName?: string;
  readonly timestampFormat?: string;
  readonly sensitive?: boolean;
  readonly union?: boolean;
  readonly exception?: boolean;
  readonly fault?: boolean;
  readonly error?: ErrorTrait;
}

export interface ErrorTrait {
  readonly code?: string;
  readonly httpStatusCode?: number;
  readonly senderFault?: boolean;
}

export interface Operation {
  readonly http?: {
    readonly method: string;
    readonly requestUri: string;
    readonly responseCode?: number;
  };
  readonly input?: string;
  readonly output?: string;
  readonly resultWrapper?: string;
  readonly errors?: readonly string[];
}

export interface ServiceModel {
  readonly source: {
    readonly package: string;
    readonly version: string;
    readonly file: string;
    readonly license: string;
  };
  readonly metadata: {
    readonly apiVersion: string;
    readonly protocol: Protocol;
    readonly jsonVersion?: string;
    readonly targetPrefix?: string;
    readonly xmlNamespace?: string;
    readonly serviceFullName: string;
  };
  readonly operations: Readonly<Record<string, Operation>>;
  /** Operations of AWS that this file omits. */
  readonly omittedOperations: readonly string[];
  readonly shapes: Readonly<Record<string, Shape>>;
}

const loaded = new Map<string, Promise<ServiceModel>>();

/** The model of `service` (a key of services.ts), loaded on first use, not at start-up. */
export function loadModel(service: string): Promise<ServiceModel> {
  const known = loaded.get(service);
  if (known !== undefined) return known;
  const model = importModel(service);
  loaded.set(service, model);
  return model;
}

async function importModel(service: string): Promise<ServiceModel> {
  const module: { readonly default: unknown } = await import(`./models/${service}.json`, {
    with: { type: 'json' },
  });
  return module.default as ServiceModel;
}

/** A member lookup that is safe for `__proto__` and other inherited names. */
export function own<T>(table: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
}

export function shapeOf(model: ServiceModel, name: string): Shape {
  const shape = own(model.shapes, name);
  if (shape === undefined) throw new Error(`model ${model.source.file} has no shape ${name}`);
  return shape;
}

export function isFlattened(ref: ShapeRef, shape: Shape): boolean {
  return ref.flattened ?? shape.flattened ?? false;
}

export function locationNameOf(ref: ShapeRef, shape: Shape): string | undefined {
  return ref.locationName ?? shape.locationName;
}

/** The name of a member in a form: ec2 prefers queryName and capitalises locationName. */
export function formNameOf(model: ServiceModel, ref: ShapeRef, name: string): string {
  const locationName = locationNameOf(ref, shapeOf(model, ref.shape));
  if (model.metadata.protocol !== 'ec2') return locationName ?? name;
  if (ref.queryName !== undefined) return ref.queryName;
  if (locationName === undefined) return name;
  return locationName.charAt(0).toUpperCase() + locationName.slice(1);
}

/** The element of a list; throws for a model without one. */
export function elementOf(shape: Shape): ShapeRef {
  if (shape.member === undefined) throw new Error('a list shape without member');
  return shape.member;
}

/** Key and value of a map; throws for a model without them. */
export function entryOf(shape: Shape): { readonly key: ShapeRef; readonly value: ShapeRef } {
  if (shape.key === undefined || shape.value === undefined) {
    throw new Error('a map shape without key or value');
  }
  return { key: shape.key, value: shape.value };
}
