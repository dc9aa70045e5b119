// The differences that another template, other parameters or other tags make to a stack, by
// resource and property. A change set shows them; an update starts from them. Changes nothing.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { type Names, namesIn } from './intrinsics.ts';
import type {
  PropertyChange,
  ResourceChange,
  StackChange,
  StackResource,
  StackRow,
} from './rows.ts';
import type { StackValues } from './stack-values.ts';
import type { ResourceType, ResourceTypes } from './types/resource-type.ts';
import { sameValue } from './types/values.ts';

export interface StackPlan {
  readonly changes: readonly ResourceChange[];
  /** Neither a resource nor an output nor a tag changes. */
  readonly isEmpty: boolean;
}

export class StackPlans {
  readonly #values: StackValues;
  readonly #types: ResourceTypes;

  constructor(values: StackValues, types: ResourceTypes) {
    this.#values = values;
    this.#types = types;
  }

  /** `wanted`: the resources of the new template. */
  planOf(stack: StackRow, change: StackChange, wanted: readonly StackResource[]): StackPlan {
    const standing = new Map(stack.resources.map((one) => [one.logicalId, one]));
    const isKept = (one: StackResource): boolean => standing.get(one.logicalId)?.type === one.type;
    const after: StackRow = {
      ...stack,
      ...change,
      resources: wanted.map(
        (one) => (isKept(one) ? standing.get(one.logicalId) : undefined) ?? one,
      ),
    };
    const kept = new Set(wanted.filter(isKept).map((one) => one.logicalId));
    const modified = this.#modified({ before: stack, after }, kept);
    const changes = [
      ...wanted.filter((one) => !isKept(one)).map((one) => bare('Add', one)),
      ...modified,
      ...stack.resources
        .filter((one) => !kept.has(one.logicalId))
        .map((one) => bare('Remove', one)),
    ];
    const isEmpty =
      changes.length === 0 &&
      sameValue(change.tags, stack.tags) &&
      this.#hasSameOutputs(stack, after);
    return { changes, isEmpty };
  }

  /**
   * Whether the resource differs from the stack's template; true if its properties cannot be
   * evaluated.
   */
  isDue(stack: StackRow, one: StackResource): boolean {
    if (isRetagged(this.#types[one.type], one, stack)) return true;
    try {
      return !sameValue(this.#values.properties(stack, one), one.properties);
    } catch {
      return true;
    }
  }

  /**
   * In the order of the template; a resource that reads an attribute of a changed one may change
   * too.
   */
  #modified(
    { before, after }: { readonly before: StackRow; readonly after: StackRow },
    kept: ReadonlySet<string>,
  ): readonly ResourceChange[] {
    const names = after.resources.filter((one) => kept.has(one.logicalId));
    const found = new Map<string, ResourceChange>();
    for (let isNew = true; isNew; ) {
      isNew = false;
      for (const one of names) {
        const properties = this.#propertyChanges({ before, after }, one, new Set(found.keys()));
        const retagged = isRetagged(this.#types[one.type], one, after);
        const known = found.get(one.logicalId);
        if (properties.length === (known?.properties.length ?? 0) && (known || !retagged)) continue;
        found.set(one.logicalId, { ...bare('Modify', one), properties, isRetagged: retagged });
        isNew = true;
      }
    }
    return names.flatMap((one) => found.get(one.logicalId) ?? []);
  }

  #propertyChanges(
    { before, after }: { readonly before: StackRow; readonly after: StackRow },
    resource: StackResource,
    changed: ReadonlySet<string>,
  ): readonly PropertyChange[] {
    const rawBefore = rawProperties(before.template, resource.logicalId);
    const rawAfter = rawProperties(after.template, resource.logicalId);
    const names = new Set([...Object.keys(resource.properties), ...Object.keys(rawAfter)]);
    return [...names].flatMap((name): readonly PropertyChange[] => {
      const raw = rawAfter[name];
      const recreation = recreationOf(this.#types[resource.type], name);
      const attribute = attributesIn(raw).find(([logicalId]) => changed.has(logicalId));
      const value = this.#valueOf(after, raw);
      if (value.isKnown && sameValue(value.value, resource.properties[name])) {
        if (attribute === undefined) return [];
        return [{ name, recreation, source: 'ResourceAttribute', cause: attribute.join('.') }];
      }
      if (!sameValue(raw, rawBefore[name])) {
        return [{ name, recreation, source: 'DirectModification' }];
      }
      const cause = parameterIn(namesIn(raw), before, after);
      if (cause !== undefined) return [{ name, recreation, source: 'ParameterReference', cause }];
      return [{ name, recreation, source: 'DirectModification' }];
    });
  }

  /** A value that refers to a resource which does not exist yet is unknown. */
  #valueOf(stack: StackRow, raw: Json | undefined) {
    try {
      return { isKnown: true, value: this.#values.value(stack, raw) };
    } catch {
      return { isKnown: false, value: undefined };
    }
  }

  #hasSameOutputs(stack: StackRow, after: StackRow): boolean {
    try {
      return sameValue(this.#values.outputs(after), stack.outputs);
    } catch {
      return false;
    }
  }
}

const bare = (action: ResourceChange['action'], one: StackResource): ResourceChange => ({
  action,
  logicalId: one.logicalId,
  physicalId: one.physicalId,
  type: one.type,
  properties: [],
  isRetagged: false,
});

/** Only node groups take changes of the stack's tags after their creation. */
const isRetagged = (
  type: ResourceType | undefined,
  { stackTags }: StackResource,
  { tags }: Pick<StackRow, 'tags'>,
): boolean => type?.kind === 'remote' && stackTags !== undefined && !sameValue(stackTags, tags);

const recreationOf = (
  type: ResourceType | undefined,
  name: string,
): PropertyChange['recreation'] => {
  if (type?.replacing?.has(name) === true) return 'Always';
  return type?.kind === 'remote' || type?.update !== undefined ? 'Never' : 'Conditionally';
};

const rawProperties = (template: JsonObject, logicalId: string): JsonObject =>
  objectOr(objectOr(objectOr(template.Resources)[logicalId]).Properties);

const parameterIn = ({ refs }: Names, before: StackRow, after: StackRow): string | undefined =>
  [...refs].find(
    (name) =>
      after.parameters[name] !== undefined && after.parameters[name] !== before.parameters[name],
  );

/** Resources and attributes that a value reads with Fn::GetAtt or `${Resource.Attribute}`. */
const attributesIn = (value: Json | undefined): readonly (readonly [string, string])[] => {
  if (Array.isArray(value)) return value.flatMap((one) => attributesIn(one as Json));
  if (typeof value === 'string') {
    return [...value.matchAll(/\$\{([A-Za-z0-9]+)\.([^}]+)\}/g)].map(([, name = '', of = '']) => [
      name,
      of,
    ]);
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => {
    if (key !== 'Fn::GetAtt') return attributesIn(one);
    const [name = '', ...of] = Array.isArray(one) ? one.map(String) : String(one).split('.');
    return [[name, of.join('.')]];
  });
};
