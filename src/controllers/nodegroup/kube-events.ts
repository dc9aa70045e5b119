// Kubernetes events of a node group, as shown by `kubectl describe ng`: which changes of its status
// become events. An event that cannot be written delays nothing.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { HealthIssue, NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import { KubeError } from '../../ports/index.ts';
import type { NodeGroupDeps } from './deps.ts';

interface EventText {
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  readonly message: string;
}

/** The API server refuses longer ones (core/v1 Event, 1024 characters). */
const maxMessage = 1000;
/** Events of cluster-scoped objects are in this namespace; kubectl searches all. */
const namespace = 'default';

const normal = (reason: string, message: string): EventText => ({
  reason,
  type: 'Normal',
  message,
});

const readyText = ({ ready, desired }: NodeGroupStatus): string =>
  `${ready} of ${desired} nodes are Ready`;

const stateEvent = (
  before: NodeGroupStatus | undefined,
  after: NodeGroupStatus,
): EventText | undefined => {
  if (before?.state === after.state) return undefined;
  const asg = after.autoScalingGroupName ?? '';
  switch (after.state) {
    case 'CREATING':
      return normal('Creating', `making Auto Scaling group ${asg} with ${after.desired} instances`);
    case 'ACTIVE': {
      if (before !== undefined) return normal('Active', readyText(after));
      return normal('Adopted', `manages Auto Scaling group ${asg}: ${readyText(after)}`);
    }
    case 'UPDATING':
      return normal('Updating', 'an update is in progress: kubectl get ngu');
    case 'DELETING': {
      const releasing = after.conditions?.find(({ reason }) => reason === 'Releasing');
      if (releasing !== undefined) return normal('Releasing', releasing.message ?? '');
      return normal(
        'Deleting',
        `${after.instances} instances are drained, then the group is deleted`,
      );
    }
    // No event for the state: the group's health issues become events.
    case 'DEGRADED':
    case 'CREATE_FAILED':
    case 'DELETE_FAILED':
      return undefined;
  }
};

const sizeEvent = (before: NodeGroupStatus, after: NodeGroupStatus): EventText | undefined => {
  const { scaleIn, desired } = after;
  if (scaleIn !== undefined && scaleIn.id !== before.scaleIn?.id) {
    const message = `${desired} nodes on their way to ${scaleIn.target}: drained first`;
    return normal('ScalingIn', message);
  }
  if (before.desired === desired) return undefined;
  return normal('DesiredChanged', `desired capacity from ${before.desired} to ${desired}`);
};

/** A late call of an earlier leader set a size that is not the requested one. */
const lateCallEvent = (before: NodeGroupStatus, after: NodeGroupStatus): EventText | undefined => {
  const arrived = after.sizeCalls?.find(
    (call) =>
      call.instead !== undefined &&
      !before.sizeCalls?.some((one) => one.instead !== undefined && one.epoch === call.epoch),
  );
  if (arrived?.instead === undefined) return undefined;
  const sizes = Object.entries(arrived.instead).map(
    ([field, was]) =>
      `${field} ${arrived[field as keyof typeof arrived.instead]} instead of ${was}`,
  );
  const message =
    `a process that led before and stood still has set ${sizes.join(', ')}: taken back; to ` +
    'keep it, set it in the NodeGroup';
  return { reason: 'LateSizeCall', type: 'Warning', message };
};

const isNew = (issue: HealthIssue, before: NodeGroupStatus | undefined): boolean =>
  !(before?.health ?? []).some(({ code }) => code === issue.code);

/** Another failed update is reported even if its code is not new. */
const failedIssues = (
  before: NodeGroupStatus | undefined,
  { failedUpdate, health = [] }: NodeGroupStatus,
): readonly HealthIssue[] => {
  if (failedUpdate === undefined || failedUpdate === before?.failedUpdate) return [];
  return health.filter(({ message }) => message.startsWith(`Update ${failedUpdate} failed`));
};

/** The events for this change of the status; mostly none. */
export const eventTextsOf = (
  before: NodeGroupStatus | undefined,
  after: NodeGroupStatus,
): readonly EventText[] => {
  const { failure } = after;
  const updates = failedIssues(before, after);
  const issues = (after.health ?? []).filter(
    (issue) => isNew(issue, before) || updates.includes(issue),
  );
  // The failure of a scale-in that was given up; the failure of a delete is an issue as well.
  const failed =
    failure !== undefined &&
    before?.failure === undefined &&
    !issues.some(({ code }) => code === failure.code);
  const warnings = [...issues, ...(failed ? [failure] : [])].map(
    ({ code, message }): EventText => ({ reason: code, type: 'Warning', message }),
  );
  const size = before === undefined ? undefined : sizeEvent(before, after);
  const late = before === undefined ? undefined : lateCallEvent(before, after);
  const changes = [stateEvent(before, after), size, late].filter((text) => text !== undefined);
  return [...changes, ...warnings];
};

/** A node group, or one of its updates. */
type Subject = Pick<NodeGroup | NodeGroupUpdate, 'apiVersion' | 'kind' | 'metadata'>;

const eventOf = (subject: Subject, text: EventText, now: EpochMs): JsonObject => {
  const { name, uid } = subject.metadata;
  const at = formatKubeTime(now);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${now.toString(16)}.${text.reason.toLowerCase()}`, namespace },
    involvedObject: { apiVersion: subject.apiVersion, kind: subject.kind, name, uid },
    reason: text.reason,
    message: text.message.slice(0, maxMessage),
    type: text.type,
    source: { component: 'drover' },
    reportingComponent: 'drover.dev/nodegroup',
    reportingInstance: 'drover',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
};

/** Writes one event; a failure is logged and delays nothing. */
export const tell = async (
  { kube, clock, log }: Pick<NodeGroupDeps, 'kube' | 'clock' | 'log'>,
  subject: Subject,
  text: EventText,
  signal: AbortSignal,
): Promise<void> => {
  try {
    const event = eventOf(subject, text, clock.now());
    await kube.create(resourceTypes.events, event, { namespace, signal });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === 'AlreadyExists') return;
    const facts = { subject: subject.metadata.name, reason: text.reason, error: error.message };
    log.warn('event not written', facts);
  }
};

/**
 * Events about what blocks the removal of an update's surplus, on both the group and the update.
 */
export const reportSurplus = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  update: NodeGroupUpdate,
  message: string,
  signal: AbortSignal,
): Promise<void> => {
  const text = { reason: 'SurplusHeld', type: 'Warning', message } as const;
  await tell(deps, group, text, signal);
  await tell(deps, update, text, signal);
};

/** Called after the status was written; an event that fails is not repeated. */
export const reportStatus = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  after: NodeGroupStatus,
  signal: AbortSignal,
): Promise<void> => {
  for (const text of eventTextsOf(group.status, after)) await tell(deps, group, text, signal);
};
