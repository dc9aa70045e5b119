// Applies a kind's defaults: `+default` values among the facts and the per-type rules of
// default-rules*.ts, parents before children as in the API server's generated code. Returns a new
// object that shares unchanged parts. Never sets defaults that need other objects (addresses, node
// ports, uids), which the server does.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { type DefaultRule, isUnset } from './default-rule.ts';
import { coreRules } from './default-rules-core.ts';
import { otherRules } from './default-rules-others.ts';
import { workloadRules } from './default-rules-workloads.ts';
import {
  type FieldFact,
  findSchema,
  type GroupVersionKind,
  resolveType,
  type StructFact,
  type TypeRef,
} from './facts.ts';
import { keepList, ObjectDraft } from './values.ts';

const RULES: ReadonlyMap<string, DefaultRule> = new Map([
  ...coreRules,
  ...workloadRules,
  ...otherRules,
]);

/** A default without visible effect: the zero value of a field that is omitted when zero. */
function markedDefault(field: FieldFact): Json | undefined {
  const value = field.default;
  if (value === undefined || field.pointer) return value;
  return value === '' || value === 0 || value === false ? undefined : value;
}

interface Plan {
  readonly rule: DefaultRule | undefined;
  readonly marked: readonly (readonly [string, Json])[];
  /** Fields with defaults below them. */
  readonly nested: readonly FieldFact[];
}

const plans = new Map<string, Plan>();

function elementStruct(ref: TypeRef): StructFact | undefined {
  const type = resolveType(ref);
  if (type.kind === 'struct') return type;
  return type.kind === 'list' || type.kind === 'map' ? elementStruct(type.of) : undefined;
}

const hasDefaults = (plan: Plan): boolean =>
  plan.rule !== undefined || plan.marked.length > 0 || plan.nested.length > 0;

function planOf(type: StructFact, above: ReadonlySet<string> = new Set()): Plan {
  const known = plans.get(type.name);
  if (known !== undefined) return known;
  const path = new Set([...above, type.name]);
  const fields = [...type.fields.values()];
  const plan: Plan = {
    rule: RULES.get(type.name),
    marked: fields.flatMap((field) => {
      const value = markedDefault(field);
      return value === undefined ? [] : [[field.name, value] as const];
    }),
    nested: fields.filter((field) => {
      const element = elementStruct(field.type);
      // Recursive types are schemas, which have no defaults.
      return element !== undefined && !path.has(element.name) && hasDefaults(planOf(element, path));
    }),
  };
  plans.set(type.name, plan);
  return plan;
}

/** Objects that needed no defaults; valid because objects never change after creation. */
const complete = new WeakMap<object, StructFact>();

function applyTo(type: StructFact, object: JsonObject): JsonObject {
  if (complete.get(object) === type) return object;
  const plan = planOf(type);
  const draft = new ObjectDraft(object);
  plan.rule?.(draft);
  for (const [name, value] of plan.marked) if (isUnset(draft.get(name))) draft.set(name, value);
  for (const field of plan.nested) {
    const value = draft.get(field.name);
    if (value !== undefined && value !== null) draft.set(field.name, applyBelow(field.type, value));
  }
  const result = draft.finish();
  complete.set(result, type);
  return result;
}

function applyBelow(ref: TypeRef, value: Json): Json {
  const type = resolveType(ref);
  if (type.kind === 'struct') return isObject(value) ? applyTo(type, value) : value;
  if (type.kind === 'list' && Array.isArray(value)) {
    return keepList(
      value,
      value.map((item) => applyBelow(type.of, item)),
    );
  }
  if (type.kind !== 'map' || !isObject(value)) return value;
  const draft = new ObjectDraft(value);
  for (const key of Object.keys(value)) draft.set(key, applyBelow(type.of, value[key] ?? null));
  return draft.finish();
}

/**
 * Every write and patch result passes through here before validation. Kinds without facts are
 * returned unchanged: a CRD's schema has its own defaults.
 */
export function applyDefaults(gvk: GroupVersionKind, object: JsonObject): JsonObject {
  const schema = findSchema(gvk);
  return schema === undefined ? object : applyTo(schema.type, object);
}

/** Defaults that the API server sets on creation only (the kinds' PrepareForCreate). */
export function applyCreateDefaults(gvk: GroupVersionKind, object: JsonObject): JsonObject {
  const defaulted = applyDefaults(gvk, object);
  if (gvk.group !== '' || gvk.kind !== 'Namespace') return defaulted;
  const draft = new ObjectDraft(defaulted);
  const spec = draft.get('spec');
  const specDraft = new ObjectDraft(isObject(spec) ? spec : {});
  const finalizers = specDraft.get('finalizers');
  const others = Array.isArray(finalizers)
    ? finalizers.filter((name) => name !== 'kubernetes')
    : [];
  specDraft.set('finalizers', ['kubernetes', ...others]);
  draft.set('spec', specDraft.finish());
  draft.set('status', { phase: 'Active' });
  return draft.finish();
}
