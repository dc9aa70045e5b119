// Small readers of plain values that a shape has already checked.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';

export const member = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) ? value[key] : undefined;

export const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;

export const objectsOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter((item): item is JsonObject => isObject(item)) : [];

export const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

export const textMapOf = (value: Json | undefined): Readonly<Record<string, string>> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string',
        ),
      )
    : {};
