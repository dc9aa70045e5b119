// Steps of a node group's plan that adopt, create, delete or release its Auto Scaling group and the
// objects around it. Decides nothing.
import type { IngressRule, LifecycleHook, NewGroup, NewHook, NewSecurityGroup } from './cloud.ts';
import type { JsonObject } from './json.ts';

type Tags = Readonly<Record<string, string>>;

export type CreationStep =
  /** Sets tags on the group but not on its instances; the owner's tag is among them. */
  | { readonly kind: 'TagGroup'; readonly autoScalingGroupName: string; readonly tags: Tags }
  /** Authorizes the group's nodes, in aws-auth or by an access entry. */
  | { readonly kind: 'AuthorizeRole'; readonly role: string }
  /** Creates the profile and adds the role. Ends the plan if another owner's exists. */
  | {
      readonly kind: 'EnsureProfile';
      readonly profile: { readonly name: string; readonly roleName: string; readonly tags: Tags };
    }
  | { readonly kind: 'CreateSecurityGroup'; readonly securityGroup: NewSecurityGroup }
  | { readonly kind: 'AllowIngress'; readonly id: string; readonly rule: IngressRule }
  | {
      readonly kind: 'CreateTemplate';
      readonly name: string;
      readonly tags: Tags;
      readonly data: JsonObject;
    }
  /** `launchTemplate`: a name, since an earlier step may create it; its latest version is used. */
  | {
      readonly kind: 'CreateGroup';
      readonly group: Omit<NewGroup, 'launchTemplate'>;
      readonly launchTemplate: string;
    }
  | {
      readonly kind: 'InstallHook';
      readonly autoScalingGroupName: string;
      readonly hook: NewHook;
    };

export type EndingStep =
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

export type LifecycleStep = CreationStep | EndingStep;

const creationKinds = {
  TagGroup: true,
  AuthorizeRole: true,
  EnsureProfile: true,
  CreateSecurityGroup: true,
  AllowIngress: true,
  CreateTemplate: true,
  CreateGroup: true,
  InstallHook: true,
} as const satisfies Readonly<Record<CreationStep['kind'], true>>;

const endingKinds = {
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
} as const satisfies Readonly<Record<EndingStep['kind'], true>>;

type Kind = { readonly kind: string };

export const isCreationStep = <S extends Kind>(step: S): step is Extract<S, CreationStep> =>
  step.kind in creationKinds;

export const isLifecycleStep = <S extends Kind>(step: S): step is Extract<S, LifecycleStep> =>
  isCreationStep(step) || step.kind in endingKinds;
