// The dependencies of the disruption controller. It reaches everything outside through these ports
// and shared informers; it reads no clock, no environment and no other controller.
import type { DurationMs } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Limits } from '../../core/drain/index.ts';
import type { Compat } from '../../core/termination/index.ts';
import type { CloudApi } from '../../ports/index.ts';
import type { Informer } from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';

export interface DisruptionDeps extends Omit<BaseDeps, 'cloud'> {
  /**
   * Absent where there is no cloud: hooks cannot be completed then, and instances count as running.
   */
  readonly cloud?: CloudApi;
  readonly disruptions: Informer<NodeDisruption>;
  readonly compat: Compat;
  /** For causes without a deadline of their own; default 15 minutes, as in EKS. */
  readonly drainTimeoutMs?: DurationMs;
  readonly limits?: Partial<Limits>;
  /**
   * Scales up Deployments that ask for it before their pods go; false: ends what an earlier process
   * left scaled up. Absent: neither.
   */
  readonly surge?: boolean;
  /** The term of this leader, written to each record before anything is done about it. */
  readonly epoch?: number;
}
