// json and rest-json answers: renders a handler's output as JSON by the model. Omits members
// unknown to the model; check-output.ts reports them.
import {
  elementOf,
  entryOf,
  type ServiceModel,
  type Shape,
  type ShapeRef,
  shapeOf,
} from './model.ts';
import { scalarToJson } from './scalar.ts';

type Values = Readonly<Record<string, unknown>>;

/** The members of a structure that belong in a body; omits absent ones. */
export function jsonMembers(model: ServiceModel, shape: Shape, value: Values): Values {
  const json: Record<string, unknown> = {};
  for (const [name, ref] of Object.entries(shape.members ?? {})) {
    const member = value[name];
    if (member === undefined || member === null || ref.location !== undefined) continue;
    json[ref.locationName ?? name] = jsonValue(model, ref, member);
  }
  return json;
}

function jsonValue(model: ServiceModel, ref: ShapeRef, value: unknown): unknown {
  const shape = shapeOf(model, ref.shape);
  switch (shape.type) {
    case 'structure':
      return jsonMembers(model, shape, value as Values);
    case 'list': {
      const element = elementOf(shape);
      return (value as readonly unknown[]).map((item) => jsonValue(model, element, item));
    }
    case 'map': {
      const entry = entryOf(shape);
      const entries = Object.entries(value as Values).filter(([, item]) => item !== undefined);
      return Object.fromEntries(
        entries.map(([key, item]) => [key, jsonValue(model, entry.value, item)]),
      );
    }
    default:
      return scalarToJson(shape.type, value, ref.timestampFormat ?? shape.timestampFormat);
  }
}
