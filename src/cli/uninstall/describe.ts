// What an uninstallation removes and what stays, as lines. Pure.
import { customResourceDefinitions } from '../../api/crds.ts';
import type { KubeObject } from '../../api/kube.ts';
import { autoScalingGroupNameOf, isRetained, type NodeGroup } from '../../api/nodegroup.ts';
import { type Installation, inspectedLines } from './read.ts';

const groupLines = (group: NodeGroup): readonly string[] => {
  const { name } = group.metadata;
  const asg = autoScalingGroupNameOf(group);
  const made = isRetained(group) ? '' : ', which Drover created; its launch template stays with it';
  return [
    `nodegroup ${name}: hooks and tags that Drover added to its group, and marks on its nodes`,
    `  then: Auto Scaling group ${asg} keeps its ${group.status?.instances ?? 0} instances and ` +
      `sizes${made}`,
    '  then: Auto Scaling terminates instances without a drain; unhealthy nodes are not repaired',
  ];
};

/** The release that helm recorded, by the annotation that it sets. */
export const helmReleaseOf = (deployment: KubeObject | undefined): string | undefined =>
  deployment?.metadata.annotations?.['meta.helm.sh/release-name'];

const counted = (count: number, what: string): readonly string[] =>
  count === 0 ? [] : [`${count} ${what}`];

/** In the order in which it happens. */
export const uninstallLines = (
  found: Installation,
  { crds }: { readonly crds: boolean },
): readonly string[] => {
  const { groups, openDrains, records, deployment, objects, markedNodes } = found;
  const definitions = customResourceDefinitions.length;
  const removed = [
    ...groups.flatMap(groupLines),
    ...counted(
      openDrains.length,
      'drains: those by hand are withdrawn, as ended ones are; the others end first',
    ),
    ...counted(records.length, 'records of drains, repairs and updates'),
    ...(deployment === undefined
      ? []
      : ['the controller: Deployment kube-system/drover-controller']),
    ...objects.map(({ type, name: { namespace, name } }) =>
      namespace === undefined ? `${type.kind} ${name}` : `${type.kind} ${namespace}/${name}`,
    ),
    ...counted(
      markedNodes.length,
      'nodes with labels, annotations, taints or conditions of Drover',
    ),
    ...counted(
      found.swaps.length,
      'surges: Deployments are scaled back, and their pods get their deletion cost back',
    ),
    ...(crds && found.hasDefinitions ? [`the ${definitions} definitions of drover.dev`] : []),
  ];
  const release = helmReleaseOf(deployment);
  const stays = [
    ...inspectedLines(found.inspected),
    ...(!crds && found.hasDefinitions
      ? ['the definitions of drover.dev; --crds removes them']
      : []),
    ...(release === undefined
      ? []
      : [`helm's record of release ${release}: helm uninstall ${release} -n kube-system`]),
    'Secret kube-system/drover-receiver, if you made one',
    'ClusterRole drover-viewer and its bindings, if you applied deploy/viewer.yaml',
    'queue, EventBridge rules and role in AWS: `drover setup aws --remove --queue NAME --role NAME` ' +
      'prints their removal',
  ];
  return [
    ...removed.map((line) => (line.startsWith('  ') ? `  ${line}` : `removes: ${line}`)),
    ...stays.map((line) => `stays:   ${line}`),
  ];
};
