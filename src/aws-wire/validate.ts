// Checks a parsed input, or a handler's output, against the model: required, length, range,
// pattern, enum, union. Reports only; the caller decides the consequences.
import {
  elementOf,
  entryOf,
  formNameOf,
  type ServiceModel,
  type Shape,
  type ShapeRef,
  shapeOf,
} from './model.ts';
import type { Violation } from './style.ts';

/** `input` must satisfy all of the model's constraints on the operation's input. */
export function validateInput(
  model: ServiceModel,
  inputShape: string | undefined,
  input: Readonly<Record<string, unknown>>,
): readonly Violation[] {
  if (inputShape === undefined) return [];
  const violations: Violation[] = [];
  checkStructure(model, shapeOf(model, inputShape), input, '', violations);
  return violations;
}

type Values = Readonly<Record<string, unknown>>;

/** Place of a value: AWS's path to it, and its own name as sent. */
type Place = Pick<Violation, 'path' | 'field'>;

function checkStructure(
  model: ServiceModel,
  shape: Shape,
  value: Values,
  path: string,
  violations: Violation[],
): void {
  const placeOf = (name: string, ref: ShapeRef): Place => {
    // AWS's validation layer prints the Java property, whose first letter is lower case.
    const property = name.charAt(0).toLowerCase() + name.slice(1);
    const field = formNameOf(model, ref, name);
    return { path: path === '' ? property : `${path}.${property}`, field };
  };
  for (const [name, ref] of Object.entries(shape.members ?? {})) {
    const member = value[name];
    if (member !== undefined) {
      checkValue(model, ref, member, placeOf(name, ref), violations);
    } else if (shape.required?.includes(name) === true) {
      violations.push({
        ...placeOf(name, ref),
        kind: 'required',
        shown: 'null',
        constraint: 'Member must not be null',
        shape: ref.shape,
      });
    }
  }
  if (shape.union === true && Object.keys(value).length !== 1) {
    violations.push({
      path,
      field: path,
      kind: 'union',
      shown: undefined,
      constraint: 'Member must have exactly one of its members set',
      shape: '',
    });
  }
}

function checkValue(
  model: ServiceModel,
  ref: ShapeRef,
  value: unknown,
  place: Place,
  violations: Violation[],
): void {
  const shape = shapeOf(model, ref.shape);
  for (const { kind, constraint } of broken(shape, value)) {
    violations.push({ ...place, kind, shown: show(shape, value), constraint, shape: ref.shape });
  }
  const within = (suffix: string): Place => ({ ...place, path: `${place.path}.${suffix}` });
  if (shape.type === 'structure') {
    checkStructure(model, shape, value as Values, place.path, violations);
  } else if (shape.type === 'list') {
    const element = elementOf(shape);
    (value as readonly unknown[]).forEach((item, index) => {
      checkValue(model, element, item, within(`${index + 1}.member`), violations);
    });
  } else if (shape.type === 'map') {
    const entry = entryOf(shape);
    for (const [key, item] of Object.entries(value as Values)) {
      checkValue(model, entry.key, key, within(`${key}.key`), violations);
      checkValue(model, entry.value, item, within(`${key}.member`), violations);
    }
  }
}

type Broken = Pick<Violation, 'kind' | 'constraint'>;

function broken(shape: Shape, value: unknown): readonly Broken[] {
  const found: Broken[] = [];
  const size = sizeOf(shape, value);
  if (size !== undefined) {
    const { kind, measure, amount } = size;
    if (shape.min !== undefined && amount < shape.min) {
      found.push({
        kind,
        constraint: `Member must have ${measure} greater than or equal to ${shape.min}`,
      });
    }
    if (shape.max !== undefined && amount > shape.max) {
      found.push({
        kind,
        constraint: `Member must have ${measure} less than or equal to ${shape.max}`,
      });
    }
  }
  if (typeof value !== 'string') return found;
  if (shape.enum !== undefined && !shape.enum.includes(value)) {
    found.push({
      kind: 'enum',
      constraint: `Member must satisfy enum value set: [${shape.enum.join(', ')}]`,
    });
  }
  if (shape.pattern !== undefined && !matches(shape.pattern, value)) {
    found.push({
      kind: 'pattern',
      constraint: `Member must satisfy regular expression pattern: ${shape.pattern}`,
    });
  }
  return found;
}

interface Size {
  readonly kind: 'length' | 'range';
  readonly measure: 'length' | 'value';
  readonly amount: number;
}

function sizeOf(shape: Shape, value: unknown): Size | undefined {
  const length = (amount: number): Size => ({ kind: 'length', measure: 'length', amount });
  if (typeof value === 'number') {
    // Timestamps are numbers here, but their shapes have no range.
    return { kind: 'range', measure: 'value', amount: value };
  }
  // UTF-16 units, as in the services' Java.
  if (typeof value === 'string') return length(value.length);
  if (Array.isArray(value) || value instanceof Uint8Array) return length(value.length);
  return shape.type === 'map' ? length(Object.keys(value as Values).length) : undefined;
}

const patterns = new Map<string, RegExp>();

/** The models' patterns are Java's and match the complete value, with or without anchors. */
export function compilePattern(pattern: string): RegExp {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const whole = `^(?:${pattern})$`;
  let compiled: RegExp;
  try {
    compiled = new RegExp(whole, 'u');
  } catch {
    // Java accepts unnecessary escapes that the u flag refuses.
    compiled = new RegExp(whole);
  }
  patterns.set(pattern, compiled);
  return compiled;
}

function matches(pattern: string, value: string): boolean {
  return compilePattern(pattern).test(value);
}

function show(shape: Shape, value: unknown): string | undefined {
  if (shape.sensitive === true) return undefined;
  if (value instanceof Uint8Array) return undefined;
  if (Array.isArray(value)) {
    return value.every((item) => typeof item !== 'object') ? `'[${value.join(', ')}]'` : undefined;
  }
  return typeof value === 'object' ? undefined : `'${String(value)}'`;
}
