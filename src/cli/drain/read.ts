// The live read for a drain's preview: node, pods, budgets, DaemonSets, recorded disruptions. Reads
// only; data that a user may not read is left out where the preview can do without it.
import type { DisruptionCause } from '../../api/disruption.ts';
import {
  type KubeObject,
  type Node,
  type Pod,
  type PodDisruptionBudget,
  resourceTypes,
} from '../../api/kube.ts';
import { disruptionNameOf } from '../../core/overview/index.ts';
import { type KubeApi, KubeError } from '../../ports/index.ts';
import type { NodeRead } from './preview.ts';
import { readDisruption } from './record.ts';

export const podsOn = async (
  kube: KubeApi,
  node: string,
  options: { readonly resourceVersion?: string } = {},
): Promise<readonly Pod[]> => {
  const fieldSelector = `spec.nodeName=${node}`;
  const { items } = await kube.list<Pod>(resourceTypes.pods, { fieldSelector, ...options });
  return items;
};

export const readNodes = async (
  kube: KubeApi,
  nodes: readonly Node[],
  causeFor: (node: Node) => DisruptionCause,
): Promise<readonly NodeRead[]> => {
  const reads: NodeRead[] = [];
  // Sequential: a selector may match hundreds of nodes.
  for (const node of nodes) {
    const [pods, disruption] = await Promise.all([
      podsOn(kube, node.metadata.name),
      readDisruption(kube, disruptionNameOf(node)),
    ]);
    reads.push({ node, pods, disruption, cause: causeFor(node) });
  }
  return reads;
};

export const readBudgets = async (kube: KubeApi): Promise<readonly PodDisruptionBudget[]> => {
  const { items } = await kube.list<PodDisruptionBudget>(resourceTypes.poddisruptionbudgets);
  // Its controller writes the status a moment after the budget is created.
  return items.map((budget) => ({ ...budget, status: budget.status ?? {} }));
};

/** Uids of all DaemonSets; undefined when this user may not list them. */
export const readDaemonSets = async (kube: KubeApi): Promise<ReadonlySet<string> | undefined> => {
  try {
    const { items } = await kube.list<KubeObject>(resourceTypes.daemonsets);
    return new Set(items.map((item) => item.metadata.uid));
  } catch (error) {
    if (error instanceof KubeError && error.code === 'Forbidden') return undefined;
    throw error;
  }
};
