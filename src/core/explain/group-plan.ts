// Renders a node group's plan as plain lines: first its steps in order, then what it waits for.
import { isLifecycleStep } from '../../api/lifecycle-steps.ts';
import type {
  GroupPlan,
  GroupRecord,
  GroupStep,
  GroupWaiting,
  SizeChange,
} from '../../api/plan.ts';
import { explainUpdateWaiting } from '../update/index.ts';
import { explainLifecycleStep } from './lifecycle-steps.ts';

const sizesText = ({ minSize, maxSize, desiredCapacity }: SizeChange): string =>
  [
    ...(minSize === undefined ? [] : [`minimum ${minSize}`]),
    ...(maxSize === undefined ? [] : [`maximum ${maxSize}`]),
    ...(desiredCapacity === undefined ? [] : [`desired ${desiredCapacity}`]),
  ].join(', ');

const recordText = ({ target, scaleIn, failure, updating }: GroupRecord): string => {
  const parts = [
    `target ${target}`,
    ...(scaleIn === undefined ? [] : [`scale-in ${scaleIn.id} to ${scaleIn.target}`]),
    ...(updating === undefined ? [] : [`update ${updating.name}`]),
    ...(failure === undefined ? [] : [`failure ${failure.code}`]),
  ];
  return parts.join(', ');
};

/** Steps of an update that concern one instance. */
const instanceText = {
  Hold: 'mark the node and evict nothing of',
  Lift: 'drain',
  Replace: 'drain, then terminate and replace,',
  Retire: 'drain, then terminate and not replace,',
  LetGo: 'let the drained instance be terminated:',
  Empty: 'drain and keep',
  Withdraw: 'cancel the drain of',
} as const;

/** Steps of an update that concern one node. */
const nodeText = {
  Discourage: 'keep new pods off node',
  Encourage: 'let new pods onto node',
  Shield: 'keep the cluster autoscaler off node',
  Unshield: 'leave to the cluster autoscaler node',
  Quarantine: 'label as quarantined node',
  Unquarantine: 'remove the quarantine label of node',
} as const;

const updateText = (step: Exclude<GroupStep, { instanceId: string } | { nodeName: string }>) => {
  switch (step.kind) {
    case 'RunHook':
      return `run hook ${step.call.kind} for node ${step.call.nodeName}`;
    case 'Pause':
      return 'pause the update';
    case 'Resume':
      return `resume ${step.processes.join(', ')}`;
    case 'RestoreTypes':
      return 'use all instance types again';
    case 'Lower':
      return `lower the desired capacity to ${step.desired}`;
    case 'RestoreTemplate':
      return 'start new instances from the earlier revision again';
    case 'PrepareUpdate':
      return `make the launch template version of update ${step.update}`;
    case 'ClearHooks':
      return `delete finished hook Jobs of update ${step.update}`;
    case 'EndUpdate':
      return `end update ${step.update}: ${step.end.status}`;
    case 'UseTemplate':
      return `start new instances from launch template version ${step.version}`;
    case 'WriteUpdateStatus':
      return `record in update ${step.update}: ${Object.keys(step.change).join(', ')}`;
    default:
      return undefined;
  }
};

export const explainGroupStep = (step: GroupStep): string => {
  switch (step.kind) {
    case 'WriteSpecSizes': {
      const { minSize, maxSize, desired } = step.scaling;
      const sizes = {
        minSize,
        maxSize,
        ...(desired === undefined ? {} : { desiredCapacity: desired }),
      };
      return `write back to the spec of ${step.group}: ${sizesText(sizes)}`;
    }
    case 'WriteGroupStatus':
      return `record in the status of ${step.group}: ${recordText(step.record)}`;
    case 'SuspendProcesses':
      return `suspend ${step.processes.join(', ')} of ${step.autoScalingGroupName}`;
    case 'ResumeLate':
      return `resume ${step.processes.join(', ')}, suspended by an earlier leader`;
    case 'WithdrawCauses':
      return `cancel the drain of ${step.disruption}: ${step.causeIds.join(', ')}`;
    case 'SetSizes': {
      const { minSize, maxSize, desired } = step.expected;
      const from = `${minSize}/${maxSize}/${desired}`;
      return (
        `set sizes of ${step.autoScalingGroupName}, now min/max/desired ${from}: ` +
        `${sizesText(step.change)}`
      );
    }
    case 'RecordCause': {
      const { disruption, nodeName, cause } = step;
      const node = nodeName === undefined ? '' : ` (node ${nodeName})`;
      return `drain instance ${disruption}${node}: ${cause.reason ?? cause.kind}`;
    }
    case 'PatchNode':
      return `patch node ${step.node}: ${step.why}`;
    case 'TerminateMember':
      return `terminate drained instance ${step.instanceId} and let its group shrink`;
    default:
      if ('instanceId' in step) return `${instanceText[step.kind]} instance ${step.instanceId}`;
      if ('nodeName' in step) return `${nodeText[step.kind]} ${step.nodeName}`;
      return isLifecycleStep(step) ? explainLifecycleStep(step) : (updateText(step) ?? step.kind);
  }
};

export const explainGroupWaiting = (waiting: GroupWaiting): string => {
  switch (waiting.kind) {
    case 'drains':
      return `${waiting.total} nodes being drained: ${waiting.disruptions.join(', ')}`;
    case 'instances':
      return `${waiting.missing} instances that are not started yet`;
    case 'tag':
      return `the owner's tag of ${waiting.autoScalingGroupName}: read again after a few seconds`;
    case 'securityGroup':
      return `security group ${waiting.name}, before launch template and Auto Scaling group`;
    case 'undoing':
      return `${waiting.drains} cancelled drains are being undone`;
    case 'repairs':
      return `${waiting.repairs} node repairs are being ended`;
    case 'hooks':
      return `Instances wait in ${waiting.hooks.join(', ')}: Drover drains them first`;
    case 'quarantine':
      return `instances in quarantine are terminated first: ${waiting.repairs.join(', ')}`;
    case 'absence':
      return `Auto Scaling group ${waiting.autoScalingGroupName} may still exist: read again`;
    case 'members':
      return `${waiting.total} instances that were launched again`;
    case 'update':
      return waiting.waitingOn.kind === 'phase'
        ? `update ${waiting.update} ${explainUpdateWaiting(waiting.waitingOn)}`
        : `update ${waiting.update}: ${explainUpdateWaiting(waiting.waitingOn)}`;
  }
};

export const explainGroupPlan = ({ steps, waitingOn, refusal }: GroupPlan): readonly string[] => [
  ...(refusal === undefined ? [] : [`refused: ${refusal.code}: ${refusal.message}`]),
  ...steps.map(explainGroupStep),
  ...waitingOn.map((waiting) => `waits: ${explainGroupWaiting(waiting)}`),
];
