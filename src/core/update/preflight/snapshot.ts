// Snapshot: all input of an update's plan and preflight, read once. Plain data. Parts that could
// not be read are in `unread` with the reason, and the checks that need them report it. Never
// decides.
import type { EpochMs } from '../../../api/brand.ts';
import type { NodeDisruption } from '../../../api/disruption.ts';
import type { PodDisruptionBudget, Taint } from '../../../api/kube.ts';
import type { UpdateConfig } from '../../../api/nodegroup.ts';
import type { UpdateStrategy } from '../../../api/nodegroup-update.ts';
import type { StopTimes } from '../../../api/stop-times.ts';
import type { HookKind, HookTime, UpdateHooks } from '../../../api/update-hooks.ts';
import type { ShortagePolicy } from '../../../api/update-policy.ts';
import type {
  CsiNode,
  EndpointSlice,
  FullNode,
  FullPod,
  LimitRange,
  PersistentVolume,
  PersistentVolumeClaim,
  ResourceQuota,
  WebhookConfiguration,
  Workload,
} from '../../../api/workloads.ts';
import type { Outlook } from '../pacing/index.ts';
import type { Policies } from '../policy.ts';

/** Parts of the snapshot that a check may need and that may not have been read. */
export type Part =
  | 'nodes'
  | 'pods'
  | 'budgets'
  | 'workloads'
  | 'volumes'
  | 'quotas'
  | 'webhooks'
  | 'endpoints'
  | 'disruptions'
  | 'scalingGroup'
  | 'subnets'
  | 'instanceTypes'
  | 'images'
  | 'controlPlane'
  | 'accountQuotas'
  | 'hooks'
  | 'probes'
  | 'activities';

export interface RevisionFacts {
  /** Kubernetes minor version, `1.32`. */
  readonly version?: string;
  readonly releaseVersion?: string;
  readonly imageId?: string;
  readonly architecture?: string;
  readonly launchTemplate?: { readonly id: string; readonly version: string };
}

export interface TargetFacts extends RevisionFacts {
  /** Why the target is impossible: unknown release, no such template. */
  readonly problem?: string;
  /**
   * The version of the group's derived template, if the update creates no further version:
   * instances of this or a later version are up to date. Absent: a version is created, and only a
   * node's labels can show that it is up to date.
   */
  readonly templateVersion?: string;
  /** The image of the target, if it does not exist in EC2. */
  readonly missingImage?: string;
  /** Set if the target's launch template names instance types. */
  readonly instanceTypes?: readonly string[];
}

export interface GroupFacts {
  readonly name: string;
  readonly cluster: string;
  /** The system that carries the update out; Drover only reads a group that EKS manages. */
  readonly managedBy: 'drover' | 'eks';
  /** EKS' status: ACTIVE, UPDATING, ... */
  readonly state?: string;
  readonly amiType: string;
  readonly capacityType: string;
  readonly instanceTypes: readonly string[];
  readonly subnets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly sizes: { readonly minSize: number; readonly maxSize: number; readonly desired: number };
  readonly strategy: UpdateStrategy;
  /** Maximum number of unavailable nodes, resolved to a number. */
  readonly maxUnavailable: number;
  readonly force: boolean;
  readonly drainTimeoutSeconds: number;
  /** How long a drain waits for pods before it evicts them; absent: not at all, as in EKS. */
  readonly podWaits?: { readonly doNotEvictSeconds: number; readonly jobsSeconds: number };
  readonly cooldownSeconds: number;
  /** Drover's own strategies only: what the update does without capacity for new nodes. */
  readonly onShortage?: ShortagePolicy;
  /** The resolved policies: the update's, then the group's, then EKS' values. */
  readonly policies?: Policies;
  /** Blue/green only: how long all old nodes, and those of each batch, are kept empty. */
  readonly soakSeconds?: number;
  readonly batchSoakSeconds?: number;
  /** Hooks that run for each node, and how long they took in earlier updates. */
  readonly hooks?: UpdateHooks;
  readonly hookTimes?: readonly HookTime[];
  /** The group's own settings: windows, freezes, waves, probes, approval and others. */
  readonly updateConfig?: UpdateConfig;
  readonly current: RevisionFacts;
  /** Surplus new nodes that an earlier update could not drain; the next update removes them. */
  readonly leftover?: number;
  /** The group's update in progress. */
  readonly activeUpdate?: string;
}

export interface PlannedNode {
  readonly node: FullNode;
  /** A node of the group that is not of the target revision. */
  readonly isOld: boolean;
  readonly isOfGroup: boolean;
  readonly zone: string;
  readonly instanceId?: string;
  readonly instanceType?: string;
  /** RFC 3339: launch time of its instance. */
  readonly launchTime?: string;
}

export interface SubnetFacts {
  readonly id: string;
  readonly zone: string;
  readonly freeAddresses: number;
}

export interface InstanceTypeFact {
  readonly name: string;
  readonly interfaces: number;
  readonly addressesPerInterface: number;
  readonly vcpus: number;
  readonly architectures: readonly string[];
}

export interface AccountQuota {
  /** As Service Quotas names it. */
  readonly name: string;
  readonly code: string;
  readonly unit: 'vCPU' | 'GiB' | 'interfaces';
  readonly limit: number;
  readonly used: number;
}

export interface ScalingFacts {
  readonly instances: readonly {
    readonly instanceId: string;
    readonly lifecycleState: string;
    readonly zone: string;
  }[];
  /** The Auto Scaling group's name and its warm pool, if it has one. */
  readonly warmPool?: {
    readonly of: string;
    readonly instances: number;
    readonly state: string;
  };
}

/** Earlier scaling activities of this group, or of other groups if it has none. */
export interface ActivityFacts {
  readonly description: string;
  readonly cause?: string;
  readonly status: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly endedAt?: string;
}

/** Durations measured in this cluster. */
export interface TimeFacts {
  readonly activities: readonly ActivityFacts[];
  /** Seconds from the start of earlier updates until their first launches or marks. */
  readonly setups: readonly number[];
  /** The cloud is the embedded world, whose usual durations are known. */
  readonly isEmbedded?: true;
}

/** A health probe of the group that does not pass, or whose result is unknown here. */
export interface ProbeFact {
  readonly name: string;
  readonly object: { readonly kind: string; readonly name: string };
  /** `gone`: the object that the probe reads does not exist, so it cannot pass. */
  readonly state: 'gone' | 'failing' | 'unknown';
  readonly message: string;
  /** How to make an unknown result known. */
  readonly remedy?: string;
}

export interface Snapshot {
  readonly now: EpochMs;
  readonly group: GroupFacts;
  readonly target: TargetFacts;
  /** All nodes of the cluster, since pods of old nodes may be scheduled to others. */
  readonly nodes: readonly PlannedNode[];
  readonly pods: readonly FullPod[];
  readonly budgets: readonly PodDisruptionBudget[];
  readonly workloads: readonly Workload[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
  readonly csiNodes: readonly CsiNode[];
  readonly quotas: readonly ResourceQuota[];
  readonly limitRanges: readonly LimitRange[];
  readonly webhooks: readonly WebhookConfiguration[];
  readonly endpointSlices: readonly EndpointSlice[];
  readonly disruptions: readonly NodeDisruption[];
  readonly scalingGroup?: ScalingFacts;
  readonly subnets: readonly SubnetFacts[];
  readonly instanceTypes: readonly InstanceTypeFact[];
  readonly accountQuotas: readonly AccountQuota[];
  /** Minor version of the API server, `1.32`. */
  readonly controlPlaneVersion?: string;
  /** Absent: no durations are known. */
  readonly times?: TimeFacts;
  /** Measured pod stop times of earlier drains, oldest first. */
  readonly stopTimes?: readonly StopTimes[];
  /** CronJobs named by the group's hooks that do not exist. */
  readonly missingTemplates?: readonly { readonly hook: HookKind; readonly cronJob: string }[];
  readonly probes?: readonly ProbeFact[];
  /** When the update could begin, and the length of its window; absent: unknown. */
  readonly outlook?: Outlook;
  readonly unread: Readonly<Partial<Record<Part, string>>>;
}
