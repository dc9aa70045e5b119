// How long a pod may be active on its node (spec.activeDeadlineSeconds), and how it ends then.
// Pure; upstream: pkg/kubelet/active_deadline.go (Kubernetes 1.36).
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import { microsOf, type PodView } from '../actors/index.ts';

/** Undefined without a deadline; zero or less once it has passed. */
export const untilDeadline = (pod: PodView, now: Micros): Micros | undefined => {
  const seconds = pod.spec.activeDeadlineSeconds;
  if (seconds === undefined) return undefined;
  return (microsOf(pod.status?.startTime) ?? now) + seconds * microsPerSecond - now;
};

/** Reason and message in the pod's status and event. */
export const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/** Exit code of a process killed by SIGKILL. */
const sigkillExit = 137;

/** Fields of the pod's row that change at the deadline. */
export const endedAtDeadline = {
  stage: 'finished',
  ready: false,
  exitCode: sigkillExit,
  failure: deadlineExceeded,
} as const;
