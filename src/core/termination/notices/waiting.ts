// The backstop's decision over all instances waiting in a hook: which terminations have no cause
// recorded, and which launches may be completed. Pure; foreign hooks never appear in it.
import type { EpochMs } from '../../../api/brand.ts';
import type { HookCall, LifecycleHook, ScalingInstance } from '../../../api/cloud.ts';
import { isReady } from '../../../api/conditions.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import type { Node } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import { type DisruptionSubject, mergeCause } from '../cause-writes.ts';
import { hookCause } from './causes.ts';

/** Minimum time between completions of one hook; Describe calls may lag by seconds. */
const completeAgainMs = 60_000;

export interface WaitingInstance {
  readonly instance: ScalingInstance;
  readonly group: NodeGroup;
  /** Our hooks of this group, for both transitions. */
  readonly hooks: readonly LifecycleHook[];
  readonly node: Node | undefined;
  readonly disruption: NodeDisruption | undefined;
  /** When Auto Scaling began to terminate it, if its activities say so. */
  readonly terminatingSince?: EpochMs;
}

export type LifecycleAction =
  | {
      readonly kind: 'record';
      readonly subject: DisruptionSubject;
      readonly cause: DisruptionCause;
    }
  | { readonly kind: 'complete'; readonly call: HookCall & { readonly result: 'CONTINUE' } };

export const launchKey = (call: {
  readonly instanceId: string;
  readonly hookName: string;
}): string => `${call.instanceId}/${call.hookName}`;

/** `triedAt`: when each launch hook (by `launchKey`) was last completed, if known. */
export const decideLifecycle = (
  waiting: readonly WaitingInstance[],
  triedAt: ReadonlyMap<string, number>,
  now: EpochMs,
): readonly LifecycleAction[] =>
  waiting.flatMap((each): readonly LifecycleAction[] => {
    switch (each.instance.lifecycleState) {
      case 'Terminating:Wait':
        return terminations(each, now);
      case 'Pending:Wait':
        return launches(each, triedAt, now);
      default:
        return [];
    }
  });

const terminations = (
  { instance, group, hooks, node, disruption, terminatingSince }: WaitingInstance,
  now: EpochMs,
): readonly LifecycleAction[] => {
  const { instanceId, autoScalingGroupName } = instance;
  return hooks
    .filter((hook) => hook.transition === 'autoscaling:EC2_INSTANCE_TERMINATING')
    .map((hook): LifecycleAction & { readonly kind: 'record' } => ({
      kind: 'record',
      subject: {
        name: instanceId,
        instanceId,
        nodeGroup: group.metadata.name,
        ...(node === undefined ? {} : { nodeName: node.metadata.name }),
      },
      cause: hookCause({
        autoScalingGroupName,
        hookName: hook.name,
        // The hook began before this look, but no earlier than the termination did.
        startedAt: terminatingSince ?? now,
        times: hook,
        group,
        now,
      }),
    }))
    .filter(({ cause }) => {
      // Any cause of this hook, open, withdrawn or handled, is the same action: an instance is
      // terminated once. It may still wait for a hook that another system completes.
      if (disruption === undefined) return true;
      const { spec, status } = disruption;
      return mergeCause(spec, cause, status?.handledCauses) !== spec;
    });
};

/** Startup taints that an agent of the node has yet to remove, by key. */
export const startupTaintsOn = ({ spec }: Node, group: NodeGroup): readonly string[] => {
  const { startupTaints = [] } = group.spec.drain?.launch ?? {};
  return (spec.taints ?? []).map(({ key }) => key).filter((key) => startupTaints.includes(key));
};

const launches = (
  { instance, group, hooks, node }: WaitingInstance,
  triedAt: ReadonlyMap<string, number>,
  now: EpochMs,
): readonly LifecycleAction[] => {
  // Never Ready: the hook's own timeout and default result decide, as its owner configured.
  if (node === undefined || !isReady(node) || node.metadata.deletionTimestamp !== undefined) {
    return [];
  }
  if (startupTaintsOn(node, group).length > 0) return [];
  const { instanceId, autoScalingGroupName } = instance;
  return hooks
    .filter((hook) => hook.transition === 'autoscaling:EC2_INSTANCE_LAUNCHING')
    .map((hook) => ({
      kind: 'complete' as const,
      call: { autoScalingGroupName, hookName: hook.name, instanceId, result: 'CONTINUE' as const },
    }))
    .filter(({ call }) => {
      const tried = triedAt.get(launchKey(call));
      return tried === undefined || now - tried >= completeAgainMs;
    });
};
