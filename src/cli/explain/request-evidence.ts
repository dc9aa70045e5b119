// Finds unanswered certificate signing requests of kubelets, by the node that they name. Reads
// only.
import { resourceTypes } from '../../api/kube.ts';
import {
  type SigningRequest,
  type UnansweredRequest,
  unansweredRequests,
} from '../../core/explain/index.ts';
import { type KubeApi, KubeError } from '../../ports/index.ts';

/** By node name, oldest first; undefined: reading them is not allowed. */
export const gatherRequests = async (
  kube: KubeApi,
): Promise<ReadonlyMap<string, readonly UnansweredRequest[]> | undefined> => {
  try {
    const { items } = await kube.list<SigningRequest>(resourceTypes.certificatesigningrequests);
    return unansweredRequests(items);
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
};
