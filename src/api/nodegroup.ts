// NodeGroup (drover.dev/v1alpha1): EKS' nodegroup. `spec` is the request, `status` the observed
// state and what was recorded of earlier requests. Nothing here decides.
import type { DrainPolicy } from './drain-policy.ts';
import type { Condition, KubeObject, Taint } from './kube.ts';
import type { NodeRepairPolicy } from './node-repair.ts';
import type { UpdateHooks } from './update-hooks.ts';
import type { UpdatePacing } from './update-pacing.ts';
import type { UpdatePolicies } from './update-policy.ts';

export interface NodeGroupScaling {
  readonly minSize: number;
  readonly maxSize: number;
  /** A change is a request; if absent, the Auto Scaling group's own value applies. */
  readonly desired?: number;
}

/**
 * EKS' three fields; pacing, for every strategy; policies and hooks, for Drover's own strategies
 * only.
 */
export interface UpdateConfig extends UpdatePolicies, UpdatePacing {
  readonly maxUnavailable?: number;
  readonly maxUnavailablePercentage?: number;
  /** EKS' two, and Drover's own two. */
  readonly updateStrategy?: 'DEFAULT' | 'MINIMAL' | 'SURGE' | 'BLUE_GREEN';
  readonly hooks?: UpdateHooks;
}

/** EKS' nodeRepairConfig, stored unchanged. */
export interface NodeRepairConfig {
  readonly enabled?: boolean;
  readonly maxUnhealthyNodeThresholdCount?: number;
  readonly maxUnhealthyNodeThresholdPercentage?: number;
  readonly maxParallelNodesRepairedCount?: number;
  readonly maxParallelNodesRepairedPercentage?: number;
  readonly nodeRepairConfigOverrides?: readonly {
    readonly nodeMonitoringCondition: string;
    readonly nodeUnhealthyReason: string;
    readonly minRepairWaitTimeMins: number;
    readonly repairAction: 'Replace' | 'Reboot' | 'NoAction';
  }[];
}

export interface NodeGroupSpec {
  readonly clusterName: string;
  /** Adopts an existing Auto Scaling group; absent = eks-<name>-<uid>, created by Drover. */
  readonly autoScalingGroupName?: string;
  readonly amiType: string;
  readonly capacityType: 'ON_DEMAND' | 'SPOT';
  readonly instanceTypes: readonly string[];
  readonly version: string;
  /** Absent = the newest of the family at creation; the status reports which. */
  readonly releaseVersion?: string;
  readonly nodeRole: string;
  readonly subnets: readonly string[];
  readonly scaling: NodeGroupScaling;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly launchTemplate?: {
    readonly id: string;
    readonly name?: string;
    readonly version: string;
  };
  readonly remoteAccess?: {
    readonly ec2SshKey?: string;
    readonly sourceSecurityGroups?: readonly string[];
  };
  readonly diskSizeGiB?: number;
  readonly tags?: Readonly<Record<string, string>>;
  readonly updateConfig?: UpdateConfig;
  readonly nodeRepairConfig?: NodeRepairConfig;
  readonly nodeRepair?: NodeRepairPolicy;
  /** Whether Drover installs its lifecycle hooks and restores deleted ones; default Manage. */
  readonly lifecycleHooks?: 'Manage' | 'Leave';
  /**
   * What happens to the Auto Scaling group and its instances when the NodeGroup is deleted.
   * Default: Retain for an adopted group, Delete for a group that Drover created.
   */
  readonly deletionPolicy?: 'Delete' | 'Retain';
  readonly drain?: DrainPolicy;
}

export interface HealthIssue {
  /** One of EKS' codes, e.g. NodeCreationFailure. */
  readonly code: string;
  readonly message: string;
  readonly resourceIds: readonly string[];
}

/** As EKS spells them. */
export type NodeGroupState =
  | 'CREATING'
  | 'ACTIVE'
  | 'UPDATING'
  | 'DELETING'
  | 'CREATE_FAILED'
  | 'DELETE_FAILED'
  | 'DEGRADED';

/** Sizes of an Auto Scaling group; each is absent where it was not set. */
interface SizesSet {
  readonly desired?: number;
  readonly minSize?: number;
  readonly maxSize?: number;
}

/** Sizes that a leader was about to set in Auto Scaling. */
export interface SizeCall extends SizesSet {
  /** The leader's term. */
  readonly epoch: number;
  readonly at: string;
  /**
   * Set when the call arrived after a change of leader: the previous sizes, which Drover restores.
   */
  readonly instead?: SizesSet;
}

/** What the nodes of a group are created from. */
export interface Revision {
  readonly version: string;
  readonly releaseVersion?: string;
  readonly imageId: string;
  /** Version of the derived launch template; lower ones are earlier revisions. */
  readonly templateVersion: string;
  /**
   * Only `templateVersion` distinguishes new nodes from old ones: all with a lower one are
   * replaced.
   */
  readonly replaceEqual?: boolean;
  /** The user's own launch template. */
  readonly launchTemplate?: NonNullable<NodeGroupSpec['launchTemplate']>;
}

/** The record from which an update can be reverted. */
export interface UpdateNote {
  readonly name: string;
  /** Its position among the group's updates (`turnAnnotation`). */
  readonly turn?: string;
  readonly strategy: NonNullable<UpdateConfig['updateStrategy']>;
  readonly from: Revision;
  readonly target: Revision;
  readonly original: {
    readonly minSize: number;
    readonly maxSize: number;
    readonly desired: number;
  };
  /** Number of old nodes when the update began. */
  readonly nodes: number;
  readonly surge: number;
  readonly maxUnavailable: number;
  readonly suspends?: readonly string[];
  /** The leader's term in which this was recorded. */
  readonly suspendedIn?: number;
  /** Instance types that are not launched during the update. */
  readonly skippedTypes?: readonly string[];
  readonly restored?: string;
}

/** What AWS and the nodes report about an adopted group. */
export interface AdoptedFacts
  extends Partial<Pick<NodeGroupSpec, 'nodeRole' | 'launchTemplate' | 'version'>>,
    Pick<NodeGroupSpec, 'clusterName' | 'capacityType' | 'instanceTypes' | 'subnets'> {
  readonly minSize: number;
  readonly maxSize: number;
  /** The image that the launch template specifies. */
  readonly imageId?: string;
}

export interface NodeGroupStatus {
  readonly observedGeneration?: number;
  readonly state: NodeGroupState;
  readonly desired: number;
  readonly minSize: number;
  readonly maxSize: number;
  readonly instances: number;
  readonly ready: number;
  readonly perZone?: Readonly<Record<string, number>>;
  /** Number of instances per version of the launch template. */
  readonly perTemplateVersion?: Readonly<Record<string, number>>;
  readonly autoScalingGroupName?: string;
  readonly releaseVersion?: string;
  readonly imageId?: string;
  /** Set when the group was complete for the first time; after that it is never CREATING again. */
  readonly createdAt?: string;
  /** `spec.scaling` as last observed; written before the first effect of a request. */
  readonly requested?: NodeGroupScaling;
  /** The scale-in or delete in progress; `id` is the id of its causes. */
  readonly scaleIn?: { readonly id: string; readonly target: number; readonly since: string };
  /** Why the last request was not carried out. Cleared by the next request. */
  readonly failure?: HealthIssue & { readonly generation: number; readonly at: string };
  /** The last version update, if it failed; health shows it until an update is Successful. */
  readonly failedUpdate?: string;
  /**
   * Labels and taints of the spec that were set on nodes. What is removed from the spec is removed
   * from the nodes.
   */
  readonly nodeLabels?: readonly string[];
  readonly nodeTaints?: readonly { readonly key: string; readonly effect: string }[];
  /**
   * A digest of the labels and taints that every node received, and since when. One that is removed
   * from a node afterwards (for example a startup taint by an agent) is not restored. `owed`:
   * instances whose node could not be patched and is retried, or whose node was deleted and gets
   * them when it registers again.
   */
  readonly nodeMarks?: {
    readonly applied: string;
    readonly since: string;
    readonly owed?: readonly string[];
  };
  /** The generation of the spec whose labels and taints the launch template contains. */
  readonly templateGeneration?: number;
  /**
   * The part of the Auto Scaling group's size that belongs to an update. Written before its effect.
   *
   * - `base`: desired size without the update's instances, where the spec states no desired.
   * - `retiring`: instances that the update was terminating with decrement when the group was read;
   *   the status' `desired` counts them, the surge does not.
   * - `carried`: part of the status' `desired` that belongs to the update.
   * - `left`: instances that it terminated with decrement and that had left the group by then.
   * - `takenUntil`: time in Auto Scaling up to which others' terminations with decrement are
   *   accounted for.
   * - `next`: the values after our next call; absent: there is no call.
   */
  readonly surge?: {
    readonly desired: number;
    readonly maxSize: number;
    readonly base?: number;
    readonly retiring?: number;
    readonly carried?: number;
    readonly left?: number;
    readonly takenUntil?: string;
    readonly next?: {
      readonly desired: number;
      readonly maxSize: number;
      readonly carried: number;
    };
  };
  /**
   * Sizes that a leader is about to set, written before the calls where leader election is used. A
   * later leader recognizes from them which sizes are not a request.
   */
  readonly sizeCalls?: readonly SizeCall[];
  /**
   * The version update in progress: written before its first effect, so that everything can be
   * reverted if its object disappears.
   */
  readonly updating?: UpdateNote;
  /** The revision that the spec requested when last observed. */
  readonly requestedRevision?: Pick<NodeGroupSpec, 'version' | 'releaseVersion' | 'launchTemplate'>;
  /** From the spec or, for an adopted group, from its Auto Scaling group. */
  readonly capacityType?: NodeGroupSpec['capacityType'];
  /** The Kubernetes version of the nodes: that of the last successful update. */
  readonly version?: string;
  /** The user's own launch template, from which all nodes were last created. */
  readonly launchTemplate?: NonNullable<NodeGroupSpec['launchTemplate']>;
  /** What AWS reports about an adopted group, for the fields that its spec omits. */
  readonly adopted?: AdoptedFacts;
  readonly health?: readonly HealthIssue[];
  readonly conditions?: readonly Condition[];
}

export interface NodeGroup extends KubeObject {
  /** Also complete for an adopted group with an incomplete object (adopted.ts). */
  readonly spec: NodeGroupSpec;
  /** Never written to the API: the spec as the object states it, if `spec` was completed. */
  readonly stated?: Partial<NodeGroupSpec>;
  readonly status?: NodeGroupStatus;
}

/** Node labels with the name of the group: a NodeGroup, or a self-managed group of eksctl. */
export const nodeGroupLabels = [
  'eks.amazonaws.com/nodegroup',
  'alpha.eksctl.io/nodegroup-name',
] as const;
/** Keeps a NodeGroup until nothing of it remains in the cloud. */
export const nodeGroupFinalizer = 'drover.dev/nodegroup';
/** On a NodeGroup: scale-in and delete as in EKS, without waiting for budgets. */
export const forceAnnotation = 'drover.dev/force';
/**
 * On a NodeGroup: the `at` of a failed delete that a user has requested again, to retry it at once.
 */
export const deleteAgainAnnotation = 'drover.dev/delete-again';
/** The generation that a write-back of sizes produced, which is not a request. */
export const followedAnnotation = 'drover.dev/followed-generation';
/** The client token and the input of a create call through the EKS API. */
export const clientTokenAnnotation = 'drover.dev/client-request-token';
/** Tag on every cloud resource that Drover creates: the uid of the NodeGroup that owns it. */
export const ownerTag = 'drover.dev/nodegroup-uid';

type Named = Pick<NodeGroup, 'metadata' | 'spec'>;

/** The Auto Scaling group of a NodeGroup: adopted by name, or derived from the object's uid. */
export const autoScalingGroupNameOf = ({ metadata, spec }: Named): string =>
  spec.autoScalingGroupName ?? `eks-${metadata.name}-${metadata.uid}`;

/** EKS gives each node group a uuid of its own, which is part of the Auto Scaling group's name. */
export const nodeGroupUuid = (group: Named): string =>
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(autoScalingGroupNameOf(group))?.[0] ??
  group.metadata.uid;

/** Whether deleting the NodeGroup keeps its Auto Scaling group and instances. */
export const isRetained = ({ spec }: Pick<NodeGroup, 'spec'>): boolean =>
  (spec.deletionPolicy ?? (spec.autoScalingGroupName === undefined ? 'Delete' : 'Retain')) ===
  'Retain';

/**
 * The derived launch template of the group, beside the user's own; the instance profile has the
 * same name.
 */
export const launchTemplateNameOf = (group: Named): string => `eks-${nodeGroupUuid(group)}`;

/** The security group that opens SSH where the group requests remote access, named as in EKS. */
export const remoteAccessGroupNameOf = (group: Named): string =>
  `eks-remoteAccess-${nodeGroupUuid(group)}`;

/** The largest EC2 volume of the type for node groups (gp3), in GiB. */
export const maxDiskGiB = 16_384;
