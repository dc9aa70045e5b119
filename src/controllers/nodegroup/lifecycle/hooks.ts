// Maintains the lifecycle hooks of a node group's Auto Scaling group. Reads them once a minute,
// installs missing ones, and remembers why terminations cannot be seen. Does not touch hooks of
// other names.

import type { EpochMs } from '../../../api/brand.ts';
import type { LifecycleHook, ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { HealthIssue, NodeGroup } from '../../../api/nodegroup.ts';
import { type HookLack, hookLack, missingHooks } from '../../../core/nodegroup/index.ts';
import { CloudError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

const lookEveryMs = 60_000;

export interface HooksMemory {
  hooks?: { readonly lookedAt: EpochMs; readonly generation: number; readonly lack?: HookLack };
}

/** Throws CloudError if a retry may help. */
export const keepHooks = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { scaling, memory }: { readonly scaling: ScalingGroup; readonly memory: HooksMemory },
  signal: AbortSignal,
): Promise<void> => {
  const { cloud, clock, journal } = deps;
  const lookedAt = clock.now();
  const { generation = 0 } = group.metadata;
  const known = memory.hooks;
  const isRecent = known !== undefined && lookedAt < known.lookedAt + lookEveryMs;
  if (isRecent && known.generation === generation) return;
  const has: Pick<LifecycleHook, 'name' | 'transition'>[] = [];
  let refusal: { readonly isDenied: boolean; readonly message: string } | undefined;
  try {
    const found = await cloud.describeHooks(scaling.name, { signal });
    has.push(...found);
    for (const hook of missingHooks(group, found)) {
      await cloud.installHook(scaling.name, hook, { signal });
      has.push(hook);
      const facts = { hook: hook.name, autoScalingGroup: scaling.name };
      journal.record({ type: 'nodegroup:hook:installed', subject: group.metadata.name, facts });
    }
  } catch (error) {
    if (!(error instanceof CloudError) || error.retry !== 'never') throw error;
    refusal = { isDenied: error.code === 'AccessDenied', message: error.message };
  }
  const lack = hookLack(group, scaling.name, {
    has,
    ...defined({ refusal }),
  });
  memory.hooks = { lookedAt, generation, ...defined({ lack }) };
};

/** A refusal by AWS is also a health issue; a choice of the NodeGroup is a condition only. */
export const hookIssues = (
  { hooks }: HooksMemory,
  autoScalingGroup: string,
): readonly HealthIssue[] => {
  const { lack } = hooks ?? {};
  if (lack === undefined || lack.reason === 'HooksLeft') return [];
  const code =
    lack.reason === 'AccessDenied' ? 'AccessDenied' : 'AutoScalingGroupInvalidConfiguration';
  return [{ code, message: lack.message, resourceIds: [autoScalingGroup] }];
};
