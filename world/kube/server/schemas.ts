// Connects the writer with world/kube/schema: unknown and mistyped fields, defaults. Built-in kinds
// use the generated facts, custom resources their own schema.
import { defined } from '../../../src/api/defined.ts';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { SentBody } from '../../contracts.ts';
import {
  applyCreateDefaults,
  applyCustomDefaults,
  applyDefaults,
  type CheckOptions,
  type CheckResult,
  checkCustomFields,
  checkFields,
  findSchema,
  validateAgainstStructuralSchema,
} from '../schema/index.ts';
import type { ResourceDefinition } from './definition.ts';
import { ApiError, type FieldError } from './status.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** The patch that an object came from: other codes and messages than for a body. */
export interface PatchSource {
  readonly type: 'json' | 'merge' | 'strategic';
  readonly body: Json;
}

interface CheckMode {
  readonly fieldValidation: FieldValidation;
  readonly warnings: string[];
  readonly sent: SentBody | undefined;
}

/** The object without unknown fields, or the error that lists them. */
export function checkedFields(
  definition: ResourceDefinition,
  object: JsonObject,
  { fieldValidation, warnings, sent }: CheckMode,
  patch: PatchSource | undefined,
): JsonObject {
  const options = {
    mode: fieldValidation,
    ...defined({ patch, sent }),
  };
  const result = check(definition, object, options);
  if (result.kind === 'error') throw new ApiError(result.status);
  warnings.push(...result.warnings);
  return result.object;
}

function check(
  definition: ResourceDefinition,
  object: JsonObject,
  options: CheckOptions,
): CheckResult {
  const { group, version, kind, custom } = definition;
  if (custom !== undefined) {
    const target = { gvk: { group, version, kind }, schema: custom };
    return checkCustomFields(object, target, options);
  }
  const schema = findSchema(definition);
  return schema === undefined
    ? { kind: 'ok', object, warnings: [] }
    : checkFields(object, schema, options);
}

export const createDefaults = (definition: ResourceDefinition, object: JsonObject): JsonObject =>
  definition.custom === undefined
    ? applyCreateDefaults(definition, object)
    : applyCustomDefaults(definition.custom, object);

/** Sets defaults only when something besides metadata and status has changed. */
export function updateDefaults(
  definition: ResourceDefinition,
  next: JsonObject,
  old: JsonObject,
): JsonObject {
  if (definition.custom !== undefined) return applyCustomDefaults(definition.custom, next);
  const touched = Object.keys(next).some(
    (key) => key !== 'metadata' && key !== 'status' && next[key] !== old[key],
  );
  return touched ? applyDefaults(definition, next) : next;
}

/** Validates a custom resource against its own schema; empty for built-in kinds. */
export const schemaErrors = (
  { custom }: ResourceDefinition,
  object: JsonObject,
  old: JsonObject | undefined,
): readonly FieldError[] =>
  custom === undefined ? [] : validateAgainstStructuralSchema(custom, object, old);
