// Which members of an operation's input or output are times, by the model: a number's name is not
// sufficient (StartQuery's startTime is a long, in seconds). For readable records; never changes a
// value.
import { type ServiceModel, shapeOf } from './model.ts';

const known = new WeakMap<ServiceModel, Map<string, ReadonlySet<string>>>();

/**
 * Names of timestamp members anywhere in the shape. In one operation, no name stands for both a
 * time and another number.
 */
export function momentsOf(model: ServiceModel, shape: string | undefined): ReadonlySet<string> {
  if (shape === undefined) return new Set();
  const ofModel = known.get(model) ?? new Map<string, ReadonlySet<string>>();
  known.set(model, ofModel);
  const before = ofModel.get(shape);
  if (before !== undefined) return before;
  const moments = new Set<string>();
  collect(model, shape, moments, new Set());
  ofModel.set(shape, moments);
  return moments;
}

function collect(model: ServiceModel, name: string, moments: Set<string>, seen: Set<string>): void {
  if (seen.has(name)) return;
  seen.add(name);
  const shape = shapeOf(model, name);
  for (const [member, ref] of Object.entries(shape.members ?? {})) {
    if (shapeOf(model, ref.shape).type === 'timestamp') moments.add(member);
    else collect(model, ref.shape, moments, seen);
  }
  for (const ref of [shape.member, shape.value]) {
    if (ref !== undefined) collect(model, ref.shape, moments, seen);
  }
}
