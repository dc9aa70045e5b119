// What a phase decided, before heartbeats and the plan's frame are put around it.
import type { EpochMs } from '../../api/brand.ts';
import type { WaitingOn } from '../../api/disruption.ts';
import type { Step } from '../../api/plan.ts';

export interface Decision {
  readonly steps: readonly Step[];
  readonly waitingOn: readonly WaitingOn[];
  /** Times at which something may have to be done unasked. */
  readonly wakeAt: readonly (EpochMs | undefined)[];
}

export const decision = (more: Partial<Decision>): Decision => ({
  steps: [],
  waitingOn: [],
  wakeAt: [],
  ...more,
});
