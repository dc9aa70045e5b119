// Orders the lines of an audit log by their effects. An API server writes a line when the request
// is complete, but its watches may have delivered the effect earlier. A reaction to the effect can
// therefore precede its line. Never changes the content of a line.
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { numberOf, textOf } from './state/read.ts';

const changing = new Set(['create', 'update', 'patch', 'delete']);

interface Placed<T> {
  readonly line: T;
  readonly receivedAt: string;
  /** Resource version that the write produced; undefined if the answer does not show it. */
  readonly revision: number | undefined;
}

/**
 * API servers use one version counter for all objects except events, which may have a store of
 * their own.
 */
const versionIn = (event: JsonObject): number | undefined => {
  const { resource } = objectOr(event.objectRef);
  const code = numberOf(objectOr(event.responseStatus).code) ?? 0;
  const isWrite = changing.has(textOf(event.verb)) && code >= 200 && code < 300;
  if (!isWrite || resource === 'events') return undefined;
  const { resourceVersion } = objectOr(objectOr(event.responseObject).metadata);
  const version = Number(textOf(resourceVersion));
  return Number.isSafeInteger(version) && version > 0 ? version : undefined;
};

/** Index at which to insert the next line: before lines with a later revision, else at the end. */
const placeOf = <T>(before: readonly Placed<T>[], next: Placed<T>): number => {
  const { revision, receivedAt } = next;
  let place = before.length;
  if (revision === undefined) return place;
  for (let i = place - 1; i >= 0; i--) {
    const known = before[i]?.revision;
    if (known === undefined) continue;
    if (known <= revision) break;
    place = i;
  }
  // The answer to an eviction has no version. An eviction answered while this write was in progress
  // may be a reaction to it.
  for (let i = place - 1; i >= 0; i--) {
    const earlier = before[i];
    if (earlier === undefined || earlier.revision !== undefined) break;
    if (earlier.receivedAt <= receivedAt) break;
    place = i;
  }
  return place;
};

/** `eventOf` returns the audit event (audit.k8s.io/v1) of a line. */
export const inOrderOfEffects = <T>(
  lines: readonly T[],
  eventOf: (line: T) => JsonObject,
): readonly T[] => {
  const placed: Placed<T>[] = [];
  const latest = new Map<string, number>();
  for (const line of lines) {
    const event = eventOf(line);
    const version = versionIn(event);
    const uid = textOf(objectOr(objectOr(event.responseObject).metadata).uid);
    // The answer to a write that changed nothing carries the existing version.
    const isNew = version !== undefined && version > (latest.get(uid) ?? 0);
    if (isNew) latest.set(uid, version);
    const next: Placed<T> = {
      line,
      receivedAt: textOf(event.requestReceivedTimestamp),
      revision: isNew ? version : undefined,
    };
    placed.splice(placeOf(placed, next), 0, next);
  }
  return placed.map(({ line }) => line);
};
