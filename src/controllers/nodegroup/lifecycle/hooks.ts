// Maintains the lifecycle hooks of a node group's Auto Scaling group. Reads them once a minute,
// installs missing ones, and remembers why terminations cannot be seen. Does not touch hooks of
// other names.

import type { LifecycleHook, ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { HealthIssue, NodeGroup } from '../../../api/nodegroup.ts';
import { decideUpkeep } from '../../../core/group-plan/index.ts';
import { hookLack } from '../../../core/nodegroup/index.ts';
import { CloudError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import type { HooksMemory } from '../pass-input.ts';
import { type LifecycleContext, lifecycleStep } from './steps.ts';

const lookEveryMs = 60_000;

type HooksInput = Omit<LifecycleContext, 'group'>;

/** Throws CloudError if a retry may help. */
export const keepHooks = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { scaling, input }: { readonly scaling: ScalingGroup; readonly input: HooksInput },
): Promise<void> => {
  const { cloud, clock } = deps;
  const { memory, signal } = input;
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
    for (const step of decideUpkeep(group, scaling.name, found)) {
      await lifecycleStep(deps, { ...input, group }, step);
      has.push(step.hook);
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
