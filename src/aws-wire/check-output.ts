// Finds parts of a handler's output that the model does not know: undeclared members, wrong types,
// values outside an enum. Clients would silently ignore them; the dispatcher reports them.
import {
  elementOf,
  entryOf,
  own,
  type ServiceModel,
  type Shape,
  type ShapeRef,
  shapeOf,
} from './model.ts';

type Values = Readonly<Record<string, unknown>>;

/** One sentence per defect; empty when the output matches the model. */
export function outputDefects(
  model: ServiceModel,
  outputShape: string | undefined,
  output: unknown,
): readonly string[] {
  const defects: string[] = [];
  if (outputShape === undefined) {
    const isEmpty = output === undefined || (isObject(output) && Object.keys(output).length === 0);
    return isEmpty ? [] : ['the operation has no output'];
  }
  if (output !== undefined) check(model, { shape: outputShape }, output, 'output', defects);
  return defects;
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function check(
  model: ServiceModel,
  ref: ShapeRef,
  value: unknown,
  path: string,
  defects: string[],
): void {
  const shape = shapeOf(model, ref.shape);
  if (!isOfType(shape, value)) {
    defects.push(`${path} is no ${shape.type}`);
    return;
  }
  if (shape.type === 'structure') {
    for (const [name, member] of Object.entries(value as Values)) {
      const memberRef = own(shape.members, name);
      if (memberRef === undefined) defects.push(`${path}.${name} is not in the model`);
      else if (member !== undefined) check(model, memberRef, member, `${path}.${name}`, defects);
    }
  } else if (shape.type === 'list') {
    const element = elementOf(shape);
    (value as readonly unknown[]).forEach((item, index) => {
      check(model, element, item, `${path}[${index}]`, defects);
    });
  } else if (shape.type === 'map') {
    for (const [key, item] of Object.entries(value as Values)) {
      check(model, entryOf(shape).value, item, `${path}.${key}`, defects);
    }
  } else if (shape.enum !== undefined && !shape.enum.includes(String(value))) {
    defects.push(`${path} '${String(value)}' is not in enum ${ref.shape}`);
  }
}

function isOfType(shape: Shape, value: unknown): boolean {
  switch (shape.type) {
    case 'structure':
    case 'map':
      return isObject(value);
    case 'list':
      return Array.isArray(value);
    case 'string':
    case 'boolean':
      return typeof value === shape.type;
    case 'blob':
      return typeof value === 'string' || value instanceof Uint8Array;
    case 'integer':
    case 'long':
      return Number.isInteger(value);
    case 'timestamp':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return typeof value === 'number';
  }
}
