// Reads NodeGroups outside the informer: completed with AWS' facts about adopted groups.
import { completeNodeGroup } from '../api/adopted.ts';
import { resourceTypes } from '../api/kube.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import type { KubeApi } from './kube.ts';

type Kube = Pick<KubeApi, 'get' | 'list'>;
interface Options {
  readonly signal?: AbortSignal;
}

/** Undefined: there is none of that name. Throws KubeError. */
export const readNodeGroup = async (
  kube: Kube,
  name: string,
  options?: Options,
): Promise<NodeGroup | undefined> => {
  const found = await kube.get<NodeGroup>(resourceTypes.nodegroups, { name }, options);
  return found.kind === 'gone' ? undefined : completeNodeGroup(found.object);
};

/** Throws KubeError. */
export const listNodeGroups = async (
  kube: Kube,
  options?: Options,
): Promise<readonly NodeGroup[]> => {
  const { items } = await kube.list<NodeGroup>(resourceTypes.nodegroups, options);
  return items.map((group) => completeNodeGroup(group));
};
