// The two lifecycle hooks of a node group's Auto Scaling group: the missing ones and those that
// Drover installed. Also the condition of a group without the terminate hook. Never changes a hook
// of another name. Pure.
import { defined } from '../../api/defined.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';

export const launchHookName = 'Launch-LC-Hook';
export const terminateHookName = 'Terminate-LC-Hook';

const launching = 'autoscaling:EC2_INSTANCE_LAUNCHING';
const terminating = 'autoscaling:EC2_INSTANCE_TERMINATING';
const heartbeatTimeoutSeconds = 1800;
const defaultResult = 'CONTINUE';

interface Hook {
  readonly name: string;
  readonly transition: typeof launching | typeof terminating;
  /** NotificationMetadata, which Auto Scaling keeps with the hook. */
  readonly metadata?: string;
}

export interface WantedHook extends Hook {
  readonly heartbeatTimeoutSeconds: number;
  readonly defaultResult: 'CONTINUE';
  readonly notificationTarget?: string;
}

/** The two hooks of article 001, with the same numbers. `target`: ARN of an SNS topic. */
export const standardHooks = (target: string | undefined): readonly WantedHook[] =>
  [
    { name: launchHookName, transition: launching } as const,
    { name: terminateHookName, transition: terminating } as const,
  ].map((hook) => ({
    ...hook,
    heartbeatTimeoutSeconds,
    defaultResult,
    ...defined({ notificationTarget: target }),
  }));

/** The marker in a hook's metadata by which a release recognizes hooks that Drover installed. */
const markOf = ({ metadata }: { readonly metadata: { readonly uid: string } }): string =>
  `drover.dev/nodegroup-uid=${metadata.uid}`;

/**
 * The hooks to install, the terminate hook first: those whose names are free, if the NodeGroup
 * enables managed hooks. They notify EventBridge only, since EKS' own topic accepts messages only
 * from groups that EKS created.
 */
export const missingHooks = (
  group: {
    readonly metadata: Pick<NodeGroup['metadata'], 'uid'>;
    readonly spec: Pick<NodeGroup['spec'], 'lifecycleHooks'>;
  },
  has: readonly Pick<Hook, 'name'>[],
): readonly WantedHook[] => {
  if (group.spec.lifecycleHooks === 'Leave') return [];
  const names = new Set(has.map(({ name }) => name));
  return standardHooks(undefined)
    .filter(({ name }) => !names.has(name))
    .map((hook) => ({ ...hook, metadata: markOf(group) }))
    .toReversed();
};

/**
 * Hooks that a release deletes: those that Drover installed, and, on a group that Drover created,
 * both of these names.
 */
export const installedHooks = <T extends Hook>(
  group: Pick<NodeGroup, 'metadata' | 'spec'>,
  has: readonly T[],
): readonly T[] => {
  const isCreated = group.spec.autoScalingGroupName === undefined;
  const names = new Set(standardHooks(undefined).map(({ name }) => name));
  return has.filter(
    ({ name, metadata }) => metadata === markOf(group) || (isCreated && names.has(name)),
  );
};

/** Why Drover does not see terminations: reason and message of condition TerminationsNotSeen. */
export interface HookLack {
  readonly reason: 'HooksLeft' | 'AccessDenied' | 'HookRefused';
  readonly message: string;
}

const putCommand = (asg: string): string =>
  `aws autoscaling put-lifecycle-hook --auto-scaling-group-name ${asg} ` +
  `--lifecycle-hook-name ${terminateHookName} --lifecycle-transition ${terminating} ` +
  `--heartbeat-timeout ${heartbeatTimeoutSeconds} --default-result ${defaultResult}`;

/**
 * `refusal`: AWS' error for the calls that read or install hooks. Undefined if terminations are
 * seen.
 */
export const hookLack = (
  group: Pick<NodeGroup, 'spec'>,
  asg: string,
  {
    has,
    refusal,
  }: {
    readonly has: readonly Hook[];
    readonly refusal?: { readonly isDenied: boolean; readonly message: string };
  },
): HookLack | undefined => {
  const isSeen = has.some(
    ({ name, transition }) => name === terminateHookName && transition === terminating,
  );
  if (isSeen) return undefined;
  const effect = `Instances that Auto Scaling terminates in ${asg} lose their pods without a drain`;
  if (refusal !== undefined) {
    const remedy = refusal.isDenied
      ? 'Allow Drover autoscaling:DescribeLifecycleHooks and autoscaling:PutLifecycleHook'
      : 'Remove what AWS names';
    return {
      reason: refusal.isDenied ? 'AccessDenied' : 'HookRefused',
      message:
        `${effect}: ${refusal.message}. ${remedy}, or install the hook yourself: ` +
        `${putCommand(asg)}`,
    };
  }
  const why =
    group.spec.lifecycleHooks === 'Leave'
      ? `the group has no hook ${terminateHookName}, and spec.lifecycleHooks is Leave. Set it ` +
        'to Manage'
      : `the hook ${terminateHookName} is of another transition. Delete it`;
  return {
    reason: 'HooksLeft',
    message: `${effect}: ${why}, or install the hook yourself: ${putCommand(asg)}`,
  };
};

/** Whether an instance in this lifecycle state waits in hooks of this transition. */
export const waitsInHook = (lifecycleState: string, transition: Hook['transition']): boolean =>
  lifecycleState.endsWith(':Wait') &&
  lifecycleState.startsWith('Terminating') === (transition === terminating);
