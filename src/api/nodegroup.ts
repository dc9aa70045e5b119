// NodeGroup (drover.dev/v1alpha1): what EKS calls a nodegroup. `spec` is what people ask, `status`
// what is there and what was taken note of. Nothing here decides.
import type { Condition, KubeObject, Taint } from './kube.ts';
import type { NodeRepairPolicy } from './node-repair.ts';
import type { UpdateHooks } from './update-hooks.ts';
import type { UpdatePacing } from './update-pacing.ts';
import type { UpdatePolicies } from './update-policy.ts';

export interface NodeGroupScaling {
  readonly minSize: number;
  readonly maxSize: number;
  /** A change of it is a request; left out, the Auto Scaling group's own value stands. */
  readonly desired?: number;
}

/**
 * EKS' three fields; when a step may begin, whatever the strategy; what happens when one does not
 * succeed and what runs beside it, of Drover's own strategies alone.
 */
export interface UpdateConfig extends UpdatePolicies, UpdatePacing {
  readonly maxUnavailable?: number;
  readonly maxUnavailablePercentage?: number;
  /** EKS' two, and Drover's own two. */
  readonly updateStrategy?: 'DEFAULT' | 'MINIMAL' | 'SURGE' | 'BLUE_GREEN';
  readonly hooks?: UpdateHooks;
}

/** EKS' nodeRepairConfig, kept as given. */
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
  /** Adopts a group that exists; absent = eks-<name>-<uid>, created by us. */
  readonly autoScalingGroupName?: string;
  readonly amiType: string;
  readonly capacityType: 'ON_DEMAND' | 'SPOT';
  readonly instanceTypes: readonly string[];
  readonly version: string;
  /** Absent = the newest of the family at creation; status tells which. */
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
  /**
   * Whether Drover installs its lifecycle hooks and puts them back when they vanish; default
   * Manage.
   */
  readonly lifecycleHooks?: 'Manage' | 'Leave';
  /**
   * What deleting the NodeGroup does to its Auto Scaling group and instances; default: Retain for
   * an adopted group, Delete for a group that Drover created.
   */
  readonly deletionPolicy?: 'Delete' | 'Retain';
  readonly drain?: {
    /** Pods are forced this long after the notice; default: 15 minutes, as EKS. */
    readonly timeoutSeconds?: number;
    readonly onDeadline?: 'force' | 'fail';
  };
}

export interface HealthIssue {
  /** One of EKS' codes, e.g. NodeCreationFailure. */
  readonly code: string;
  readonly message: string;
  readonly resourceIds: readonly string[];
}

/** EKS' words. */
export type NodeGroupState =
  | 'CREATING'
  | 'ACTIVE'
  | 'UPDATING'
  | 'DELETING'
  | 'CREATE_FAILED'
  | 'DELETE_FAILED'
  | 'DEGRADED';

/** Sizes of an Auto Scaling group, each where it was set. */
interface SizesSet {
  readonly desired?: number;
  readonly minSize?: number;
  readonly maxSize?: number;
}

/** What a leader was about to ask Auto Scaling for. */
export interface SizeCall extends SizesSet {
  /** Of the leader's term. */
  readonly epoch: number;
  readonly at: string;
  /** It arrived after another took over: the sizes that the group had, and goes back to. */
  readonly instead?: SizesSet;
}

/** What a group's nodes are made of. */
export interface Revision {
  readonly version: string;
  readonly releaseVersion?: string;
  readonly imageId: string;
  /** Of the template that Drover derives; older ones are older revisions. */
  readonly templateVersion: string;
  /** Of the user's own template. */
  readonly launchTemplate?: NonNullable<NodeGroupSpec['launchTemplate']>;
}

/** What setting an update back needs to know. */
export interface UpdateNote {
  readonly name: string;
  /** Its place among the updates of the group (`turnAnnotation`). */
  readonly turn?: string;
  readonly strategy: NonNullable<UpdateConfig['updateStrategy']>;
  readonly from: Revision;
  readonly target: Revision;
  readonly original: {
    readonly minSize: number;
    readonly maxSize: number;
    readonly desired: number;
  };
  /** Of before, when it began. */
  readonly nodes: number;
  readonly surge: number;
  readonly maxUnavailable: number;
  readonly suspends?: readonly string[];
  /** The leader's term in which that was noted. */
  readonly suspendedIn?: number;
  /** Left out while it runs. */
  readonly skippedTypes?: readonly string[];
  readonly restored?: string;
}

/** What AWS and the nodes say of an adopted group. */
export interface AdoptedFacts
  extends Partial<Pick<NodeGroupSpec, 'nodeRole' | 'launchTemplate' | 'version'>>,
    Pick<NodeGroupSpec, 'clusterName' | 'capacityType' | 'instanceTypes' | 'subnets'> {
  readonly minSize: number;
  readonly maxSize: number;
  /** The image that the launch template names. */
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
  /** Instances per version of the launch template that they were started from. */
  readonly perTemplateVersion?: Readonly<Record<string, number>>;
  readonly autoScalingGroupName?: string;
  readonly releaseVersion?: string;
  readonly imageId?: string;
  /** Set once the group was whole for the first time: it is never CREATING again. */
  readonly createdAt?: string;
  /** `spec.scaling` as taken note of: written before the first effect of a request. */
  readonly requested?: NodeGroupScaling;
  /** A scale-in or delete of ours that is under way; `id` is that of its causes. */
  readonly scaleIn?: { readonly id: string; readonly target: number; readonly since: string };
  /** Why the last request ended without being carried out; gone with the next. */
  readonly failure?: HealthIssue & { readonly generation: number; readonly at: string };
  /** The last version update, where it failed: health tells why, until one is Successful. */
  readonly failedUpdate?: string;
  /**
   * Labels and taints of the spec that were set on nodes: what leaves the spec leaves the nodes.
   */
  readonly nodeLabels?: readonly string[];
  readonly nodeTaints?: readonly { readonly key: string; readonly effect: string }[];
  /**
   * A digest of the labels and taints that every node was given, and since when. What somebody
   * takes off a node afterwards (an agent its start-up taint) is not put back. `owed`: instances
   * whose node could not be patched and is tried again, or whose node is gone and gets them when it
   * registers again.
   */
  readonly nodeMarks?: {
    readonly applied: string;
    readonly since: string;
    readonly owed?: readonly string[];
  };
  /** The generation of the spec whose labels and taints the launch template has. */
  readonly templateGeneration?: number;
  /**
   * What of the Auto Scaling group's size is an update's. Written before its effect. `base`: how
   * many there are to be besides, where the spec states no desired. `retiring`: how many it was
   * ending with decrement when the group was looked at; `desired` above counts them, the surge does
   * not. `carried`: what of `desired` above is the update's. `left`: how many that it ended with
   * decrement had left by then. `takenUntil`: others' terminations with decrement up to that one,
   * in Auto Scaling's time, are accounted for. `next`: what the call of ours that follows makes of
   * the group; absent: none does.
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
   * Written before the calls, where processes take turns to lead: which sizes are no wish of
   * anybody's.
   */
  readonly sizeCalls?: readonly SizeCall[];
  /**
   * The version update that is under way: written before its first effect, so that nothing of it
   * stays when its object vanishes.
   */
  readonly updating?: UpdateNote;
  /** What spec.version, releaseVersion and launchTemplate asked for when last taken note of. */
  readonly requestedRevision?: Pick<NodeGroupSpec, 'version' | 'releaseVersion' | 'launchTemplate'>;
  /** That of the spec or, for an adopted group, of its Auto Scaling group. */
  readonly capacityType?: NodeGroupSpec['capacityType'];
  /** The Kubernetes version of the nodes: that of the last update that was successful. */
  readonly version?: string;
  /** Of the user's own template: what all nodes were last made from. */
  readonly launchTemplate?: NonNullable<NodeGroupSpec['launchTemplate']>;
  /** What AWS says of an adopted group, for the fields that its spec leaves out. */
  readonly adopted?: AdoptedFacts;
  readonly health?: readonly HealthIssue[];
  readonly conditions?: readonly Condition[];
}

export interface NodeGroup extends KubeObject {
  /** Complete also for an adopted group whose object leaves fields out (adopted.ts). */
  readonly spec: NodeGroupSpec;
  /** Never written: the spec as the object states it, where `spec` has more. */
  readonly stated?: Partial<NodeGroupSpec>;
  readonly status?: NodeGroupStatus;
}

/** Holds a NodeGroup until nothing of it is left in the cloud. */
export const nodeGroupFinalizer = 'drover.dev/nodegroup';
/** On a NodeGroup: scale-in and delete as EKS does them, without waiting for budgets. */
export const forceAnnotation = 'drover.dev/force';
/** The `at` of the failed delete that was asked for once more: it is tried again at once. */
export const deleteAgainAnnotation = 'drover.dev/delete-again';
/** The generation that a write-back of sizes produced: no request of anybody's. */
export const followedAnnotation = 'drover.dev/followed-generation';
/** The token and input that a create through EKS came with. */
export const clientTokenAnnotation = 'drover.dev/client-request-token';
/** On what we create in the cloud: the uid of the NodeGroup that owns it. */
export const ownerTag = 'drover.dev/nodegroup-uid';

type Named = Pick<NodeGroup, 'metadata' | 'spec'>;

/** The Auto Scaling group of a NodeGroup: adopted by name, else derived from the object's uid. */
export const autoScalingGroupNameOf = ({ metadata, spec }: Named): string =>
  spec.autoScalingGroupName ?? `eks-${metadata.name}-${metadata.uid}`;

/** EKS gives node groups a uuid of their own; the Auto Scaling group's name carries it. */
export const nodeGroupUuid = (group: Named): string =>
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(autoScalingGroupNameOf(group))?.[0] ??
  group.metadata.uid;

/** Whether a delete of the NodeGroup leaves its Auto Scaling group and instances as they are. */
export const isRetained = ({ spec }: Pick<NodeGroup, 'spec'>): boolean =>
  (spec.deletionPolicy ?? (spec.autoScalingGroupName === undefined ? 'Delete' : 'Retain')) ===
  'Retain';

/**
 * The launch template that is derived for the group, beside the user's own; so is its instance
 * profile.
 */
export const launchTemplateNameOf = (group: Named): string => `eks-${nodeGroupUuid(group)}`;

/** The security group that opens SSH where the group asks for remote access, as EKS names it. */
export const remoteAccessGroupNameOf = (group: Named): string =>
  `eks-remoteAccess-${nodeGroupUuid(group)}`;

/** EC2's largest volume of the kind that node groups get (gp3), in GiB. */
export const maxDiskGiB = 16_384;
