// Oracle 7, second half: what a cause asks for in time. Nothing is forced before `forceFrom`; a
// drain that may not force gives up at its deadline, names what held it, and takes no instance;
// between the end of a drain and our termination lies the cooldown, and the word of whoever keeps
// it for hooks.
import { objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import {
  type Call,
  type DisruptionState,
  endsPod,
  graceAsked,
  isEviction,
  type ObjectEntry,
  type PodState,
  type Request,
  succeeded,
} from '../state/book.ts';
import { isTermination } from '../state/cloud.ts';
import { type CauseState, inForce } from '../state/disruptions.ts';
import { isHealthy } from '../state/pods.ts';
import { keyOf, microsPerMinute, microsPerSecond, textOf, timeOf } from '../state/read.ts';
import { watchUnforced } from './unforced.ts';

/** The call comes when it comes, and times in the journal have milliseconds. */
const slackMicros = 2 * microsPerSecond;
/** How long a drain that has failed may go on after its deadline: a few restarts and refusals. */
const overdueMicros = 5 * microsPerMinute;
const everyMicros = microsPerMinute;
/** A budget that has kept its pod for so long before the end is why it came to that. */
const keptMicros = 5 * microsPerMinute;
/** The journal names the first 20 and counts the rest. */
const maxNamed = 20;

const causesOf = ({ book }: Context, one: DisruptionState): readonly CauseState[] =>
  inForce(one, { at: book.now, lagMicros: book.lagMicros });

/** Deletions, and evictions that cut the grace. */
const forces = (entry: Request, pod: PodState): boolean =>
  !isEviction(entry) || (graceAsked(entry) ?? pod.graceSeconds) < pod.graceSeconds;

const checkForce = (context: Context, entry: Request): void => {
  const { book, saw, report } = context;
  const pod = book.podOf(entry);
  const one = pod && book.disruptionOf(pod);
  if (pod === undefined || one === undefined || !forces(entry, pod)) return;
  const forcing = causesOf(context, one).filter((cause) => cause.isForcing);
  if (forcing.length === 0) return;
  saw();
  const from = Math.min(...forcing.map(({ forceFromAt = 0 }) => forceFromAt));
  const early = from - book.now - (book.facts.clockSkew ?? 0);
  // Times in the journal have milliseconds.
  if (early <= 1000) return;
  const seconds = Math.ceil(early / microsPerSecond);
  report({ subject: pod.key, message: `forced ${seconds} s before anything may be` });
};

/** Whoever asked for its end keeps it for hooks, and nobody else asked. */
const isKept = (context: Context, one: DisruptionState): boolean => {
  const ending = causesOf(context, one).filter(
    ({ followUp }) => followUp === 'Terminate' || followUp === 'Replace',
  );
  return ending.length > 0 && ending.every(({ isKeeping }) => isKeeping);
};

/** The pod that left a node last, and since when it had been there. */
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
 * From when on a drained instance cools down. Who stood still between the end and its write, and
 * whose clock is off, tells another time than that of the write: it is believed as far as nobody
 * could have known better, and not before the last pod had left.
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
  // A scale-in waits for nothing and asks by itself.
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

/** The deadline at which the last of its causes gives up; undefined where one of them forces. */
const givesUpAt = (context: Context, one: DisruptionState): number | undefined => {
  const causes = causesOf(context, one);
  if (causes.length === 0) return undefined;
  const isOpen = (cause: CauseState): boolean =>
    cause.isForcing || cause.isHolding || cause.hook !== undefined;
  if (causes.some(isOpen)) return undefined;
  const last = Math.max(...causes.map(({ deadlineAt = Number.POSITIVE_INFINITY }) => deadlineAt));
  return Number.isFinite(last) ? last : undefined;
};

const checkOverdue = (context: Context, told: Set<string>): void => {
  const { book, saw, report } = context;
  for (const one of book.disruptions.living()) {
    if (one.phase !== 'Draining') continue;
    const at = givesUpAt(context, one);
    if (at === undefined || book.now - at < overdueMicros) continue;
    saw();
    const key = `${one.name} ${one.episode}`;
    if (told.has(key)) continue;
    told.add(key);
    report({ subject: one.name, message: 'still Draining 5 min after it had to give up' });
  }
};

/** Budgets that have kept this pod on its node; empty = something else did. */
const keepersOf = ({ book }: Context, pod: PodState): readonly string[] => {
  if (!book.isDrainable(pod) || !isHealthy(pod)) return [];
  if (book.now - pod.boundAt < keptMicros) return [];
  const covering = book.pods.budgetsOf(pod);
  const closed = covering.filter(
    ({ closedSince = book.now }) => book.now - closedSince >= keptMicros,
  );
  return closed.length === covering.length ? closed.map(({ key }) => key) : [];
};

/** What kept the pods is named in the write that gives up. */
const checkNames = (context: Context, one: DisruptionState): void => {
  const { book, saw, report } = context;
  const { waitingOn, waitingOnTotal } = one;
  const since = one.heldUntil ?? one.phaseAt.get('Draining');
  if (since === undefined || book.now - since < keptMicros) return;
  if (waitingOnTotal > waitingOn.length && waitingOn.length >= maxNamed) return;
  for (const pod of book.pods.on(one.nodeName)) {
    const budgets = keepersOf(context, pod);
    if (budgets.length === 0) continue;
    saw();
    const isNamed = waitingOn.some(
      (waiting) => waiting.pod === pod.key && budgets.some((key) => waiting.budgets.includes(key)),
    );
    if (isNamed) continue;
    const message = `given up, and ${pod.key} under ${budgets.join(', ')} is not named`;
    report({ subject: one.name, message });
  }
};

export const updateTimes: Oracle = {
  name: 'updates-keep-their-times',
  what: 'nothing is forced before forceFrom, a drain that fails takes no instance and says why, a drained instance is kept for its cooldown, and without force no protected pod is deleted where nobody gave notice',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book, saw } = context;
    const told = new Set<string>();
    const ends = new Map<string, Ended>();
    const last: LastPods = new Map();
    const unforced = watchUnforced(context);
    let next = 0;
    return {
      lifecycle: unforced.lifecycle,
      object: (entry) => {
        unforced.object(entry);
        if (entry.resource === 'pods') noteGone(context, entry, last);
        const one = book.disruptionIn(entry);
        const isNew = one?.phase === 'Completing' && one.phaseAt.get('Completing') === book.now;
        if (one !== undefined && isNew) {
          ends.set(one.name, { episode: one.episode, from: cooledFrom(context, one, last) });
        }
        if (one?.outcome === 'Failed' && isNew) {
          saw();
          checkNames(context, one);
        }
        if (book.now < next) return;
        next = book.now + everyMicros;
        checkOverdue(context, told);
      },
      request: (entry) => {
        if (!book.isOurs(entry) || !succeeded(entry) || !endsPod(entry)) return;
        checkForce(context, entry);
        unforced.request(entry);
      },
      call: (entry) => {
        unforced.call(entry);
        if (!book.isOurs(entry) || entry.error !== undefined || !isTermination(entry)) return;
        checkTermination(context, entry, ends);
      },
      end: () => checkOverdue(context, told),
    };
  },
};
