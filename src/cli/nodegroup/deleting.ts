// What the deletion of a managed node group waits for, as its controller reports it: pods and
// budgets that block its nodes, its health. Also whether its pods have any other place. Reads only.
import type { NodeDisruption } from '../../api/disruption.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { explainWaiting, healthRemedy } from '../../core/explain/index.ts';
import { groupTag } from '../../core/provisioning/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import { isLasting } from '../drain/wait.ts';

const groupLabels = ['eks.amazonaws.com/nodegroup', groupTag] as const;
/** Further lines are only counted. */
const maxLines = 5;

/** A line for each pod that blocks a node, then for each health issue with its remedy. */
export const holdingLines = (
  group: NodeGroup | undefined,
  disruptions: readonly NodeDisruption[],
  name: string,
): readonly string[] => {
  const held = disruptions
    .filter(({ spec }) => spec.nodeGroup === name)
    .flatMap(({ status, spec, metadata }) => {
      const node = status?.node?.name ?? spec.nodeName ?? metadata.name;
      const waiting = status?.phase === 'Ended' ? [] : (status?.waitingOn ?? []);
      return waiting.filter(isLasting).map((one) => `node ${node}: ${explainWaiting(one)}`);
    });
  const more = held.length - maxLines;
  const issues = (group?.status?.health ?? []).map((issue) => {
    const remedy = healthRemedy(issue, { name, isLeaving: true });
    return `${issue.code}: ${issue.message.replace(/\.$/, '')}; remedy: ${remedy}`;
  });
  return [...held.slice(0, maxLines), ...(more > 0 ? [`and ${more} more pods`] : []), ...issues];
};

/** What blocks the deletion at present. */
export const readHolding = async (kube: KubeApi, name: string): Promise<readonly string[]> => {
  const [group, { items }] = await Promise.all([
    kube.get<NodeGroup>(resourceTypes.nodegroups, { name }),
    kube.list<NodeDisruption>(resourceTypes.nodedisruptions, { resourceVersion: '0' }),
  ]);
  return holdingLines(group.kind === 'found' ? group.object : undefined, items, name);
};

const isOpen = ({ spec }: Node): boolean =>
  spec.unschedulable !== true &&
  (spec.taints ?? []).every(({ effect }) => effect === 'PreferNoSchedule');

/**
 * The remedy where evicted pods of this group would have no other node; undefined where they have
 * one.
 */
export const noOtherPlace = (nodes: readonly Node[], name: string): string | undefined => {
  const isOwn = ({ metadata }: Node): boolean =>
    groupLabels.some((label) => metadata.labels?.[label] === name);
  const own = nodes.filter(isOwn);
  if (own.length === 0 || nodes.some((node) => !isOwn(node) && isOpen(node))) return undefined;
  return (
    `no other node takes the pods of nodegroup ${name}: evicted pods stay Pending, and ` +
    'budgets that need them hold the ' +
    'deletion. Create another node group first (`drover create nodegroup`), delete those ' +
    'budgets or their ' +
    'workloads, or delete with --force, which deletes pods after 15 minutes'
  );
};
