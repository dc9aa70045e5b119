// Public entry: the four patch types of the Kubernetes API as pure functions from object and patch
// to object or Status, and field management. The caller checks preconditions, decodes and validates
// the result.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { GroupVersionKind } from '../schema/index.ts';
import { type PatchResult, settle, unsupportedMediaType } from './failure.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic.ts';

export { type Applied, applyConfiguration, conflictMessage } from './apply-configuration.ts';
export type { PatchResult } from './failure.ts';
export { type FieldSet, leafSet } from './field-set.ts';
export {
  givenManagedFields,
  isPending,
  type ManagedKind,
  renderedManagers,
  trackUpdate,
} from './managed-fields.ts';
export { applyJsonPatch, applyMergePatch };

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const MEDIA_TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** The patch type of a Content-Type; for undefined, answer `unknownPatchType`. */
export function patchTypeOf(contentType: string): PatchType | undefined {
  const media = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(MEDIA_TYPES, media) ? MEDIA_TYPES[media] : undefined;
}

/** 415 with the supported types. Custom resources do not support strategic merge patch. */
export function unknownPatchType(custom: boolean): PatchResult {
  const accepted = Object.keys(MEDIA_TYPES).filter(
    (media) => !(custom && MEDIA_TYPES[media] === 'strategic'),
  );
  return settle(() => {
    throw unsupportedMediaType(accepted.join(', '));
  });
}

export function applyPatch(
  type: Exclude<PatchType, 'apply'>,
  target: { readonly gvk: GroupVersionKind; readonly object: JsonObject },
  patch: Json,
): PatchResult {
  switch (type) {
    case 'json':
      return applyJsonPatch(target.object, patch);
    case 'merge':
      return applyMergePatch(target.object, patch);
    case 'strategic':
      return applyStrategicMergePatch(target.gvk, target.object, patch);
  }
}
