// A manual repair: the object or the change that records it, and the controller's plan for it.
// `drover repair` and its dry run share it. Pure.
import { formatTime } from '../../api/brand.ts';
import {
  type NodeRepair,
  type NodeRepairSpec,
  type NodeRepairStatus,
  overrulableBlockers,
  type RepairBlocker,
  type RepairRequest,
  requestedEpisode,
} from '../../api/node-repair.ts';
import { decideRepairs, isOpenRepair, isRunning } from './decide.ts';
import { repairName } from './episode.ts';
import type { RepairMember, RepairObservation, RepairStep } from './observation.ts';

export type RequestWrite =
  | { readonly kind: 'create'; readonly name: string; readonly spec: NodeRepairSpec }
  | {
      readonly kind: 'patch';
      readonly name: string;
      readonly resourceVersion: string;
      readonly requested: RepairRequest;
    };

export type RequestDecision =
  /** A repair of the instance has already decided its action. */
  | { readonly kind: 'underWay'; readonly repair: NodeRepair }
  | {
      readonly kind: 'blocked';
      readonly blockedBy: readonly RepairBlocker[];
      /** An operator may override all of them. */
      readonly isOverrulable: boolean;
    }
  /** The action cannot be done to this node. */
  | { readonly kind: 'impossible'; readonly message: string }
  | {
      readonly kind: 'accepted';
      readonly name: string;
      readonly write: RequestWrite;
      /** The controller's steps: the repair's attempt, then its cause. */
      readonly steps: readonly RepairStep[];
    };

const specOf = (
  { group, now }: RepairObservation,
  { instanceId, availabilityZone, node }: RepairMember,
  requested: RepairRequest,
): NodeRepairSpec => ({
  nodeGroup: group.metadata.name,
  instanceId,
  ...(node === undefined ? {} : { node: { name: node.metadata.name, uid: node.metadata.uid } }),
  availabilityZone,
  unhealthySince: formatTime(now),
  ...requestedEpisode,
  requested,
});

const asRecorded = (
  write: RequestWrite,
  open: NodeRepair | undefined,
  { now }: RepairObservation,
): NodeRepair | undefined => {
  if (write.kind === 'patch') {
    return open === undefined
      ? undefined
      : { ...open, spec: { ...open.spec, requested: write.requested } };
  }
  return {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeRepair',
    metadata: {
      name: write.name,
      uid: '',
      resourceVersion: '',
      creationTimestamp: formatTime(now),
    },
    spec: write.spec,
  };
};

const isOf = (step: RepairStep, { metadata: { name }, spec }: NodeRepair): boolean =>
  'name' in step
    ? step.name === name
    : step.kind === 'AskForBundle'
      ? step.nodeName === spec.node?.name
      : step.kind === 'RecordCause' && step.instanceId === spec.instanceId;

/** The steps after the decision: with a bundle, the request for it and what follows its end. */
const stepsAfter = (observation: RepairObservation, repair: NodeRepair): readonly RepairStep[] => {
  const { steps, outlook } = decideRepairs(observation);
  const asked = outlook.find(({ name }) => name === repair.metadata.name)?.status;
  const bundle = asked?.attempts?.at(-1)?.bundle;
  if (asked === undefined || bundle === undefined) return steps;
  const after = (status: NodeRepairStatus): readonly RepairStep[] => {
    const others = observation.repairs.filter((one) => one !== repair);
    return decideRepairs({ ...observation, repairs: [...others, { ...repair, status }] }).steps;
  };
  if (bundle.outcome !== undefined) return after(asked);
  const attempts = (asked.attempts ?? []).map((one, index, all) =>
    index === all.length - 1
      ? { ...one, bundle: { ...bundle, outcome: 'NotCollected' as const } }
      : one,
  );
  return [...after(asked), ...after({ ...asked, attempts })];
};

const mayOverrule = ({ kind }: RepairBlocker): boolean =>
  overrulableBlockers.some((one) => one === kind);

/** The result of a request for this member in the group's current state. */
export const decideRequest = (
  observation: RepairObservation,
  member: RepairMember,
  requested: RepairRequest,
): RequestDecision => {
  const { repairs } = observation;
  const { instanceId } = member;
  const open = repairs.find((one) => isOpenRepair(one) && one.spec.instanceId === instanceId);
  if (open !== undefined && isRunning(open)) return { kind: 'underWay', repair: open };
  const write: RequestWrite =
    open === undefined
      ? {
          kind: 'create',
          name: repairName(instanceId, repairs),
          spec: specOf(observation, member, requested),
        }
      : {
          kind: 'patch',
          name: open.metadata.name,
          resourceVersion: open.metadata.resourceVersion,
          requested,
        };
  const recorded = asRecorded(write, open, observation);
  const others = repairs.filter((one) => one !== open);
  const withRepair = (repair: NodeRepair): RepairObservation => ({
    ...observation,
    repairs: [...others, repair],
  });
  if (recorded === undefined) throw new Error('a change of a repair needs that repair');
  const first = decideRepairs(withRepair(recorded));
  const status = first.outlook.find(({ name }) => name === write.name)?.status;
  const blockedBy = status?.blockedBy ?? [];
  if (blockedBy.length > 0) {
    return { kind: 'blocked', blockedBy, isOverrulable: blockedBy.every(mayOverrule) };
  }
  if (status?.phase === 'Cancelled') {
    return { kind: 'impossible', message: status.message ?? 'cancelled' };
  }
  const next = status === undefined ? recorded : { ...recorded, status };
  const steps = [...first.steps, ...stepsAfter(withRepair(next), next)].filter((step) =>
    isOf(step, recorded),
  );
  return { kind: 'accepted', name: write.name, write, steps };
};
