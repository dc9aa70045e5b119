// Which causes the cloud has to confirm before a pod is evicted, and the facts for that. A notice
// is only a hint. core/termination decides from these facts; this file calls nothing.
import type { CauseKind, DisruptionCause } from './disruption.ts';

/** Causes from operators and from Drover itself need no confirmation; causes from notices do. */
export const needsConfirmation: Readonly<Record<CauseKind, boolean>> = {
  LifecycleHook: true,
  SpotInterruption: true,
  RebalanceRecommendation: true,
  Maintenance: true,
  StateChange: true,
  ScaleIn: false,
  Update: false,
  Repair: false,
  Manual: false,
};

/** True if the cloud has confirmed the cause, or if its kind needs no confirmation. */
export const isConfirmed = ({ kind, confirmation }: DisruptionCause): boolean =>
  !needsConfirmation[kind] || confirmation?.state === 'Confirmed';

export const isRefuted = ({ confirmation }: DisruptionCause): boolean =>
  confirmation?.state === 'Refuted';

/** The cloud has neither confirmed nor refuted the cause. */
export const isPending = (cause: DisruptionCause): boolean =>
  cause.cancelledAt === undefined && !isConfirmed(cause) && !isRefuted(cause);

/** Neither withdrawn nor unconfirmed: it may take a node out of service. */
export const isInForce = (cause: DisruptionCause): boolean =>
  cause.cancelledAt === undefined && isConfirmed(cause);

/** The cloud does not know the instance: it is in no group of ours, or EC2 has forgotten it. */
export const unknownToCloud = 'none';

/** An entry of DescribeInstanceStatus. */
export interface ScheduledFact {
  readonly code: string;
  /** RFC 3339; absent where EC2 names no time. */
  readonly notBefore?: string;
  readonly isOver: boolean;
}

/**
 * What the cloud reports about one instance. An absent member was not requested, or not answered.
 */
export interface InstanceFacts {
  /** EC2 Auto Scaling's state, such as InService or Terminating:Wait, or `unknownToCloud`. */
  readonly lifecycleState?: string;
  /** EC2's state, such as running or shutting-down, or `unknownToCloud`. */
  readonly state?: string;
  readonly market?: 'spot' | 'on-demand';
  readonly scheduled?: readonly ScheduledFact[];
  /** Why the cloud did not answer. */
  readonly failure?: string;
}
