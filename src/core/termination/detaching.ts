// The detachment of a drained instance for inspection: it leaves its Auto Scaling group, which
// launches another one, and stays cordoned. The requester later asks for its termination. An
// instance whose kubelet could not stop its pods is terminated instead, since the pods start
// elsewhere.
import { epochMs } from '../../api/brand.ts';
import { isReady } from '../../api/conditions.ts';
import type { DisruptionOutcome, NodeDisruption } from '../../api/disruption.ts';
import { autoScalingGroupNameOf } from '../../api/nodegroup.ts';
import { causesInForce, type Demand, endsByItself } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import type { Observation } from './observation.ts';
import { terminate } from './terminating.ts';

const againMs = 5_000;

export const mustDetach = (
  disruption: NodeDisruption,
  { followUp }: Demand,
  outcome: DisruptionOutcome | undefined,
): boolean => {
  if (followUp !== 'Detach' || disruption.spec.instanceId === undefined) return false;
  if (causesInForce(disruption).some(({ kind }) => endsByItself[kind])) return false;
  return outcome === 'Drained' || outcome === 'Forced' || outcome === 'NothingToDrain';
};

/** Pods that were deleted by force may keep running if no kubelet stops them. */
const mayRunPods = ({ disruption, node }: Observation): boolean =>
  disruption.status?.outcome === 'Forced' && (node === undefined || !isReady(node));

/** Requests the detachment. `waitingOn` is empty when nothing is left to do. */
export const detach = (observation: Observation, demand: Demand): Decision => {
  const { disruption, group, memory, now } = observation;
  const { instanceId } = disruption.spec;
  if (instanceId === undefined || memory.detach?.done === true) return decision({});
  if (group === undefined || mayRunPods(observation)) {
    return terminate(observation, { ...demand, followUp: 'Replace' });
  }
  const { detach: tried } = memory;
  const message = tried?.message ?? 'being detached';
  const waitingOn = [{ kind: 'instance' as const, message }];
  const dueAt = epochMs((tried?.at ?? now) + againMs * Math.min(6, tried?.failures ?? 0));
  if (now < dueAt) return decision({ waitingOn, wakeAt: [dueAt] });
  const autoScalingGroupName = autoScalingGroupNameOf(group);
  const step = { kind: 'DetachInstance' as const, instanceId, autoScalingGroupName };
  return decision({ steps: [step], waitingOn });
};
