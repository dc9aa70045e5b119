// Reads members of AWS' answers: a member of an unexpected type counts as absent. Pure.
import { epochMs, formatTime } from '../api/brand.ts';
import { isObject, type JsonObject, setOwn } from '../api/json.ts';

export const objects = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Undefined for an absent or empty text. */
export const maybeText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

export const maybeNumber = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

export const numberOf = (value: unknown): number => maybeNumber(value) ?? 0;

/** RFC 3339 with milliseconds; undefined when absent. */
export const maybeTime = (value: unknown): string | undefined =>
  typeof value === 'number' ? formatTime(epochMs(value)) : undefined;

export const timeOf = (value: unknown): string => maybeTime(value) ?? '';

/** A list of tags as a record; a tag without value counts as empty. */
export const tagsOf = (value: unknown): Readonly<Record<string, string>> => {
  const tags: Record<string, string> = {};
  for (const tag of objects(value)) setOwn(tags, textOf(tag.Key), textOf(tag.Value));
  return tags;
};

/** A map of texts, as in EKS' tags and labels. */
export const textMapOf = (value: unknown): Readonly<Record<string, string>> => {
  const texts: Record<string, string> = {};
  if (!isObject(value)) return texts;
  for (const [key, text] of Object.entries(value)) setOwn(texts, key, textOf(text));
  return texts;
};

/** Tags in the form of the other services. */
export const tagList = (tags: Readonly<Record<string, string>>) =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

export const batchesOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  items.length <= size
    ? items.length === 0
      ? []
      : [items]
    : Array.from({ length: Math.ceil(items.length / size) }, (_, batch) =>
        items.slice(batch * size, (batch + 1) * size),
      );
