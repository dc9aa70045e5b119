// Reports about notices that the cloud does not confirm: a Kubernetes event on the node and a
// journal entry. Decides nothing.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import { isConfirmed, isRefuted } from '../../api/confirmation.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Node } from '../../api/kube.ts';
import { fnv1a } from '../../core/fnv.ts';
import type { Journal } from '../../ports/index.ts';

/** The API server refuses longer messages (metav1, 1024 characters). */
const maxMessage = 1000;

/**
 * The event of a cause without effect. Its name is derived from the cause, so it is written once.
 */
export const unconfirmedEvent = (
  name: string,
  told: { readonly cause: DisruptionCause; readonly node: Node; readonly now: EpochMs },
): JsonObject => {
  const { cause, node, now } = told;
  const { kind, reason = '', confirmation } = cause;
  const why = confirmation?.reason ?? 'the cloud has not answered';
  const verdict = isRefuted(cause) ? 'is not true' : 'is not confirmed yet';
  const at = formatKubeTime(now);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${name}.unconfirmed.${fnv1a(`${cause.id} ${verdict}`).toString(16)}`,
      namespace: 'default',
    },
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Node',
      name: node.metadata.name,
      uid: node.metadata.uid,
    },
    reason: 'NoticeUnconfirmed',
    message: `${kind} (${reason}) ${verdict}: ${why}. Nothing is drained for it`.slice(
      0,
      maxMessage,
    ),
    type: 'Warning',
    source: { component: 'drover' },
    reportingComponent: 'drover.dev/confirmation',
    reportingInstance: 'drover',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
};

/** One entry for each answer that changes whether a cause counts. */
export const journalAnswer = (
  journal: Journal,
  subject: string,
  change: { readonly before: DisruptionCause; readonly after: DisruptionCause },
): void => {
  const { before, after } = change;
  if (before.confirmation?.state === after.confirmation?.state) return;
  const facts = { cause: after.id, kind: after.kind, why: after.confirmation?.reason ?? '' };
  const isLost = isConfirmed(before) && isRefuted(after);
  const state = after.confirmation?.state.toLowerCase() ?? 'pending';
  journal.record({ type: isLost ? 'notice:reason-lost' : `notice:${state}`, subject, facts });
};
