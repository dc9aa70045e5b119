// EC2's own list of scheduled events, the second source beside AWS Health's messages. Decides which
// events are not recorded yet, and which recorded ones are over. Pure; drains nothing.
import { type EpochMs, parseTime } from '../../../api/brand.ts';
import type { ScheduledEvent } from '../../../api/cloud.ts';
import { isRefuted } from '../../../api/confirmation.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import type { Node } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { DisruptionSubject } from '../cause-writes.ts';
import { scheduledEventCause, scheduledEventCauseId } from './causes.ts';

export interface ScheduledInstance {
  readonly event: ScheduledEvent;
  readonly group: NodeGroup;
  readonly node: Node | undefined;
  readonly disruption: NodeDisruption | undefined;
}

export type ScheduledAction =
  | {
      readonly kind: 'record';
      readonly subject: DisruptionSubject;
      readonly cause: DisruptionCause;
    }
  | { readonly kind: 'withdraw'; readonly subject: DisruptionSubject; readonly causeId: string };

export const decideScheduled = (
  scheduled: readonly ScheduledInstance[],
  now: EpochMs,
): readonly ScheduledAction[] => {
  const recorded = new Set<string>();
  return scheduled.toSorted(bySoonest).flatMap((each): readonly ScheduledAction[] => {
    const subject = subjectOf(each);
    const causes = maintenanceOf(each.disruption);
    const { event, group } = each;
    if (event.isOver) {
      // The closing message may be lost, like the first one.
      return causes
        .filter((cause) => cause.cancelledAt === undefined && isOf(cause, event))
        .map((cause) => ({ kind: 'withdraw', subject, causeId: cause.id }));
    }
    const cause = scheduledEventCause({ event, group, now });
    // AWS may move the start under the same id. A withdrawn cause stays withdrawn; a refuted one
    // does not count as recorded.
    const isTold = causes.some((known) =>
      known.cancelledAt === undefined
        ? !isRefuted(known) && endsInTime(known, cause)
        : known.id === cause.id,
    );
    // One event at a time per instance: handling the soonest is in time for the later ones.
    if (isTold || recorded.has(event.instanceId)) return [];
    recorded.add(event.instanceId);
    return [{ kind: 'record', subject, cause }];
  });
};

const startOf = ({ event }: ScheduledInstance): number => parseTime(event.notBefore) ?? Infinity;
const bySoonest = (a: ScheduledInstance, b: ScheduledInstance): number =>
  startOf(a) === startOf(b) ? 0 : startOf(a) - startOf(b);

const subjectOf = ({ event, group, node }: ScheduledInstance): DisruptionSubject => ({
  name: event.instanceId,
  instanceId: event.instanceId,
  nodeGroup: group.metadata.name,
  ...(node === undefined ? {} : { nodeName: node.metadata.name }),
});

const maintenanceOf = (disruption: NodeDisruption | undefined): readonly DisruptionCause[] =>
  (disruption?.spec.causes ?? []).filter(({ kind }) => kind === 'Maintenance');

/** AWS Health and EC2 share no identifier for an event; its instance and its start identify it. */
const isOf = (cause: DisruptionCause, event: ScheduledEvent): boolean =>
  cause.id === scheduledEventCauseId(event) ||
  (event.notBefore !== undefined && parseTime(cause.deadline) === parseTime(event.notBefore));

/** Whether the recorded cause replaces the instance before `event` requires it. */
const endsInTime = (known: DisruptionCause, event: DisruptionCause): boolean => {
  const [knownAt, eventAt] = [parseTime(known.deadline), parseTime(event.deadline)];
  return eventAt === undefined || (knownAt !== undefined && knownAt <= eventAt);
};
