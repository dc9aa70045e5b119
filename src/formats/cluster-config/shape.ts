// A small language for the shape of a YAML document: its fields, their types, and known but refused
// fields. Shapes are data; they never look at a value.

export interface TextShape {
  readonly kind: 'text';
  /** The required pattern, and its description. */
  readonly pattern?: { readonly regex: RegExp; readonly says: string };
  readonly oneOf?: readonly string[];
  /** Values of eksctl that Drover does not honour, each with the reason. */
  readonly refused?: Readonly<Record<string, string>>;
}

export interface IntegerShape {
  readonly kind: 'integer';
  readonly min?: number;
  readonly max?: number;
}

export interface BooleanShape {
  readonly kind: 'boolean';
  /** The only supported value, and why the other is refused. */
  readonly only?: { readonly value: boolean; readonly why: string };
}

export interface ListShape {
  readonly kind: 'list';
  readonly item: Shape;
}

/** Arbitrary names, each with the same shape of value. */
export interface MapShape {
  readonly kind: 'map';
  readonly value: Shape;
  /** The required pattern of the names; absent: any. */
  readonly key?: TextShape['pattern'];
}

export interface ObjectShape {
  readonly kind: 'object';
  readonly fields: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
}

/** A field of eksctl that Drover does not honour: an error with the reason, never ignored. */
export interface RefusedShape {
  readonly kind: 'refused';
  readonly why: string;
}

export type Shape =
  | TextShape
  | IntegerShape
  | BooleanShape
  | ListShape
  | MapShape
  | ObjectShape
  | RefusedShape;

export const text = (options: Omit<TextShape, 'kind'> = {}): TextShape => ({
  kind: 'text',
  ...options,
});
export const integer = (options: Omit<IntegerShape, 'kind'> = {}): IntegerShape => ({
  kind: 'integer',
  ...options,
});
export const flag = (only?: BooleanShape['only']): BooleanShape => ({
  kind: 'boolean',
  ...(only && { only }),
});
export const list = (item: Shape): ListShape => ({ kind: 'list', item });
export const map = (value: Shape, key?: TextShape['pattern']): MapShape => ({
  kind: 'map',
  value,
  ...(key && { key }),
});
export const object = (
  fields: Readonly<Record<string, Shape>>,
  required: readonly string[] = [],
): ObjectShape => ({ kind: 'object', fields, required });
export const refused = (why: string): RefusedShape => ({ kind: 'refused', why });
