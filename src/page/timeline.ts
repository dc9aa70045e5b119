// The life of a node as moments and spans, from its Node, its drain and its repair: what happened,
// what is still in progress, and what it waits for. Pure.
import { formatTime } from '../api/brand.ts';
import { isConfirmed } from '../api/confirmation.ts';
import type { DisruptionCause, NodeDisruption } from '../api/disruption.ts';
import type { NodeRepair, RepairAttempt } from '../api/node-repair.ts';
import type { PageMoment } from '../api/page.ts';
import { explainHook, explainWaiting } from '../core/explain/index.ts';
import { isLasting, type NodeInHealth } from '../core/overview/index.ts';

type Tone = PageMoment['tone'];

const moment = (at: string, what: string, tone: Tone = 'plain'): PageMoment => ({
  at,
  until: null,
  isOpen: false,
  what,
  tone,
});

const span = (
  { at, until }: { readonly at: string; readonly until: string | undefined },
  what: string,
  tone: Tone,
): PageMoment => ({ at, until: until ?? null, isOpen: until === undefined, what, tone });

const optional = (at: string | undefined, what: string, tone?: Tone): readonly PageMoment[] =>
  at === undefined ? [] : [moment(at, what, tone)];

const causeMoments = (cause: DisruptionCause): readonly PageMoment[] => {
  const { kind, requestedBy, reason, receivedAt, cancelledAt } = cause;
  const by = requestedBy === undefined ? '' : ` by ${requestedBy}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  const doubt = isConfirmed(cause) ? '' : ', not confirmed by the cloud';
  return [
    moment(receivedAt, `${kind}${by}${why}${doubt}`, 'work'),
    ...optional(cancelledAt, `${kind} withdrawn`),
  ];
};

const endTone = (outcome: string | undefined): Tone =>
  outcome === 'Failed' || outcome === 'Forced' ? 'bad' : 'good';

const drainMoments = ({ spec, status }: NodeDisruption): readonly PageMoment[] => {
  const causes = spec.causes.flatMap(causeMoments);
  if (status === undefined) return causes;
  const { previous, startedAt, markedAt, drainedAt, endedAt, forcingSince, outcome } = status;
  const drainedUntil = drainedAt ?? endedAt;
  const waits = (status.phase === 'Ended' ? [] : (status.waitingOn ?? []))
    .filter(isLasting)
    .flatMap((waiting) => {
      const at = 'since' in waiting ? waiting.since : undefined;
      const from = at ?? markedAt ?? startedAt;
      if (from === undefined) return [];
      return [span({ at: from, until: undefined }, explainWaiting(waiting), 'wait')];
    });
  const before =
    previous?.startedAt === undefined
      ? []
      : [
          span(
            { at: previous.startedAt, until: previous.endedAt ?? previous.startedAt },
            `the drain before this one: ${previous.outcome ?? 'ended'}`,
            endTone(previous.outcome),
          ),
        ];
  const marking =
    startedAt === undefined || startedAt === markedAt
      ? optional(markedAt, 'excluded from load balancers and cordoned', 'work')
      : [
          span(
            { at: startedAt, until: markedAt ?? endedAt },
            'excluded from load balancers and cordoned',
            'work',
          ),
        ];
  const draining =
    markedAt === undefined ? [] : [span({ at: markedAt, until: drainedUntil }, 'drain', 'work')];
  const ending =
    drainedAt === undefined
      ? []
      : [span({ at: drainedAt, until: endedAt }, 'empty; the outcome is reported', 'work')];
  return [
    ...before,
    ...causes,
    ...marking,
    ...draining,
    ...waits,
    ...optional(forcingSince, 'pods are deleted, budgets or not', 'bad'),
    ...ending,
    ...(status.hooks ?? []).flatMap((hook) =>
      hook.lastHeartbeatAt === undefined ? [] : [moment(hook.lastHeartbeatAt, explainHook(hook))],
    ),
    ...optional(endedAt, `drain over: ${outcome ?? 'ended'}`, endTone(outcome)),
  ];
};

const attemptMoments = ({ action, startedAt, endedAt, outcome }: RepairAttempt) => [
  span({ at: startedAt, until: endedAt }, `repair: ${action} ${outcome ?? ''}`.trim(), 'work'),
];

const repairMoments = ({ spec, status }: NodeRepair): readonly PageMoment[] => {
  const { condition, reason, unhealthySince } = spec;
  const until = status?.endedAt;
  return [
    span({ at: unhealthySince, until }, `unhealthy: ${condition} ${reason}`, 'bad'),
    ...(status?.blockedBy ?? []).map(({ kind, message }) =>
      span({ at: status?.eligibleAt ?? unhealthySince, until }, `${kind}: ${message}`, 'wait'),
    ),
    ...(status?.attempts ?? []).flatMap(attemptMoments),
    ...optional(until, `repair over: ${status?.phase ?? ''}`),
  ];
};

/** In order of time. */
export const timelineOf = (
  { node, health, disruption }: NodeInHealth,
  repairs: readonly NodeRepair[],
): readonly PageMoment[] => {
  const ready = node.status.conditions?.find(({ type }) => type === 'Ready');
  const { state, since, findings } = health;
  const [finding] = findings;
  const isBad = state === 'Unhealthy' && repairs.length === 0 && since !== undefined;
  const moments = [
    moment(node.metadata.creationTimestamp, 'joined the cluster', 'good'),
    ...(ready?.status === 'True' ? optional(ready.lastTransitionTime, 'Ready', 'good') : []),
    ...(isBad && finding !== undefined
      ? [
          span(
            { at: formatTime(since), until: undefined },
            `unhealthy: ${finding.condition} ${finding.reason}`,
            'bad',
          ),
        ]
      : []),
    ...(disruption === undefined ? [] : drainMoments(disruption)),
    ...repairs.flatMap(repairMoments),
  ];
  return moments.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
};
