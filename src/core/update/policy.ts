// The policies of one update, resolved: the update's, then the group's, then EKS' values, and GKE's
// for blue/green. EKS' strategies use EKS' values only. Pure.

import type { NodeGroupSpec } from '../../api/nodegroup.ts';
import {
  isOwnStrategy,
  type NodeGroupUpdateSpec,
  type UpdateStrategy,
} from '../../api/nodegroup-update.ts';
import type {
  DrainTimeoutPolicy,
  ShortagePolicy,
  UpdateBlueGreen,
} from '../../api/update-policy.ts';
import { defaultDrainTimeoutSeconds } from '../termination/index.ts';

/**
 * EKS' wait between an empty node and its termination (EKS user guide, "managed node update
 * behavior").
 */
const eksCooldownSeconds = 60;

/** Auto Scaling retries after seconds; capacity returns after minutes. */
const defaultShortageWaitSeconds = 300;

/** GKE's default node pool soak of a blue/green upgrade. */
const defaultSoakSeconds = 3600;

export interface Policies {
  readonly onTimeout: DrainTimeoutPolicy;
  readonly drainTimeoutMs: number;
  /** With Force: from the timeout to the first deletion. */
  readonly forceAfterMs: number;
  readonly cooldownSeconds: number;
  readonly maxQuarantined: number;
  readonly onShortage: ShortagePolicy;
  readonly shortageWaitMs: number;
  /** Blue/green only: how long all old nodes, and those of each batch, are kept empty. */
  readonly soakMs?: number;
  readonly batchSoakMs?: number;
  /** Number of failed new nodes that triggers a rollback; undefined: no automatic rollback. */
  readonly failedNewNodes?: number;
}

const soakOf = (
  updateConfig: NodeGroupSpec['updateConfig'],
  { action, policies }: Pick<NodeGroupUpdateSpec, 'policies' | 'action'>,
): Pick<Policies, 'soakMs' | 'batchSoakMs'> => {
  // A rollback has no soak: there is nothing to observe and nothing to roll back to.
  if (action === 'Rollback') return { soakMs: 0, batchSoakMs: 0 };
  const asked: UpdateBlueGreen = { ...updateConfig?.blueGreen, ...policies?.blueGreen };
  const { soakSeconds = defaultSoakSeconds, batchSoakSeconds = 0 } = asked;
  return { soakMs: soakSeconds * 1000, batchSoakMs: batchSoakSeconds * 1000 };
};

export const policiesOf = (
  { updateConfig, drain: ofGroup }: Pick<NodeGroupSpec, 'updateConfig' | 'drain'>,
  update: Pick<NodeGroupUpdateSpec, 'policies' | 'force' | 'action'>,
  strategy: UpdateStrategy | undefined,
): Policies => {
  const isOwn = isOwnStrategy(strategy);
  const own = isOwn ? { ...updateConfig, ...update.policies } : {};
  const drain = isOwn ? { ...updateConfig?.drain, ...update.policies?.drain } : {};
  const seconds = drain.timeoutSeconds ?? ofGroup?.timeoutSeconds ?? defaultDrainTimeoutSeconds;
  const asked = drain.onTimeout ?? 'Fail';
  // The API server refuses this at the start, but the group's policy can change while the update
  // runs.
  const isRefused = asked === 'Quarantine' && strategy === 'BLUE_GREEN';
  const able = isRefused ? 'Fail' : asked;
  const onTimeout = update.force === true ? 'Force' : able;
  // A rollback is not rolled back automatically; a second failure is left to an operator.
  const rollsBack = own.rollback?.auto === true && update.action !== 'Rollback';
  return {
    onTimeout,
    drainTimeoutMs: seconds * 1000,
    forceAfterMs: update.force === true ? 0 : (drain.forceAfterSeconds ?? 0) * 1000,
    cooldownSeconds: drain.cooldownSeconds ?? eksCooldownSeconds,
    maxQuarantined: own.maxQuarantined ?? 1,
    onShortage: own.capacity?.onShortage ?? 'Elsewhere',
    shortageWaitMs: (own.capacity?.waitSeconds ?? defaultShortageWaitSeconds) * 1000,
    ...(strategy === 'BLUE_GREEN' ? soakOf(updateConfig, update) : {}),
    ...(rollsBack ? { failedNewNodes: own.rollback?.failedNewNodes ?? 1 } : {}),
  };
};

/**
 * Why an update by this strategy cannot have the policies of the update or group; undefined: it
 * can. The API server refuses the same in a group, but an update may have another strategy than its
 * group.
 */
export const policyComplaint = (
  { updateConfig }: Pick<NodeGroupSpec, 'updateConfig'>,
  { policies }: Pick<NodeGroupUpdateSpec, 'policies'>,
  strategy: UpdateStrategy | undefined,
): string | undefined => {
  if (policies !== undefined && !isOwnStrategy(strategy)) {
    return (
      'Policies of an update are of strategy SURGE or BLUE_GREEN, and this one is ' +
      `${strategy}. Leave them out, or set spec.strategy.`
    );
  }
  if (policies?.blueGreen !== undefined && strategy !== 'BLUE_GREEN') {
    return (
      `policies.blueGreen is of strategy BLUE_GREEN, and this update is ${strategy}. Leave it ` +
      'out, or set spec.strategy: BLUE_GREEN.'
    );
  }
  if (strategy !== 'BLUE_GREEN') return undefined;
  const { onTimeout } = { ...updateConfig?.drain, ...policies?.drain };
  if (onTimeout === 'Quarantine' || policies?.maxQuarantined !== undefined) {
    return (
      'drain.onTimeout: Quarantine makes no sense with strategy BLUE_GREEN, which ends with ' +
      'no old node left or with all of them. Set another for this update ' +
      '(policies.drain.onTimeout), or strategy SURGE.'
    );
  }
  if (policies?.capacity === undefined) return undefined;
  return (
    'policies.capacity is of strategy SURGE: BLUE_GREEN has all its new nodes before the ' +
    'first old one goes, or ends with nothing touched. Leave it out, or update with strategy ' +
    'SURGE (drover update nodegroup --strategy SURGE --on-shortage Minimal), which needs room ' +
    'for few new nodes, or for none.'
  );
};
