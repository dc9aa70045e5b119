// Whether ended containers restart, their exit code and their back-off. Pure; upstream: pkg/kubelet
// (Kubernetes 1.32: ShouldContainerBeRestarted, the crash loop back-off).
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import type { PodView } from '../actors/index.ts';
import { podAnnotations } from './pod-times.ts';

/** The kubelet's back-off: none before the first restart, then 10 s doubled up to 5 minutes. */
const firstBackoffSeconds = 10;
const maxBackoffSeconds = 300;

/** Exit code of a process killed by SIGTERM. */
export const sigtermExit = 143;

/**
 * Exit code of the containers after `restarts` restarts: one number, or one per restart, the last
 * of which applies to all later ones.
 */
export const exitCodeOf = (pod: PodView, restarts: number): number => {
  const codes = (pod.metadata.annotations?.[podAnnotations.exitCode] ?? '0').split(',').map(Number);
  const code = codes[Math.min(restarts, codes.length - 1)] ?? 0;
  return Number.isInteger(code) && code >= 0 && code <= 255 ? code : 0;
};

/** Undefined: the containers do not restart. */
export const restartMicros = (
  pod: PodView,
  ended: { readonly exitCode: number; readonly restarts: number },
): Micros | undefined => {
  const policy = pod.spec.restartPolicy ?? 'Always';
  if (policy === 'Never' || (policy === 'OnFailure' && ended.exitCode === 0)) return undefined;
  if (ended.restarts === 0) return 0;
  const seconds = firstBackoffSeconds * 2 ** (ended.restarts - 1);
  return Math.min(seconds, maxBackoffSeconds) * microsPerSecond;
};
