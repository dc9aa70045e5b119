// The scale subresource: autoscaling/v1 Scale, read from and written to the paths of its kind.
// Copies only replicas and preconditions; the rest of the object is unchanged.
import { defined } from '../../../src/api/defined.ts';
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { ResourceDefinition } from './definition.ts';
import { metadataOf, numberOf, type Stored, specOf, textOf, withFields } from './objects.ts';
import { badRequest, conflict, invalid, invalidValue, modifiedMessage } from './status.ts';

/** JSON paths of a custom resource's scale, as its definition gives them (`.spec.replicas`). */
export interface ScalePaths {
  readonly spec: readonly string[];
  readonly status: readonly string[];
  readonly selector: readonly string[] | undefined;
}

export const builtInScale: ScalePaths = {
  spec: ['spec', 'replicas'],
  status: ['status', 'replicas'],
  selector: undefined,
};

const at = (object: JsonObject, path: readonly string[]): Json | undefined => {
  let value: Json | undefined = object;
  for (const part of path) value = isObject(value) ? value[part] : undefined;
  return value;
};

function put(object: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [head, ...rest] = path;
  if (head === undefined) return object;
  const child = rest.length === 0 ? value : put(objectOr(object[head]), rest, value);
  return withFields(object, { [head]: child });
}

function selectorText(object: Stored, paths: ScalePaths): string | undefined {
  if (paths.selector !== undefined) return textOf(at(object, paths.selector));
  const selector = objectOr(specOf(object).selector);
  const pairs = Object.entries(objectOr(selector.matchLabels))
    .map(([key, value]) => `${key}=${String(value)}`)
    .sort();
  return pairs.length === 0 ? undefined : pairs.join(',');
}

export function scaleOf(object: Stored, paths: ScalePaths): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = selectorText(object, paths);
  const replicas = numberOf(at(object, paths.spec));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...defined({ namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: replicas === undefined ? {} : { replicas },
    status: {
      replicas: numberOf(at(object, paths.status)) ?? 0,
      ...defined({ selector }),
    },
  };
}

/** The object with the scale's replicas; the Scale's preconditions apply to the object. */
export function scaled(
  definition: ResourceDefinition,
  object: Stored,
  scale: JsonObject,
  paths: ScalePaths,
): JsonObject {
  const metadata = metadataOf(scale);
  const { name, uid, resourceVersion } = object.metadata;
  if (textOf(metadata.name) !== name) {
    const given = textOf(metadata.name) ?? '';
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    );
  }
  const version = textOf(metadata.resourceVersion) ?? '';
  if (version !== '' && version !== resourceVersion) {
    throw conflict(definition, name, modifiedMessage);
  }
  const wantedUid = textOf(metadata.uid) ?? '';
  if (wantedUid !== '' && wantedUid !== uid) {
    throw conflict(
      definition,
      name,
      `Precondition failed: UID in precondition: ${wantedUid}, UID in object meta: ${uid}`,
    );
  }
  const replicas = specOf(scale).replicas ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw badRequest('spec.replicas must be an integer');
  }
  if (replicas < 0) {
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [
      invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  }
  return put(object, paths.spec, replicas);
}
