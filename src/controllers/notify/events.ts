// The Kubernetes event of a notification that is given up, on the object that it is about.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Transition } from '../../core/notify/index.ts';

/**
 * The event's name is derived from the notification, so a repeat after a crash fails as existing.
 */
export const givenUpEvent = (
  { id, type, object }: Transition,
  { attempts, now }: { readonly attempts: number; readonly now: EpochMs },
): JsonObject => {
  const at = formatKubeTime(now);
  const which = id.replaceAll(/[^A-Za-z0-9]+/g, '.').toLowerCase();
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `notification.${which}`, namespace: 'default' },
    involvedObject: { apiVersion: 'drover.dev/v1alpha1', ...object },
    reason: 'NotificationGivenUp',
    message: `The receiver accepted the notification ${type} at none of ${attempts} attempts`,
    type: 'Warning',
    source: { component: 'drover' },
    reportingComponent: 'drover.dev/notify',
    reportingInstance: 'drover',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
};
