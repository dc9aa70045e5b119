// Pods of a draining node that are stopping: the status of a drain names them seconds later, and
// rarely again. Pure.
import type { EpochMs } from '../../api/brand.ts';
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { Pod } from '../../api/kube.ts';
import { classifyPods, isTerminating, stoppingPod } from '../drain/index.ts';

/** As many as a status names. */
const maxNamed = 20;

const podsIn = (waits: readonly WaitingOn[]): Set<string> =>
  new Set(waits.flatMap((one) => ('pod' in one ? [one.pod] : [])));

/** The drain with what its pods show at `now`: a pod that is stopping waits for nothing else. */
export const withStopping = (
  disruption: NodeDisruption,
  pods: readonly Pod[],
  now: EpochMs,
): NodeDisruption => {
  const { status } = disruption;
  if (status?.phase !== 'Draining') return disruption;
  const stopping = classifyPods(pods)
    .evict.filter(({ pod }) => isTerminating(pod))
    .map(({ pod }) => stoppingPod(pod, now));
  const names = podsIn(stopping);
  const { waitingOn: written = [], waitingOnTotal = written.length } = status;
  const others = written.filter(
    (one) => one.kind !== 'termination' && !('pod' in one && names.has(one.pod)),
  );
  const waitingOn = [...others, ...stopping.slice(0, maxNamed)];
  // A pod that is stopping, and that the status does not name, may be one of those it only counts.
  const fresh = names.difference(podsIn(written)).size;
  const hidden = Math.max(0, waitingOnTotal - written.length);
  const total = others.length + stopping.length + Math.max(0, hidden - fresh);
  return { ...disruption, status: { ...status, waitingOn, waitingOnTotal: total } };
};
