// Finds nodes and groups of a world by their usual names. Reads only.

import type { World } from '../../world/index.ts';
import { instanceIdOfProviderId } from '../api/brand.ts';
import { isObject } from '../api/json.ts';
import { nodeGroupLabels } from '../api/nodegroup.ts';

const nodes = { group: '', resource: 'nodes' } as const;

export const instanceOfNode = (world: World, name: string): string | undefined => {
  const node = world.kube.read(nodes, { name });
  const spec = node?.spec;
  return isObject(spec) && typeof spec.providerID === 'string'
    ? instanceIdOfProviderId(spec.providerID)
    : undefined;
};

export interface GroupNames {
  /** The node group's name, a label of its nodes. */
  readonly nodeGroup: string;
  /** Undefined while the Auto Scaling group does not exist. */
  readonly autoScaling: string | undefined;
}

/** A group by either of its names; undefined when it does not exist. */
export const groupNamed = (world: World, name: string): GroupNames | undefined => {
  const groups = world.aws.groups();
  const found = groups.find((group) => group.nodeGroup === name || group.autoScaling === name);
  if (found !== undefined) {
    return { nodeGroup: found.nodeGroup ?? name, autoScaling: found.autoScaling };
  }
  const object = world.kube.read({ group: 'drover.dev', resource: 'nodegroups' }, { name });
  if (object !== undefined) return { nodeGroup: name, autoScaling: undefined };
  for (const node of world.kube.readAll(nodes)) {
    const labels = node.metadata.labels ?? {};
    if (nodeGroupLabels.some((label) => labels[label] === name)) {
      return { nodeGroup: name, autoScaling: undefined };
    }
  }
  return undefined;
};
