// Reports of the disruption controller: journal entries for each effect, and Kubernetes events on
// the node so that users need no log. One list of reasons; decides nothing.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { HookStatus, NodeDisruption, NodeDisruptionStatus } from '../../api/disruption.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Step } from '../../api/plan.ts';
import type { Grant } from '../../core/drain/index.ts';
import { explainHook, explainWaiting } from '../../core/explain/index.ts';
import type { Journal } from '../../ports/index.ts';

export const eventReasons = [
  'NodeMarked',
  'DrainBlocked',
  'DrainForcing',
  'NodeDrained',
  'DrainForced',
  'DrainFailed',
  'DrainCancelled',
  'HookEnded',
] as const;
export type EventReason = (typeof eventReasons)[number];

interface EventText {
  readonly reason: EventReason;
  readonly type: 'Normal' | 'Warning';
  readonly message: string;
}

const ending: Readonly<Record<string, Omit<EventText, 'message'>>> = {
  Drained: { reason: 'NodeDrained', type: 'Normal' },
  NothingToDrain: { reason: 'NodeDrained', type: 'Normal' },
  InstanceGone: { reason: 'NodeDrained', type: 'Normal' },
  Forced: { reason: 'DrainForced', type: 'Warning' },
  Failed: { reason: 'DrainFailed', type: 'Warning' },
  Cancelled: { reason: 'DrainCancelled', type: 'Normal' },
};

/** Maximum number of blockers named in an event. */
const namedBlockers = 3;

const blockersText = ({ waitingOn = [], waitingOnTotal = 0 }: NodeDisruptionStatus): string => {
  const named = waitingOn.slice(0, namedBlockers).map(explainWaiting);
  const more = waitingOnTotal - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};

/** The previous episode drained the node, for example when the hook follows our own termination. */
const wasEmptied = ({ previous, podsTotal = 0 }: NodeDisruptionStatus): boolean =>
  podsTotal === 0 && (previous?.outcome === 'Drained' || previous?.outcome === 'Forced');

/** The event text for a change of the status; usually none. */
const eventTextOf = (
  before: NodeDisruptionStatus | undefined,
  after: NodeDisruptionStatus,
): EventText | undefined => {
  const { phase, outcome } = after;
  // A drain is reported only once.
  if (wasEmptied(after) && (phase === 'Draining' || outcome === 'Drained')) return undefined;
  if (phase === 'Draining' && before?.phase === 'Marking') {
    const deadline = after.deadline === undefined ? 'no deadline' : `deadline ${after.deadline}`;
    const held = after.waitingOn?.find(({ kind }) => kind === 'hold');
    const next = held === undefined ? `draining, ${deadline}` : explainWaiting(held);
    const message = `excluded from load balancers and cordoned; ${next}`;
    return { reason: 'NodeMarked', type: 'Normal', message };
  }
  if (phase === 'Draining' && after.forcingSince !== before?.forcingSince) {
    const message = `forcing what is left: ${blockersText(after)}`;
    return { reason: 'DrainForcing', type: 'Warning', message };
  }
  if (phase === 'Draining' && after.progressAt !== before?.progressAt) {
    if ((after.waitingOnTotal ?? 0) === 0) return undefined;
    return { reason: 'DrainBlocked', type: 'Warning', message: blockersText(after) };
  }
  const ended = phase === 'Ended' && before?.phase !== 'Ended' && outcome !== undefined;
  const how = ended ? ending[outcome] : undefined;
  if (how !== undefined) return { ...how, message: after.message ?? outcome ?? '' };
  const hook = endedHook(before, after);
  if (hook === undefined) return undefined;
  return { reason: 'HookEnded', type: 'Warning', message: explainHook(hook) };
};

/** The first hook that ended between two writes although Drover did not complete it. */
const endedHook = (
  before: NodeDisruptionStatus | undefined,
  { hooks = [] }: NodeDisruptionStatus,
): HookStatus | undefined =>
  hooks.find(({ autoScalingGroupName, name, state }) => {
    const known = before?.hooks?.find(
      (hook) => hook.name === name && hook.autoScalingGroupName === autoScalingGroupName,
    );
    return known?.state === 'Open' && (state === 'Expired' || state === 'Gone');
  });

/** The API server refuses longer messages (metav1, 1024 characters). */
const maxMessage = 1000;

/**
 * The event of a status change, if any. Its name is derived from its content, so a repeat after a
 * crash fails with AlreadyExists.
 */
export const eventOf = (
  disruption: NodeDisruption,
  after: NodeDisruptionStatus,
  now: EpochMs,
): JsonObject | undefined => {
  const text = eventTextOf(disruption.status, after);
  const node = after.node ?? disruption.status?.node;
  if (text === undefined || node === undefined) return undefined;
  const { name } = disruption.metadata;
  const at = formatKubeTime(now);
  const serial = text.reason === 'DrainBlocked' ? `.${Math.floor(now / 1000)}` : '';
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${name}.${after.episode}.${text.reason.toLowerCase()}${serial}`,
      namespace: 'default',
    },
    involvedObject: { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid },
    reason: text.reason,
    message: text.message.slice(0, maxMessage),
    type: text.type,
    source: { component: 'drover' },
    reportingComponent: 'drover.dev/disruption',
    reportingInstance: 'drover',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
};

const optional = (facts: Readonly<Record<string, string | number | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));

/** For the end of an episode: its first cause, and the time since its marks. */
const endFacts = (
  { spec, status }: NodeDisruption,
  { markedAt, endedAt }: NodeDisruptionStatus,
): JsonObject => {
  const completing = new Set(status?.completingCauses ?? []);
  const first = spec.causes.find(({ id }) => completing.has(id)) ?? spec.causes.at(-1);
  const seconds =
    markedAt === undefined || endedAt === undefined
      ? undefined
      : (Date.parse(endedAt) - Date.parse(markedAt)) / 1000;
  return optional({ cause: first?.kind, drainSeconds: seconds });
};

export const journalStatus = (
  journal: Journal,
  disruption: NodeDisruption,
  after: NodeDisruptionStatus,
): void => {
  const from = disruption.status?.phase ?? 'Pending';
  const { phase, outcome, episode, deadline, forcingSince, message } = after;
  const node = after.node?.name;
  const subject = disruption.metadata.name;
  const hook = endedHook(disruption.status, after);
  if (hook !== undefined) {
    const { autoScalingGroupName: group, name, state } = hook;
    journal.record({ type: 'hook:ended', subject, facts: { group, hook: name, state } });
  }
  const moved = from !== phase || disruption.status === undefined;
  const { leaderEpoch } = after;
  if (leaderEpoch !== disruption.status?.leaderEpoch && disruption.status !== undefined) {
    journal.record({ type: 'disruption:taken', subject, facts: optional({ leaderEpoch }) });
    if (!moved) return;
  }
  const ended = phase === 'Ended' ? endFacts(disruption, after) : {};
  const plain = { from, to: phase, episode, node, deadline, outcome, message };
  const facts = { ...optional(plain), ...ended };
  if (moved) journal.record({ type: 'disruption:phase', subject, facts });
  else if (forcingSince !== disruption.status?.forcingSince) {
    journal.record({ type: 'drain:forcing', subject, facts: optional({ node, deadline }) });
  } else {
    const waiting = { waitingOn: (after.waitingOn ?? []).map(explainWaiting) };
    journal.record({
      type: 'drain:progress',
      subject,
      facts: { ...optional({ node }), ...waiting },
    });
  }
};

/** Journals an effect outside of the status, once it has happened. */
export const journalStep = (
  journal: Journal,
  subject: string,
  step: Exclude<Step, { kind: 'WriteStatus' | 'Confirm' }>,
): void => {
  switch (step.kind) {
    case 'PatchNode': {
      const { node, uid, why } = step;
      journal.record({ type: 'node:patched', subject, facts: { node, uid, why } });
      return;
    }
    case 'HeartbeatHook':
    case 'CompleteHook': {
      const type = step.kind === 'HeartbeatHook' ? 'hook:heartbeat' : 'hook:completed';
      const { autoScalingGroupName: group, hookName: hook, result } = step;
      journal.record({ type, subject, facts: optional({ group, hook, result }) });
      return;
    }
    case 'TerminateInstance': {
      const { instanceId, decrementDesired } = step;
      journal.record({
        type: 'instance:terminated',
        subject,
        facts: { instanceId, decrementDesired },
      });
      return;
    }
    case 'DetachInstance': {
      const { instanceId, autoScalingGroupName: group } = step;
      journal.record({ type: 'instance:detached', subject, facts: { instanceId, group } });
      return;
    }
    case 'RebootInstance': {
      const { instanceId } = step;
      journal.record({ type: 'instance:rebooted', subject, facts: { instanceId } });
      return;
    }
    case 'WithdrawCause':
      journal.record({ type: 'cause:withdrawn', subject, facts: { cause: step.causeId } });
      return;
    case 'DeleteDisruption':
      journal.record({ type: 'disruption:deleted', subject, facts: {} });
  }
};

const podFacts = (grant: Grant): JsonObject => {
  const { namespace, name, uid } = grant.pod;
  const budget = grant.budgets.join(',');
  return {
    pod: `${namespace}/${name}`,
    uid,
    node: grant.node,
    ...(budget === '' ? {} : { budget }),
    ...(grant.kind === 'evict' && grant.isSignal ? { signal: true } : {}),
    ...(grant.kind === 'delete' ? optional({ why: grant.why, grace: grant.graceSeconds }) : {}),
  };
};

export const journalGrant = (journal: Journal, grant: Grant, outcome: 'done' | 'gone'): void => {
  const type = grant.kind === 'evict' ? 'pod:evicted' : 'pod:deleted';
  const facts = { ...podFacts(grant), ...(outcome === 'gone' ? { gone: true } : {}) };
  journal.record({ type, subject: grant.drain, facts });
};

export const journalRefusal = (
  journal: Journal,
  grant: Grant,
  refusal: { readonly code: string; readonly message: string },
): void => {
  const facts = { ...podFacts(grant), ...refusal };
  journal.record({ type: 'pod:refused', subject: grant.drain, facts });
};
