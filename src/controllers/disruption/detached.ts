// The termination of an instance that has left its Auto Scaling group. EC2 would terminate any
// instance of the account by this call, so it needs a NodeRepair whose status, which only
// controllers write, has that instance in quarantine.
import type { NodeDisruption } from '../../api/disruption.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import { type CloudApi, CloudError, type KubeApi } from '../../ports/index.ts';

/** Reads the NodeRepairs just before the call. Throws CloudError, KubeError. */
export const terminateDetached = async (
  { kube, cloud }: { readonly kube: KubeApi; readonly cloud: CloudApi },
  { spec: { nodeGroup } }: NodeDisruption,
  { instanceId, signal }: { readonly instanceId: string; readonly signal: AbortSignal },
): Promise<void> => {
  const { items } = await kube.list<NodeRepair>(resourceTypes.noderepairs, { signal });
  const isQuarantined = items.some(
    ({ spec, status }) =>
      spec.instanceId === instanceId &&
      spec.nodeGroup === nodeGroup &&
      status?.phase === 'Quarantined',
  );
  if (!isQuarantined) {
    const message =
      `not terminated: no NodeRepair of node group ${nodeGroup ?? '?'} has instance ` +
      `${instanceId} in quarantine`;
    throw new CloudError('Unsupported', message);
  }
  await cloud.terminateInstance(instanceId, { signal });
};
