// How long a pod may be active on its node (spec.activeDeadlineSeconds), and how it ends then.
// Pure; upstream: pkg/kubelet/active_deadline.go (Kubernetes 1.36).
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import { microsOf, type PodView } from '../actors/index.ts';

/** Undefined: there is no deadline. Zero or less: it has passed. */
export const untilDeadline = (pod: PodView, now: Micros): Micros | undefined => {
  const seconds = pod.spec.activeDeadlineSeconds;
  if (seconds === undefined) return undefined;
  return (microsOf(pod.status?.startTime) ?? now) + seconds * microsPerSecond - now;
};

/** As the pod's status and an event report it. */
export const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/** What a process ends with that SIGKILL killed. */
const sigkillExit = 137;

/** The fields of the pod's row that change then. */
export const endedAtDeadline = {
  stage: 'finished',
  ready: false,
  exitCode: sigkillExit,
  failure: deadlineExceeded,
} as const;
