// Pods of a draining node that are stopping: the status of a drain names them seconds later, and
// rarely again. Pure.
import type { EpochMs } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Pod } from '../../api/kube.ts';
import { classifyPods, isTerminating, stoppingPod } from '../drain/index.ts';

/** As many as a status names. */
const maxNamed = 20;

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
  const names = new Set(stopping.flatMap((one) => ('pod' in one ? [one.pod] : [])));
  const { waitingOn: written = [], waitingOnTotal = written.length } = status;
  const others = written.filter(
    (one) => one.kind !== 'termination' && !('pod' in one && names.has(one.pod)),
  );
  const hidden = Math.max(0, waitingOnTotal - written.length);
  const waitingOn = [...others, ...stopping.slice(0, maxNamed)];
  const total = Math.max(others.length + stopping.length, waitingOn.length + hidden);
  return { ...disruption, status: { ...status, waitingOn, waitingOnTotal: total } };
};
