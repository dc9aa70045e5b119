// Other actors on the group: an update or deletion in progress, or instances that start or
// terminate. It also reports nodes that are cordoned or that an autoscaler is about to remove.

import { isConfirmed } from '../../../../api/confirmation.ts';
import { defined } from '../../../../api/defined.ts';
import type { Check, Found } from '../finding.ts';
import type { View } from '../view.ts';

const group = (view: View) => ({ kind: 'NodeGroup', name: view.snapshot.group.name });

const autoscalerTaints = new Set([
  'ToBeDeletedByClusterAutoscaler',
  'DeletionCandidateOfClusterAutoscaler',
  'karpenter.sh/disrupted',
]);

/** The command that waits for the other update; it depends on the system that runs that update. */
const waiting = ({ snapshot }: View): string => {
  const { activeUpdate, managedBy, cluster, name } = snapshot.group;
  if (managedBy === 'eks') {
    return `aws eks wait nodegroup-active --cluster-name ${cluster} --nodegroup-name ${name}`;
  }
  return activeUpdate === undefined
    ? `drover get ng ${name}   # plan again when it is ACTIVE`
    : `drover get update ${activeUpdate} --watch   # plan again when it has ended`;
};

const updates = (view: View): readonly Found[] => {
  const { activeUpdate, state = 'ACTIVE' } = view.snapshot.group;
  if (activeUpdate === undefined && (state === 'ACTIVE' || state === 'DEGRADED')) return [];
  return [
    {
      severity: 'blocker',
      object: group(view),
      evidence: { state, ...defined({ update: activeUpdate }) },
      consequence: { text: 'one update at a time: ResourceInUseException', minute: 0 },
      isRefused: true,
      remedy: waiting(view),
    },
  ];
};

const instances = (view: View): readonly Found[] => {
  const moving = (view.snapshot.scalingGroup?.instances ?? []).filter(
    ({ lifecycleState }) => lifecycleState !== 'InService' && !/^Warmed/.test(lifecycleState),
  );
  if (moving.length === 0) return [];
  return [
    {
      severity: 'warning',
      object: group(view),
      evidence: {
        instances: moving
          .map(({ instanceId, lifecycleState }) => `${instanceId} ${lifecycleState}`)
          .join(', '),
      },
      consequence: { text: 'the group is being scaled now: the plan may not be what happens' },
      remedy: `drover plan update ${view.snapshot.group.name}   # again, when it has settled`,
    },
  ];
};

/** EKS replaces the instances of a warm pool; Drover does not touch it. */
const warmPool = ({ snapshot }: View): readonly Found[] => {
  const { warmPool: pool } = snapshot.scalingGroup ?? {};
  if (pool === undefined || snapshot.group.managedBy === 'eks') return [];
  const count = pool.instances === 1 ? '1 instance' : `${pool.instances} instances`;
  return [
    {
      severity: 'warning',
      object: { kind: 'WarmPool', name: pool.of },
      evidence: { instances: pool.instances, state: pool.state },
      consequence: {
        text:
          `Drover does not replace the ${count} of the warm pool: Auto Scaling may start ` +
          'nodes of the older revision from it, which the update replaces too',
      },
      remedy:
        `aws autoscaling delete-warm-pool --auto-scaling-group-name ${pool.of} --force-delete ` +
        '  # put it there again after the update',
    },
  ];
};

const nodes = (view: View): readonly Found[] =>
  view.oldNodes.flatMap(({ node, instanceId }): readonly Found[] => {
    const { name } = node.metadata;
    const object = { kind: 'Node', name };
    const taint = node.spec.taints?.find(({ key }) => autoscalerTaints.has(key));
    const disruption = view.snapshot.disruptions.find(
      ({ metadata, spec, status }) =>
        metadata.name === instanceId && status?.phase !== 'Ended' && spec.causes.some(isConfirmed),
    );
    if (taint !== undefined) {
      return [
        {
          severity: 'warning',
          object,
          evidence: { taint: taint.key },
          consequence: { text: 'an autoscaler is about to remove it', node: name },
          remedy: `kubectl get node ${name}   # plan again when it is gone or kept`,
        },
      ];
    }
    if (disruption !== undefined) {
      const causes = disruption.spec.causes
        .filter(isConfirmed)
        .map(({ kind }) => kind)
        .join(' ');
      return [
        {
          severity: 'warning',
          object,
          evidence: { causes, phase: disruption.status?.phase ?? 'Pending' },
          consequence: { text: 'it is being taken out of service already', node: name },
          remedy: `drover explain ${name}`,
        },
      ];
    }
    if (node.spec.unschedulable !== true) return [];
    return [
      {
        severity: 'warning',
        object,
        evidence: { unschedulable: 'true' },
        consequence: {
          text: 'another actor cordoned it and may be working on it; it is replaced like the others',
          node: name,
        },
        remedy: `kubectl uncordon ${name}`,
      },
    ];
  });

export const otherActor: Check = {
  name: 'other-actor',
  title: 'Another tool or operator changes the group',
  needs: ['nodes', 'scalingGroup'],
  run: (view) => [...updates(view), ...instances(view), ...warmPool(view), ...nodes(view)],
};
