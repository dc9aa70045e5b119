// Observes a node group that is released (policy Retain). Writes nothing.
import type { ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  type ReleaseObservation,
  releaseWaits,
  usesDerived,
} from '../../../core/group-plan/index.ts';
import { readDerivedParts } from '../../../ports/index.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';

/** Throws CloudError. */
export const observeRelease = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<ReleaseObservation> => {
  const facts = {
    group,
    scaling,
    disruptions: deps.disruptions.list(),
    repairs: deps.repairs.list(),
    nodes: scaling.instances.flatMap(
      ({ instanceId }) => nodeOfInstance(deps.nodes, instanceId) ?? [],
    ),
  };
  if (releaseWaits(facts) !== undefined) return facts;
  const hooks = await deps.cloud.describeHooks(scaling.name, { signal });
  const derived = usesDerived(group, scaling)
    ? undefined
    : await readDerivedParts(deps.cloud, group, { signal });
  return { ...facts, hooks, ...defined({ derived }) };
};
