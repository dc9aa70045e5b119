// What the API server sends, as values: metadata of answers and lines of a watch. Makes no request.
import { type JsonObject, objectOr } from '../../api/json.ts';
import type { KubeObject } from '../../api/kube.ts';
import { KubeError, kubeErrorFrom, type WatchEvent } from '../../ports/index.ts';

export const wireMetadata = (object: JsonObject): JsonObject => objectOr(object.metadata);
export const versionOf = (object: JsonObject): string =>
  String(wireMetadata(object).resourceVersion ?? '');

/** The caller names the requested kind; the answer is assumed to have that kind. */
export const typed = <T extends KubeObject>(object: JsonObject): T => {
  const kubeObject: KubeObject = object as JsonObject & KubeObject;
  return kubeObject as T;
};

const bookmark = (object: JsonObject): WatchEvent<never> => {
  const annotations = objectOr(wireMetadata(object).annotations);
  const endsInitial = annotations['k8s.io/initial-events-end'] === 'true';
  const resourceVersion = versionOf(object);
  return { type: 'BOOKMARK', resourceVersion, ...(endsInitial ? { endsInitial } : {}) };
};

/**
 * Parses one line of a watch. Throws KubeError for an ERROR frame: Expired when the version is too
 * old.
 */
export const watchEvent = <T extends KubeObject>(what: string, line: string): WatchEvent<T> => {
  let frame: JsonObject;
  try {
    frame = objectOr(JSON.parse(line));
  } catch (error) {
    throw new KubeError('ServerError', `${what}: not a watch event: ${line.slice(0, 200)}`, {
      cause: error,
    });
  }
  const object = objectOr(frame.object);
  switch (frame.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: frame.type, object: typed<T>(object) };
    case 'BOOKMARK':
      return bookmark(object);
    case 'ERROR':
      throw kubeErrorFrom(what, Number(object.code ?? 500), object);
    default:
      throw new KubeError('ServerError', `${what}: not a watch event: ${line.slice(0, 200)}`);
  }
};
