// Oracle 14 for node groups: a request is carried out or given up, and a delete goes on until the
// group is gone. Looks at NodeGroups as they stand at the end; part of everything-ends.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { Context } from '../oracle.ts';
import type { ObjectEntry } from '../state/book.ts';
import {
  isReleased,
  microsPerMinute,
  microsPerSecond,
  numberOf,
  textOf,
  timeOf,
} from '../state/read.ts';

/** A request, or a delete that failed, has been looked at again by then. */
const lookedAtMicros = 10 * microsPerMinute;
/** As EKS drains where the group says nothing. */
const usualDrainSeconds = 900;

export class GroupEnds {
  readonly #groups = new Map<string, { readonly at: number; readonly object: JsonObject }>();

  take({ type, resource, object, at }: ObjectEntry): void {
    if (resource !== 'nodegroups') return;
    const name = textOf(objectOr(object.metadata).name);
    if (type === 'DELETED' || isReleased(object)) this.#groups.delete(name);
    else this.#groups.set(name, { at, object });
  }

  check({ book, saw, report }: Context): void {
    for (const [subject, { at, object }] of this.#groups) {
      saw();
      const message = unended(object, { at, now: book.now });
      if (message !== undefined) report({ subject, message });
    }
  }
}

/** Each node has had its time, and one that was asked for in the place of another has too. */
const scaleInMicros = (spec: JsonObject): number => {
  const seconds = numberOf(objectOr(spec.drain).timeoutSeconds) ?? usualDrainSeconds;
  return 2 * seconds * microsPerSecond + lookedAtMicros;
};

/** What is still open and should not be; undefined when all is done or told. */
const unended = (
  object: JsonObject,
  { at, now }: { readonly at: number; readonly now: number },
): string | undefined => {
  const [spec, status] = [objectOr(object.spec), objectOr(object.status)];
  if (status.scaleIn !== undefined) {
    const since = timeOf(objectOr(status.scaleIn).since) ?? at;
    return now - since > scaleInMicros(spec) ? 'still scaling in' : undefined;
  }
  const deletedAt = timeOf(objectOr(object.metadata).deletionTimestamp);
  if (deletedAt !== undefined) {
    const failedAt = timeOf(objectOr(status.failure).at) ?? deletedAt;
    const isLate = now - failedAt > lookedAtMicros;
    return isLate ? 'is to be deleted, and nobody tries any more' : undefined;
  }
  const asked = numberOf(objectOr(spec.scaling).desired);
  const told = numberOf(status.desired);
  const isExcused = Array.isArray(status.health) && status.health.length > 0;
  // What an update could not take back is told beside what people asked for.
  const surge = numberOf(objectOr(status.surge).desired) ?? 0;
  const isTold = told === (asked ?? 0) + surge;
  if (asked === undefined || told === undefined || isExcused || isTold) return undefined;
  return now - at > lookedAtMicros ? `asked for as ${asked}, and still told as ${told}` : undefined;
};
