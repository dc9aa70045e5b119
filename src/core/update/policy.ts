// The policies of one update, resolved: what the update itself asks for, then its group, then EKS' own
// numbers. EKS' strategies have EKS' alone. Pure.
import { defaultDrainTimeoutSeconds } from '../../api/causes.ts';
import type { NodeGroupSpec } from '../../api/nodegroup.ts';
import type { NodeGroupUpdateSpec, UpdateStrategy } from '../../api/nodegroup-update.ts';
import type { DrainTimeoutPolicy, ShortagePolicy } from '../../api/update-policy.ts';

/** EKS waits this long between empty and terminate (EKS user guide, "managed node update behavior"). */
const eksCooldownSeconds = 60;

/** Auto Scaling itself tries again after seconds; capacity comes back after minutes. */
const defaultShortageWaitSeconds = 300;

export interface Policies {
  readonly onTimeout: DrainTimeoutPolicy;
  readonly drainTimeoutMs: number;
  /** From the timeout to the first deletion, with Force. */
  readonly forceAfterMs: number;
  readonly cooldownSeconds: number;
  readonly maxQuarantined: number;
  readonly onShortage: ShortagePolicy;
  readonly shortageWaitMs: number;
  /** New nodes that fail until the update goes back by itself; undefined: it does not. */
  readonly failedNewNodes?: number;
}

export const policiesOf = (
  { updateConfig, drain: ofGroup }: Pick<NodeGroupSpec, 'updateConfig' | 'drain'>,
  update: Pick<NodeGroupUpdateSpec, 'policies' | 'force' | 'action'>,
  strategy: UpdateStrategy | undefined,
): Policies => {
  const own = strategy === 'SURGE' ? { ...updateConfig, ...update.policies } : {};
  const drain = strategy === 'SURGE' ? { ...updateConfig?.drain, ...update.policies?.drain } : {};
  const seconds = drain.timeoutSeconds ?? ofGroup?.timeoutSeconds ?? defaultDrainTimeoutSeconds;
  const onTimeout = update.force === true ? 'Force' : (drain.onTimeout ?? 'Fail');
  // The way back has none of its own: what went wrong once is left to people.
  const rollsBack = own.rollback?.auto === true && update.action !== 'Rollback';
  return {
    onTimeout,
    drainTimeoutMs: seconds * 1000,
    forceAfterMs: update.force === true ? 0 : (drain.forceAfterSeconds ?? 0) * 1000,
    cooldownSeconds: drain.cooldownSeconds ?? eksCooldownSeconds,
    maxQuarantined: own.maxQuarantined ?? 1,
    onShortage: own.capacity?.onShortage ?? 'Elsewhere',
    shortageWaitMs: (own.capacity?.waitSeconds ?? defaultShortageWaitSeconds) * 1000,
    ...(rollsBack ? { failedNewNodes: own.rollback?.failedNewNodes ?? 1 } : {}),
  };
};
