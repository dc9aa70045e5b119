// The lines of an audit log in the order of their effects. A real server writes a line when it is
// done with a request, and its watches may have told of the effect by then: whoever acted upon that
// can stand before it. Never changes what a line says.
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { numberOf, textOf } from './state/read.ts';

const changing = new Set(['create', 'update', 'patch', 'delete']);

interface Placed<T> {
  readonly line: T;
  readonly receivedAt: string;
  /** Where its effect stands among all effects; unknown where the answer does not tell. */
  readonly revision: number | undefined;
}

/**
 * Servers count the versions of all their objects together, but for events, which may have a store
 * of their own.
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

/**
 * Where a line that comes next stands: before what was seen to happen later, else as late as it
 * can.
 */
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
  // An eviction's answer has no version. One that came while this write was under way may have been
  // sent because of it.
  for (let i = place - 1; i >= 0; i--) {
    const earlier = before[i];
    if (earlier === undefined || earlier.revision !== undefined) break;
    if (earlier.receivedAt <= receivedAt) break;
    place = i;
  }
  return place;
};

/** `eventOf` gives the audit event (audit.k8s.io/v1) of a line. */
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
    // A write that changed nothing is answered with the version that was there.
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
