// A request to a node group is carried out or reported as failed, and a delete is retried until the
// group is gone. Checks NodeGroups as they are at the end; part of everything-ends.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { ObjectEntry } from '../../state/book.ts';
import {
  isReleased,
  microsPerMinute,
  microsPerSecond,
  numberOf,
  textOf,
  timeOf,
} from '../../state/read.ts';

/** The controller retries a request, or a failed delete, within this time. */
const lookedAtMicros = 10 * microsPerMinute;
/** Drain timeout of EKS, used if the group states none. */
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

/**
 * Twice the drain timeout, since a second node may be drained in place of the first, plus a pass.
 */
const scaleInMicros = (spec: JsonObject): number => {
  const seconds = numberOf(objectOr(spec.drain).timeoutSeconds) ?? usualDrainSeconds;
  return 2 * seconds * microsPerSecond + lookedAtMicros;
};

/** What is still open and should not be; undefined if everything is done or reported. */
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
    return isLate ? 'is to be deleted, and no one tries any more' : undefined;
  }
  const asked = numberOf(objectOr(spec.scaling).desired);
  const told = numberOf(status.desired);
  const isExcused = Array.isArray(status.health) && status.health.length > 0;
  // An update may fail to remove its surge; the reported size then includes it.
  const surge = numberOf(objectOr(status.surge).desired) ?? 0;
  const isTold = told === (asked ?? 0) + surge;
  if (asked === undefined || told === undefined || isExcused || isTold) return undefined;
  return now - at > lookedAtMicros ? `asked for as ${asked}, and still told as ${told}` : undefined;
};
