// The drain policy of a NodeGroup (`spec.drain`): types, bounds and defaults only. No field is
// needed; every wait ends early where a deadline forces.
import type { LabelSelector } from './kube.ts';

export interface DrainTier {
  /** Pods of this priority and above, up to the next tier. */
  readonly priority: number;
  /**
   * The next tier begins when no pod of this tier is left, or after this wait at the latest,
   * counted from the end of the earlier tiers' waits. Every tier begins within half of the time to
   * the deadline; absent: that half is the only limit.
   */
  readonly waitSeconds?: number;
}

export interface DrainPolicy {
  /** Pods are forced this long after the notice; default: 15 minutes, as in EKS. */
  readonly timeoutSeconds?: number;
  readonly onDeadline?: 'force' | 'fail';
  /** Applications that move themselves when an eviction is requested. */
  readonly selfMoving?: {
    /**
     * Selects more pods of such applications, beside those that Drover recognizes without a
     * selector.
     */
    readonly podSelector?: LabelSelector;
    /** Seconds from a refused request to the next one for a pod, 10 to 3600; default 60. */
    readonly requestEverySeconds?: number;
  };
  /** Pods whose owner asked not to evict them. */
  readonly doNotEvict?: { readonly waitSeconds?: number };
  /** Pods of Jobs, which may complete. */
  readonly jobs?: { readonly waitSeconds?: number };
  /** Order of evictions by priority. */
  readonly tiers?: readonly DrainTier[];
  /** Seconds between two forced deletions on a node; default 0. */
  readonly forceIntervalSeconds?: number;
  /** Target groups of load balancers in which the instance is a target. */
  readonly loadBalancers?: {
    /**
     * Seconds that the first eviction waits until load balancers send the node no new connections.
     */
    readonly beforeSeconds?: number;
    /**
     * Seconds from the end of the last pod that the termination of the instance waits until load
     * balancers have deregistered it.
     */
    readonly afterSeconds?: number;
  };
  /** What happens to an instance whose drain failed; default terminate. */
  readonly onFailure?: 'terminate' | 'retain';
  /** Further lifecycle hooks of the Auto Scaling group that Drover completes, by name. */
  readonly lifecycleHooks?: readonly string[];
  /** When the launch hook is completed. */
  readonly launch?: {
    /** Keys of taints that must be gone from the Ready node. */
    readonly startupTaints?: readonly string[];
  };
  /** An instance that joins after its drain found no node. */
  readonly lateNodes?: { readonly withinSeconds?: number };
  /** Whether an instance that EC2 stops is drained; default Drain. */
  readonly stateChanges?: 'Drain' | 'Ignore';
  /** Zones whose nodes are kept out of load balancers and cordoned, with all their pods. */
  readonly zoneShift?: { readonly zones: readonly string[] };
  /** Deployments that ask to be scaled up before their pods go. */
  readonly surge?: { readonly waitSeconds?: number };
  /** Volumes of pods that are gone: how long they may take to be detached from the instance. */
  readonly volumes?: { readonly waitSeconds?: number };
}

/** At most two days, as a lifecycle hook lasts. */
export const maxDrainWaitSeconds = 172_800;
export const maxTiers = 16;
export const maxForceIntervalSeconds = 600;
/** Longest wait for pods with a do-not-evict annotation, and for pods of Jobs. */
export const defaultPodWaitSeconds = 600;
/** Longest wait for volumes to be detached: a driver needs seconds, a retry a minute. */
export const defaultVolumeWaitSeconds = 120;
/**
 * A load balancer stops sending within seconds of the node's label; the deregistration delay of a
 * target group is 300 s by default.
 */
export const defaultLoadBalancerWaits = { beforeSeconds: 15, afterSeconds: 330 } as const;
/** A terminated instance disappears within minutes of the end of its hook. */
export const defaultLateNodeSeconds = 1_800;
export const maxPolicyNames = 16;
/** Longest wait for the replacements of a Deployment that asks for them: they start in minutes. */
export const defaultSurgeWaitSeconds = 300;
