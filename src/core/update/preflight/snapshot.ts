// Snapshot: everything that plan and preflight of an update know, read once. Plain data; what could
// not be read is named in `unread` with the reason, and the checks that need it say so. Never
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

/** What a check can ask for and may not have got. */
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
  /** Why the target cannot be: unknown release, no such template. */
  readonly problem?: string;
  /**
   * The version of the group's derived template, where the update makes no further one: what was
   * started from it or later is up to date. Absent: a further one is made, and only the labels of a
   * node can say that it is up to date.
   */
  readonly templateVersion?: string;
  /** The image of the target, where EC2 knows no such image. */
  readonly missingImage?: string;
  /** Set where the target's template brings its own. */
  readonly instanceTypes?: readonly string[];
}

export interface GroupFacts {
  readonly name: string;
  readonly cluster: string;
  /** Who carries the update out: a group that EKS manages is only looked at. */
  readonly managedBy: 'drover' | 'eks';
  /** EKS' word: ACTIVE, UPDATING, ... */
  readonly state?: string;
  readonly amiType: string;
  readonly capacityType: string;
  readonly instanceTypes: readonly string[];
  readonly subnets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly sizes: { readonly minSize: number; readonly maxSize: number; readonly desired: number };
  readonly strategy: UpdateStrategy;
  /** Nodes that may be out of service at once, resolved to a number. */
  readonly maxUnavailable: number;
  readonly force: boolean;
  readonly drainTimeoutSeconds: number;
  readonly cooldownSeconds: number;
  /** Of Drover's own strategies: what becomes of an update that finds no room for new nodes. */
  readonly onShortage?: ShortagePolicy;
  /**
   * What becomes of a step that does not succeed: the update's own policies, the group's, EKS'
   * numbers.
   */
  readonly policies?: Policies;
  /** Of blue/green alone: how long old nodes are kept empty, all of them and each batch. */
  readonly soakSeconds?: number;
  readonly batchSoakSeconds?: number;
  /** Work of people's own beside each node, and how long that took in earlier updates. */
  readonly hooks?: UpdateHooks;
  readonly hookTimes?: readonly HookTime[];
  /**
   * As it stands in the group: windows, freezes, waves, probes, approval and whatever else an
   * update goes by.
   */
  readonly updateConfig?: UpdateConfig;
  readonly current: RevisionFacts;
  /**
   * New nodes more than asked for that an earlier update could not drain: the next one takes them
   * back.
   */
  readonly leftover?: number;
  /** An update of it that runs now. */
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
  /** RFC 3339: when its instance was started. */
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
  /** The Auto Scaling group's name and its warm pool, where it has one. */
  readonly warmPool?: {
    readonly of: string;
    readonly instances: number;
    readonly state: string;
  };
}

/** What Auto Scaling did in this group before, or in others where it did nothing in this one. */
export interface ActivityFacts {
  readonly description: string;
  readonly cause?: string;
  readonly status: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly endedAt?: string;
}

/** What is known of how long things took here. */
export interface TimeFacts {
  readonly activities: readonly ActivityFacts[];
  /** Seconds from the begin of earlier updates until they went on to launches or marks. */
  readonly setups: readonly number[];
  /** The cloud is the embedded world: its usual times are known. */
  readonly isEmbedded?: true;
}

/**
 * A health probe of the group that does not pass now, or of which that cannot be told from here.
 */
export interface ProbeFact {
  readonly name: string;
  readonly object: { readonly kind: string; readonly name: string };
  /** `gone`: what it looks at is not there, and it cannot pass before it is. */
  readonly state: 'gone' | 'failing' | 'unknown';
  readonly message: string;
  /** What makes an unknown one known. */
  readonly remedy?: string;
}

export interface Snapshot {
  readonly now: EpochMs;
  readonly group: GroupFacts;
  readonly target: TargetFacts;
  /** All nodes of the cluster: pods of the old ones may land on others. */
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
  /** Absent: nothing is known. */
  readonly times?: TimeFacts;
  /** How long pods took to stop when nodes were drained, the oldest first. */
  readonly stopTimes?: readonly StopTimes[];
  /** CronJobs that hooks of the group name and that are not there. */
  readonly missingTemplates?: readonly { readonly hook: HookKind; readonly cronJob: string }[];
  readonly probes?: readonly ProbeFact[];
  /** When it could begin, and how long its window is then; absent = nothing is said of it. */
  readonly outlook?: Outlook;
  readonly unread: Readonly<Partial<Record<Part, string>>>;
}
