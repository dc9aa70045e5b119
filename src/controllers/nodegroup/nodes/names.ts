// Node names of an Auto Scaling group's instances, by instance id. Decides nothing.
import type { ScalingGroup } from '../../../api/cloud.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';

export const nodeNamesOf = (
  { nodes }: Pick<NodeGroupDeps, 'nodes'>,
  { instances }: ScalingGroup,
): ReadonlyMap<string, string> =>
  new Map(
    instances.flatMap(({ instanceId }): readonly (readonly [string, string])[] => {
      const node = nodeOfInstance(nodes, instanceId);
      return node === undefined ? [] : [[instanceId, node.metadata.name]];
    }),
  );
