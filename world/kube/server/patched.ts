// Applies a PATCH to the stored object, and records what later checks need to know of it.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { isTooDeep, tooDeepMessage } from '../../../src/api/parse-json.ts';
import type { ApiRequest } from '../../contracts.ts';
import {
  applyPatch,
  isPending,
  patchTypeOf,
  renderedManagers,
  unknownPatchType,
} from '../patch/index.ts';
import type { ResourceDefinition } from './definition.ts';
import { listOf, metadataOf, textOf, withMetadata } from './objects.ts';
import type { PatchSource } from './schemas.ts';
import { ApiError, badRequest } from './status.ts';

interface PatchCall {
  readonly request: ApiRequest;
  readonly definition: ResourceDefinition;
}

/** The object with the request's patch applied; throws every failure as its Status. */
export function patched(
  call: PatchCall,
  gvk: { readonly group: string; readonly version: string; readonly kind: string },
  old: JsonObject,
): JsonObject {
  const { contentType, body } = call.request;
  const type = patchTypeOf(contentType);
  const custom = call.definition.custom !== undefined;
  const refused =
    type === undefined ||
    type === 'apply' ||
    (custom && type === 'strategic' && gvk.kind !== 'Scale');
  const target = {
    gvk: { group: gvk.group, version: gvk.version, kind: gvk.kind },
    object: type === 'json' ? withReadManagers(old, body) : old,
  };
  const result = refused ? unknownPatchType(custom) : applyPatch(type, target, body ?? null);
  if (result.kind === 'error') throw new ApiError(result.status);
  // Repeated shallow patches can nest an object too deeply.
  if (isTooDeep(result.object)) throw badRequest(`the patched object is ${tooDeepMessage}`);
  return result.object;
}

/** A JSON patch may address managedFields, which must then be rendered first. */
function withReadManagers(old: JsonObject, patch: Json | undefined): JsonObject {
  if (!isPending(metadataOf(old).managedFields)) return old;
  const asked = listOf(patch).some(
    (step) => isObject(step) && textOf(step.path)?.startsWith('/metadata/managedFields') === true,
  );
  if (!asked) return old;
  return withMetadata(old, { managedFields: renderedManagers(metadataOf(old).managedFields) });
}

export function patchSource(request: ApiRequest): PatchSource {
  const type = patchTypeOf(request.contentType);
  return {
    type: type === 'json' || type === 'merge' ? type : 'strategic',
    body: request.body ?? null,
  };
}
