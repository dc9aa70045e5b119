// The decision of one phase, before heartbeats and the common parts of the plan are added.
import type { EpochMs } from '../../api/brand.ts';
import type { WaitingOn } from '../../api/disruption.ts';
import type { Step } from '../../api/plan.ts';

export interface Decision {
  readonly steps: readonly Step[];
  readonly waitingOn: readonly WaitingOn[];
  /** Times at which to decide again without an event. */
  readonly wakeAt: readonly (EpochMs | undefined)[];
}

export const decision = (more: Partial<Decision>): Decision => ({
  steps: [],
  waitingOn: [],
  wakeAt: [],
  ...more,
});
