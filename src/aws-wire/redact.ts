// Copies an input or output with every value that the model marks sensitive (user data, parameter
// values, secrets) replaced, for readable records. Never changes the original.
import { elementOf, entryOf, type ServiceModel, type ShapeRef, shapeOf } from './model.ts';

/** CloudTrail's replacement of user data. */
const REMOVED = '<sensitiveDataRemoved>';

type Values = Readonly<Record<string, unknown>>;

export function redact(model: ServiceModel, shape: string | undefined, value: unknown): unknown {
  return shape === undefined ? value : redactValue(model, { shape }, value);
}

function redactValue(model: ServiceModel, ref: ShapeRef, value: unknown): unknown {
  if (value === undefined || value === null || !reachesSensitive(model, ref.shape)) return value;
  const shape = shapeOf(model, ref.shape);
  if (shape.sensitive === true) return REMOVED;
  if (Array.isArray(value)) {
    const element = elementOf(shape);
    return value.map((item) => redactValue(model, element, item));
  }
  if (typeof value !== 'object') return value;
  const refOf = (name: string): ShapeRef | undefined =>
    shape.type === 'map' ? entryOf(shape).value : shape.members?.[name];
  const entries = Object.entries(value as Values).map(([name, item]) => {
    const member = refOf(name);
    return [name, member === undefined ? item : redactValue(model, member, item)] as const;
  });
  return Object.fromEntries(entries);
}

const answers = new WeakMap<ServiceModel, Map<string, boolean>>();

/** Most shapes contain nothing sensitive, so their values need no copy. */
function reachesSensitive(model: ServiceModel, name: string): boolean {
  const known = answers.get(model) ?? new Map<string, boolean>();
  answers.set(model, known);
  const before = known.get(name);
  if (before !== undefined) return before;
  // For a recursive shape, false is correct until its own traversal ends.
  known.set(name, false);
  const shape = shapeOf(model, name);
  const refs = [...Object.values(shape.members ?? {}), shape.member, shape.value];
  const answer =
    shape.sensitive === true ||
    refs.some((ref) => ref !== undefined && reachesSensitive(model, ref.shape));
  known.set(name, answer);
  return answer;
}
