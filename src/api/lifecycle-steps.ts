// Steps of a node group's plan that adopt, create, delete or release its Auto Scaling group and the
// objects around it. Decides nothing.
import type { LifecycleHook } from './cloud.ts';

export type LifecycleStep =
  | {
      readonly kind: 'ResumeProcesses';
      readonly autoScalingGroupName: string;
      readonly processes: readonly string[];
    }
  /** Ends the plan if an instance waits in the hook, since a removal would end that wait. */
  | {
      readonly kind: 'RemoveHook';
      readonly autoScalingGroupName: string;
      readonly hook: Pick<LifecycleHook, 'name' | 'transition'>;
    }
  | {
      readonly kind: 'UntagGroup';
      readonly autoScalingGroupName: string;
      readonly keys: readonly string[];
    }
  | { readonly kind: 'DeleteGroup'; readonly autoScalingGroupName: string }
  | { readonly kind: 'DeleteTemplate' | 'DeleteProfile'; readonly name: string }
  /** Fails while it is in use elsewhere. */
  | { readonly kind: 'DeleteSecurityGroup'; readonly id: string; readonly name: string }
  /** The role stays authorized and is no longer marked as added by Drover. */
  | { readonly kind: 'DisownRole'; readonly role: string }
  /** Withdraws the role unless another group uses it, then removes the finalizer. */
  | { readonly kind: 'EndGroup'; readonly role: string }
  /** Removes the finalizer of a released group. `message`: the text of its event. */
  | { readonly kind: 'EndRelease'; readonly message: string };

const kinds = {
  ResumeProcesses: true,
  RemoveHook: true,
  UntagGroup: true,
  DeleteGroup: true,
  DeleteTemplate: true,
  DeleteProfile: true,
  DeleteSecurityGroup: true,
  DisownRole: true,
  EndGroup: true,
  EndRelease: true,
} as const satisfies Readonly<Record<LifecycleStep['kind'], true>>;

export const isLifecycleStep = <S extends { readonly kind: string }>(
  step: S,
): step is Extract<S, LifecycleStep> => step.kind in kinds;
