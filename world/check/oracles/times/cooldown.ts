// The controller does not terminate an instance whose drain failed. It terminates a drained one
// only after its cooldown, and never while its owner keeps it for hooks.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import type { Call, DisruptionState, ObjectEntry } from '../../state/book.ts';
import { isTermination } from '../../state/cloud.ts';
import { inForce } from '../../state/disruptions.ts';
import { keyOf, microsPerSecond, textOf, timeOf } from '../../state/read.ts';

/** A call takes time, and times in the journal have milliseconds. */
const slackMicros = 2 * microsPerSecond;
/** All causes that request the end of the instance also keep it. */
const isKept = ({ book }: Context, one: DisruptionState): boolean => {
  const causes = inForce(one, { at: book.now, lagMicros: book.lagMicros });
  const ending = causes.filter(
    ({ followUp }) => followUp === 'Terminate' || followUp === 'Replace',
  );
  return ending.length > 0 && ending.every(({ isKeeping }) => isKeeping);
};

/** By node: the last pod that ended there, and when it had been bound. */
type LastPods = Map<string, { readonly boundAt: number; readonly goneAt: number }>;

const noteGone = ({ book }: Context, { type, object }: ObjectEntry, last: LastPods): void => {
  const { namespace, name } = objectOr(object.metadata);
  const pod =
    type === 'DELETED' ? book.pods.byKey.get(keyOf(textOf(namespace), textOf(name))) : undefined;
  const { goneAt, finishedAt } = pod ?? {};
  if (pod === undefined || goneAt === undefined || finishedAt !== undefined) return;
  if (pod.ownerKind === 'DaemonSet' || pod.isMirror) return;
  last.set(pod.nodeName, { boundAt: pod.boundAt, goneAt });
};

/**
 * Start of the cooldown of a drained instance. A pause before the write, or a skewed clock, makes
 * `drainedAt` differ from the time of the write. The journal's time counts within the known lag,
 * and not before the end of the last pod.
 */
const cooledFrom = ({ book }: Context, one: DisruptionState, last: LastPods): number => {
  const drainedAt = timeOf(objectOr(one.object.status).drainedAt);
  if (drainedAt === undefined) return book.now;
  const skew = book.facts.clockSkew ?? 0;
  const pod = last.get(one.nodeName);
  const emptyAt = pod !== undefined && pod.boundAt <= drainedAt ? pod.goneAt : 0;
  const earliest = book.now - book.lagMicros - skew;
  return Math.min(book.now, Math.max(drainedAt, emptyAt - skew, earliest));
};

interface Ended {
  readonly episode: number;
  readonly from: number;
}

const checkTermination = (
  context: Context,
  entry: Call,
  ends: ReadonlyMap<string, Ended>,
): void => {
  const { book, saw, report } = context;
  const instanceId = book.instanceOfCall(entry);
  const one = book.disruptions.ofInstance(instanceId);
  const endedAt = one?.phaseAt.get('Completing');
  if (one === undefined || endedAt === undefined) return;
  // A scale-in has no cooldown and requests the instance by itself.
  if (one.causes.some(({ kind, isCancelled }) => kind === 'ScaleIn' && !isCancelled)) return;
  saw();
  const told = (message: string) => report({ subject: instanceId, message });
  if (one.outcome === 'Failed') told('terminated although its drain had failed');
  if (isKept(context, one)) told('terminated although its owner had not let it go');
  if (one.outcome !== 'Drained' && one.outcome !== 'Forced') return;
  const asked = one.causes.filter(
    ({ id, isCancelled, isHolding, seenAt }) =>
      !isCancelled && !isHolding && !one.handled.has(id) && seenAt < endedAt - book.lagMicros,
  );
  const cooldown = Math.max(0, ...asked.map(({ cooldownMicros }) => cooldownMicros));
  const known = ends.get(one.name);
  const from = known?.episode === one.episode ? known.from : endedAt;
  const early = from + cooldown - book.now - slackMicros - (book.facts.clockSkew ?? 0);
  if (early <= 0) return;
  told(`terminated ${Math.ceil(early / microsPerSecond)} s before its cooldown was over`);
};

export const watchCooldown = (context: Context): Watcher => {
  const { book } = context;
  const ends = new Map<string, Ended>();
  const last: LastPods = new Map();
  return {
    object: (entry) => {
      if (entry.resource === 'pods') noteGone(context, entry, last);
      const one = book.disruptionIn(entry);
      if (one?.phase !== 'Completing' || one.phaseAt.get('Completing') !== book.now) return;
      ends.set(one.name, { episode: one.episode, from: cooledFrom(context, one, last) });
    },
    call: (entry) => {
      if (!book.isOurs(entry) || entry.error !== undefined || !isTermination(entry)) return;
      checkTermination(context, entry, ends);
    },
  };
};
