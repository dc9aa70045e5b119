// The helpers with which default rules are written. A rule changes a draft of one object of its
// type and never looks at its parents. Never mutates a value in a draft.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { ObjectDraft } from './values.ts';

export type DefaultRule = (draft: ObjectDraft) => void;
export type RuleEntry = readonly [typeName: string, rule: DefaultRule];

/** Values that Go represents as nil or an empty string. */
export const isUnset = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '';

/** Sets each field that is unset. */
export const fill =
  (defaults: JsonObject): DefaultRule =>
  (draft) => {
    for (const [name, value] of Object.entries(defaults)) {
      if (value !== undefined && isUnset(draft.get(name))) draft.set(name, value);
    }
  };

/** Sets each number that is unset or zero. */
export const fillZero =
  (defaults: Readonly<Record<string, number>>): DefaultRule =>
  (draft) => {
    for (const [name, value] of Object.entries(defaults)) {
      const current = draft.get(name);
      if (isUnset(current) || current === 0) draft.set(name, value);
    }
  };

/** Runs `rule` on the object in field `name`, which is created when absent. */
export function within(draft: ObjectDraft, name: string, rule: DefaultRule): void {
  const current = draft.get(name);
  const inner = new ObjectDraft(isObject(current) ? current : {});
  rule(inner);
  draft.set(name, inner.finish());
}

/** Runs `rule` on each object of the list in field `name`, if there is one. */
export function forEach(draft: ObjectDraft, name: string, rule: DefaultRule): void {
  const list = draft.get(name);
  if (!Array.isArray(list)) return;
  const items: readonly Json[] = list;
  draft.set(
    name,
    items.map((item) => {
      if (!isObject(item)) return item;
      const inner = new ObjectDraft(item);
      rule(inner);
      return inner.finish();
    }),
  );
}

export const isEmptyList = (value: Json | undefined): boolean =>
  !Array.isArray(value) || value.length === 0;

export const objectAt = (draft: ObjectDraft, name: string): JsonObject => {
  const value = draft.get(name);
  return isObject(value) ? value : {};
};
