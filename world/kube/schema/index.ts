// Public entry: facts about kinds, and decoding, defaulting and describing objects based on them.
// Pure; holds no objects.

export { CelFailure, celObject, celTrouble, evaluateCel } from './cel.ts';
export { type CheckOptions, type CheckResult, checkFields } from './check.ts';
export { checkCustomFields, validateAgainstStructuralSchema } from './custom.ts';
export { applyCustomDefaults, pruneCustom } from './custom-shape.ts';
export { applyCreateDefaults, applyDefaults } from './defaults.ts';
export {
  type FieldFact,
  findSchema,
  type GroupVersionKind,
  type ResolvedType,
  resolveType,
} from './facts.ts';
export { type CustomSchemaOf, openApiV3Document, openApiV3Index } from './openapi.ts';
export { decodeProtobuf } from './protobuf.ts';
export * as values from './values.ts';
export { zeroObject } from './zero.ts';
