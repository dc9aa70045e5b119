// Small readers of Kubernetes objects as JSON, and copies that set one part of metadata and share
// the rest. Never mutates its arguments.
import { isObject, type Json, type JsonObject, objectOr, setOwn } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { Micros } from '../../kernel/index.ts';

/** An object as stored: complete metadata, immutable, shared by reference. */
export type Stored = KubeObject & JsonObject;

export const metadataOf = (object: JsonObject): JsonObject => objectOr(object.metadata);
export const specOf = (object: JsonObject): JsonObject => objectOr(object.spec);
export const statusOf = (object: JsonObject): JsonObject => objectOr(object.status);

export const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;
export const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : [];
export const objectsOf = (value: Json | undefined): readonly JsonObject[] =>
  listOf(value).filter(isObject);
export const textsOf = (value: Json | undefined): readonly string[] =>
  listOf(value).filter((item) => typeof item === 'string');

export const labelsOf = (object: JsonObject): JsonObject => objectOr(metadataOf(object).labels);
export const finalizersOf = (object: JsonObject): readonly string[] =>
  textsOf(metadataOf(object).finalizers);

/** `object` with `metadata` fields replaced; undefined removes one. */
export function withMetadata(object: JsonObject, changes: JsonObject): JsonObject {
  return { ...object, metadata: withFields(metadataOf(object), changes) };
}

/** `object` with fields replaced; undefined removes one. */
export function withFields(object: JsonObject, changes: JsonObject): JsonObject {
  // Objects after `delete` are slow to read, and many objects are read often.
  const next: Record<string, Json> = {};
  for (const key of Object.keys(object)) {
    const value = Object.hasOwn(changes, key) ? changes[key] : object[key];
    if (value !== undefined) setOwn(next, key, value);
  }
  for (const key of Object.keys(changes)) {
    const value = changes[key];
    if (value !== undefined && !Object.hasOwn(object, key)) setOwn(next, key, value);
  }
  return next;
}

/** Many writes share a second: caches its text. Only a cache, never state. */
let knownSecond = -1;
let knownText = '';
let knownTime = '';

const secondText = (at: Micros): string => {
  const second = Math.floor(at / 1_000_000);
  if (second !== knownSecond) {
    knownSecond = second;
    knownText = new Date(second * 1000).toISOString().slice(0, 19);
    knownTime = `${knownText}Z`;
  }
  return knownText;
};

/** metav1.Time: RFC 3339 in UTC, whole seconds. All objects of a second share one text. */
export const kubeTime = (at: Micros): string => {
  secondText(at);
  return knownTime;
};

/** metav1.MicroTime: RFC 3339 in UTC with microseconds. */
export const microTime = (at: Micros): string =>
  `${secondText(at)}.${String(at % 1_000_000).padStart(6, '0')}Z`;

/** Microseconds of a metav1.Time; undefined when it is not one. */
export const parseKubeTime = (value: Json | undefined): Micros | undefined => {
  if (typeof value !== 'string') return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms * 1000;
};
