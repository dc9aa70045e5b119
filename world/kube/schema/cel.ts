// CEL for admission policies: programs compiled once, objects of built-in and custom kinds as CEL
// values (integers, timestamps). Evaluates no policies. Supports only those Kubernetes CEL
// libraries that cel-js has, without cost limits.
import { EvaluationError } from '@marcbachmann/cel-js';
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { celValue, compile } from './custom-rules.ts';
import { findSchema, type GroupVersionKind, resolveType, type TypeRef } from './facts.ts';

export type CelResult =
  | { readonly kind: 'ok'; readonly value: unknown }
  | { readonly kind: 'error'; readonly message: string };

/** Why the expression is not valid CEL, or undefined. */
export function celTrouble(expression: string): string | undefined {
  const program = compile(expression);
  return program.kind === 'error' ? program.message : undefined;
}

export function evaluateCel(
  expression: string,
  variables: Readonly<Record<string, unknown>>,
): CelResult {
  const program = compile(expression);
  if (program.kind === 'error') return program;
  try {
    return { kind: 'ok', value: program.run(variables) };
  } catch (error) {
    if (error instanceof CelFailure) return { kind: 'error', message: error.message };
    if (!(error instanceof EvaluationError)) throw error;
    return { kind: 'error', message: error.summary.replace(/^No such/, 'no such') };
  }
}

/** Thrown by a variable whose expression fails, while another expression reads it. */
export class CelFailure extends Error {}

const timestamp: JsonObject = { type: 'string', format: 'date-time' };

function typedValue(ref: TypeRef, value: Json): unknown {
  const type = resolveType(ref);
  if (type.kind === 'special' && (type.special === 'Time' || type.special === 'MicroTime')) {
    return celValue(timestamp, value);
  }
  if (type.kind === 'list' && Array.isArray(value)) {
    return value.map((item: Json) => typedValue(type.of, item));
  }
  if (!isObject(value)) return celValue({}, value);
  if (type.kind !== 'struct' && type.kind !== 'map') return celValue({}, value);
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined || member === null) return [];
    const of = type.kind === 'map' ? type.of : type.fields.get(name)?.type;
    return [[name, of === undefined ? celValue({}, member) : typedValue(of, member)]];
  });
  return Object.fromEntries(entries);
}

/** A complete object; parts without a schema keep the types of their JSON. */
export function celObject(
  gvk: GroupVersionKind,
  custom: JsonObject | undefined,
  object: JsonObject,
): unknown {
  if (custom === undefined) {
    const schema = findSchema(gvk);
    if (schema === undefined) return celValue({}, object);
    return typedValue({ kind: 'named', name: schema.type.name }, object);
  }
  const meta = findSchema({ group: 'meta.k8s.io', version: 'v1', kind: 'ObjectMeta' });
  const { metadata, ...rest } = object;
  const typed = celValue(custom, rest) as Record<string, unknown>;
  if (meta === undefined || metadata === undefined) return typed;
  return { ...typed, metadata: typedValue({ kind: 'named', name: meta.type.name }, metadata) };
}
