// The blocker of a row with its start and end. The texts are core/explain's, each with a short
// cause by which equal blockers of many rows are grouped. Pure.
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { PageWait } from '../../api/page.ts';
import { explainDisruption, explainWaiting } from '../../core/explain/index.ts';
import { isLasting } from '../../core/overview/index.ts';

type Of<K extends WaitingOn['kind']> = Extract<WaitingOn, { kind: K }>;

const budgetCause = (budgets: readonly string[]): string =>
  budgets.length === 1 ? `budget ${budgets[0]}` : `budgets ${budgets.join(', ')}`;

const causes: { readonly [K in WaitingOn['kind']]: (waiting: Of<K>) => string } = {
  pdb: ({ budgets }) => budgetCause(budgets),
  selfMoving: ({ owner, pod }) => `application ${owner ?? pod}`,
  multiplePdbs: ({ budgets }) => budgetCause(budgets),
  budgetHeld: ({ budget }) => budgetCause([budget]),
  termination: ({ why }) =>
    ({ grace: 'pods that stop', kubelet: 'a silent kubelet', finalizers: 'finalizers of pods' })[
      why
    ],
  evictionError: ({ code }) => `eviction error ${code}`,
  tier: () => 'system-critical pods, which go last',
  replacement: ({ owner }) => `a Ready replacement for ${owner}`,
  boomerang: () => 'pods that were put back',
  marks: () => 'marks on the node',
  batch: () => 'marks on the nodes of its batch',
  settling: () => 'pods on their way to the node',
  doNotEvict: ({ owner, pod, annotation }) => `${annotation} on ${owner ?? pod}`,
  job: ({ owner, pod }) => owner ?? `Job of ${pod}`,
  volumes: () => 'volumes to be detached',
  cooldown: () => 'load balancers',
  deregistration: () => 'load balancers',
  surge: () => 'new nodes',
  terminationHold: ({ by }) => by,
  hold: ({ by }) => by,
  turn: () => 'its turn',
  hook: ({ hookName }) => `hook ${hookName}`,
  api: ({ what }) => what,
  instance: () => 'the instance',
};

const causeOf = (waiting: WaitingOn): string => {
  const render: (waiting: never) => string = causes[waiting.kind];
  return render(waiting as never);
};

interface Times {
  readonly since?: string;
  readonly forceAt?: string;
  readonly until?: string;
  readonly retryAt?: string;
  readonly requestAgainAt?: string;
  readonly graceEndsAt?: string;
}

const drainSince = ({ metadata, status }: NodeDisruption): string =>
  status?.startedAt ?? metadata.creationTimestamp;

/** Null for a drain that has ended. */
export const drainWait = (drain: NodeDisruption): PageWait | null => {
  const { phase, waitingOn = [], waitingOnTotal, deadline, onDeadline } = drain.status ?? {};
  if (phase === 'Ended') return null;
  const first = waitingOn.find(isLasting) ?? waitingOn[0];
  const atEnd = deadline === undefined ? null : (onDeadline ?? 'fail');
  if (first === undefined) {
    const [text = ''] = explainDisruption(drain);
    const times = { since: drainSince(drain), until: deadline ?? null };
    return { text, cause: 'progress', ...times, atEnd, more: 0 };
  }
  const { since, forceAt, ...ends } = first as Times;
  const ownEnd = ends.until ?? ends.retryAt ?? ends.requestAgainAt ?? ends.graceEndsAt;
  const until = forceAt ?? ownEnd ?? deadline ?? null;
  const isForced = forceAt !== undefined;
  return {
    text: explainWaiting(first),
    cause: isLasting(first) ? causeOf(first) : 'progress',
    since: since ?? drainSince(drain),
    until,
    atEnd: isForced ? 'force' : ownEnd === undefined ? atEnd : null,
    more: Math.max(0, (waitingOnTotal ?? waitingOn.length) - 1),
  };
};

/** Budgets that a drain waits for, each as namespace/name. */
export const budgetsOf = ({ status }: NodeDisruption): readonly string[] => {
  if (status?.phase === 'Ended') return [];
  const names = (status?.waitingOn ?? []).flatMap((waiting) => {
    if (waiting.kind === 'pdb' || waiting.kind === 'multiplePdbs') return waiting.budgets;
    return waiting.kind === 'budgetHeld' ? [waiting.budget] : [];
  });
  return [...new Set(names)];
};
