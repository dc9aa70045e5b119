// The plan of an update of group `ng` in a simulated life, made like `drover plan update` makes it.
import { epochMs } from '../../src/api/brand.ts';
import { ownGroup } from '../../src/cli/plan/group.ts';
import { type PlanRequest, readSnapshot, type Sources } from '../../src/cli/plan/snapshot.ts';
import { type CloudTimes, planUpdate, type UpdatePlan } from '../../src/core/update/plan/index.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { nodeManagerAgent, nodeManagerUser } from '../../world/index.ts';
import { microsPerMs } from '../../world/kernel/index.ts';
import type { GroupLife } from './nodegroup-world.ts';

export const planOfLife = async (
  life: GroupLife,
  asked: Partial<PlanRequest>,
  options: { readonly isEmbedded?: boolean; readonly times?: CloudTimes } = {},
): Promise<UpdatePlan> => {
  const { isEmbedded = false, times } = options;
  const { kube, cloud } = createInProcessPorts(life.world, {
    component: 'plan',
    identity: { user: nodeManagerUser, userAgent: nodeManagerAgent },
  });
  const provisioning = {
    describeCluster: async () => ({ version: '1.32' }),
    serviceQuota: async () => undefined,
    countedInstances: async () => [],
  } as unknown as Sources['provisioning'];
  const request: PlanRequest = {
    version: undefined,
    releaseVersion: undefined,
    templateVersion: undefined,
    strategy: undefined,
    force: false,
    ...asked,
  };
  const now = epochMs(life.world.kernel.now() / microsPerMs);
  const read = async () => {
    const group = await ownGroup(kube, 'ng', undefined);
    return readSnapshot({ kube, cloud, provisioning, now, isEmbedded }, group, request);
  };
  // Reads take world time.
  let isRead = false;
  const snapshot = read().finally(() => {
    isRead = true;
  });
  while (!isRead) await life.driver.advance(0.1);
  return planUpdate(await snapshot, times === undefined ? {} : { times });
};
