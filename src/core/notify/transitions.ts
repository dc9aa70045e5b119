// Which transitions the status of an object shows: of drains, updates and repairs. Each id is
// derived from the object and the transition alone, so every process derives the same one. Sends
// nothing and knows no receiver.
import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { JsonObject } from '../../api/json.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';

export type Severity = 'info' | 'warning' | 'error';

/** `begins` and `ends`: opens and resolves an incident, at receivers that have incidents. */
interface TypeRow {
  readonly severity: Severity;
  readonly incident?: 'begins' | 'ends';
  readonly phrase: string;
}

export const transitionTypes = {
  'node.drain.started': { severity: 'info', phrase: 'drain started' },
  'node.drain.forcing': {
    severity: 'warning',
    incident: 'begins',
    phrase: 'deadline passed, deleting the pods that are left',
  },
  'node.drain.completed': { severity: 'info', incident: 'ends', phrase: 'drained' },
  'node.drain.forced': { severity: 'warning', incident: 'ends', phrase: 'drained by force' },
  'node.drain.failed': { severity: 'error', incident: 'begins', phrase: 'drain failed' },
  'node.drain.cancelled': { severity: 'info', incident: 'ends', phrase: 'drain cancelled' },
  'node.repair.started': { severity: 'warning', phrase: 'repair started' },
  'node.repair.succeeded': { severity: 'info', incident: 'ends', phrase: 'repaired' },
  'node.repair.failed': { severity: 'error', incident: 'begins', phrase: 'repair failed' },
  'node.repair.cancelled': { severity: 'info', incident: 'ends', phrase: 'repair cancelled' },
  'nodegroup.update.started': { severity: 'info', phrase: 'update started' },
  'nodegroup.update.succeeded': { severity: 'info', incident: 'ends', phrase: 'update succeeded' },
  'nodegroup.update.failed': { severity: 'error', incident: 'begins', phrase: 'update failed' },
  'nodegroup.update.cancelled': {
    severity: 'warning',
    incident: 'ends',
    phrase: 'update cancelled',
  },
  // Resolves an incident that does not exist, so that the receiver answers without raising an
  // alert.
  'notification.test': { severity: 'info', incident: 'ends', phrase: 'test notification' },
} as const satisfies Readonly<Record<string, TypeRow>>;
export type TransitionType = keyof typeof transitionTypes;

export interface Transition {
  /** The same in every process and after every restart. */
  readonly id: string;
  readonly type: TransitionType;
  readonly at: EpochMs;
  /** The node or the node group. */
  readonly subject: string;
  /** Path of the object in the API. */
  readonly source: string;
  readonly object: { readonly kind: string; readonly name: string; readonly uid: string };
  /** The same for all transitions of one drain, update or repair. */
  readonly episode: string;
  /** One line. */
  readonly summary: string;
  readonly facts: JsonObject;
}

interface TransitionFacts {
  readonly type: TransitionType;
  readonly at: string | undefined;
  /** Distinguishes repetitions within an episode. */
  readonly nth?: number;
  readonly message?: string | undefined;
}

interface About {
  readonly object: Transition['object'];
  readonly episode: string;
  readonly subject: string;
  readonly facts: JsonObject;
}

const transition = (
  about: About,
  { type, at, nth, message }: TransitionFacts,
): readonly Transition[] => {
  const time = parseTime(at);
  if (time === undefined) return [];
  const { object, episode, subject, facts } = about;
  const { phrase } = transitionTypes[type];
  const more = message === undefined || message === '' ? '' : `: ${message}`;
  return [
    {
      id: `${episode}/${type}${nth === undefined ? '' : `/${nth}`}`,
      type,
      at: epochMs(time),
      subject,
      source: `/apis/drover.dev/v1alpha1/${object.kind.toLowerCase()}s/${object.name}`,
      object,
      episode,
      summary: `${subject}: ${phrase}${more}`,
      facts: { ...facts, ...defined({ message }) },
    },
  ];
};

const drainEnds: Readonly<Record<string, TransitionType>> = {
  Drained: 'node.drain.completed',
  NothingToDrain: 'node.drain.completed',
  InstanceGone: 'node.drain.completed',
  Forced: 'node.drain.forced',
  Failed: 'node.drain.failed',
  Cancelled: 'node.drain.cancelled',
};

/** Includes the last ended episode: the next one may begin before the end was sent. */
export const drainTransitions = ({
  metadata,
  spec,
  status,
}: NodeDisruption): readonly Transition[] => {
  if (status === undefined) return [];
  const { instanceId, nodeGroup } = spec;
  const subject = status.node?.name ?? spec.nodeName ?? instanceId ?? metadata.name;
  const about = (episode: number, more: JsonObject): About => ({
    object: { kind: 'NodeDisruption', name: metadata.name, uid: metadata.uid },
    episode: `${metadata.uid}/${episode}`,
    subject,
    facts: { node: subject, ...defined({ instanceId, nodeGroup }), ...more },
  });
  const { episode, previous, outcome, message, markedAt, forcingSince, endedAt } = status;
  const causes = spec.causes
    .filter(({ cancelledAt }) => cancelledAt === undefined)
    .map(({ kind }) => kind);
  const present = about(episode, { causes, ...defined({ deadline: status.deadline, outcome }) });
  const end = (ended: typeof outcome): TransitionType =>
    drainEnds[ended ?? ''] ?? 'node.drain.failed';
  const before =
    previous?.outcome === undefined
      ? []
      : transition(about(previous.episode, { outcome: previous.outcome }), {
          type: end(previous.outcome),
          at: previous.endedAt,
          message: previous.message,
        });
  return [
    ...before,
    ...transition(present, { type: 'node.drain.started', at: markedAt }),
    ...transition(present, { type: 'node.drain.forcing', at: forcingSince }),
    ...(outcome === undefined
      ? []
      : transition(present, { type: end(outcome), at: endedAt, message })),
  ];
};

const updateEnds: Readonly<Record<string, TransitionType>> = {
  Successful: 'nodegroup.update.succeeded',
  Failed: 'nodegroup.update.failed',
  Cancelled: 'nodegroup.update.cancelled',
};

export const updateTransitions = ({
  metadata,
  spec,
  status,
}: NodeGroupUpdate): readonly Transition[] => {
  if (status === undefined) return [];
  const { strategy, phase, errors = [] } = status;
  const about: About = {
    object: { kind: 'NodeGroupUpdate', name: metadata.name, uid: metadata.uid },
    episode: metadata.uid,
    subject: spec.nodeGroup,
    facts: {
      nodeGroup: spec.nodeGroup,
      update: metadata.name,
      ...defined({ strategy }),
      errors: errors.map(({ code, message }) => `${code}: ${message}`),
    },
  };
  const ended = updateEnds[status.status];
  // A change of the configuration alone takes effect at once and moves no node.
  const begun = phase === 'Applied' ? undefined : status.startedAt;
  const [first] = errors;
  const message = first === undefined ? status.message : `${first.code}: ${first.message}`;
  return [
    ...transition(about, { type: 'nodegroup.update.started', at: begun }),
    ...(ended === undefined || phase === 'Applied'
      ? []
      : transition(about, { type: ended, at: status.endedAt, message })),
  ];
};

const repairEnds: Readonly<Record<string, TransitionType>> = {
  Succeeded: 'node.repair.succeeded',
  Failed: 'node.repair.failed',
  Cancelled: 'node.repair.cancelled',
};

export const repairTransitions = ({
  metadata,
  spec,
  status,
}: NodeRepair): readonly Transition[] => {
  if (status === undefined) return [];
  const { nodeGroup, instanceId, condition, reason } = spec;
  const subject = spec.node?.name ?? instanceId;
  const about: About = {
    object: { kind: 'NodeRepair', name: metadata.name, uid: metadata.uid },
    episode: metadata.uid,
    subject,
    facts: { node: subject, nodeGroup, instanceId, condition, reason },
  };
  const { attempts = [], phase, endedAt, message } = status;
  const ended = repairEnds[phase];
  return [
    ...attempts.flatMap(({ startedAt, action }, nth) =>
      transition(about, {
        type: 'node.repair.started',
        at: startedAt,
        nth,
        message: `${action} for ${condition} ${reason}`,
      }),
    ),
    // A node that recovers by itself was never repaired.
    ...(ended === undefined || attempts.length === 0
      ? []
      : transition(about, { type: ended, at: endedAt, message })),
  ];
};

/** The event that `drover notify test` sends. */
export const testTransition = (now: EpochMs): Transition => {
  const episode = `drover-notify-test/${now}`;
  const subject = 'drover';
  return {
    id: episode,
    type: 'notification.test',
    at: now,
    subject,
    source: '/drover/notify/test',
    object: { kind: 'Test', name: subject, uid: episode },
    episode,
    summary: `${subject}: ${transitionTypes['notification.test'].phrase}; nothing has happened`,
    facts: {},
  };
};
