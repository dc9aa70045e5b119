// What the deletion of a managed node group waits for, as its controller reports it: pods and
// budgets that block its nodes, its health. Also whether its pods have any other place, and which
// instances in quarantine it ends. Reads only.
import type { NodeDisruption } from '../../api/disruption.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { endedRepairPhases, type NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { explainWaiting, healthRemedy } from '../../core/explain/index.ts';
import { isLasting } from '../../core/overview/index.ts';
import { groupTag } from '../../core/provisioning/index.ts';
import type { KubeApi } from '../../ports/index.ts';

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

/** Detached for inspection, or about to be. */
const isQuarantine = ({ status, spec }: NodeRepair): boolean => {
  if (status?.phase === 'Quarantined') return true;
  const isOver = status !== undefined && endedRepairPhases.includes(status.phase);
  const action = status?.attempts?.at(-1)?.action ?? status?.action ?? spec.requested?.action;
  return !isOver && action === 'Quarantine';
};

/** A line for each instance in quarantine, which the deletion of its node group terminates. */
export const quarantineLines = (repairs: readonly NodeRepair[], name: string): readonly string[] =>
  repairs
    .filter((repair) => repair.spec.nodeGroup === name && isQuarantine(repair))
    .map(({ metadata, spec, status }) => {
      const node = spec.node === undefined ? '' : ` (node ${spec.node.name})`;
      const until = status?.quarantinedUntil;
      const state =
        until === undefined ? 'being put into quarantine' : `in quarantine until ${until}`;
      return (
        `instance ${spec.instanceId}${node} is ${state} (NodeRepair ${metadata.name}): the ` +
        'deletion terminates it; finish its inspection first'
      );
    });

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
