// The input of a decision about the repairs of one group, and the resulting plan. No behaviour.
import type { EpochMs } from '../../api/brand.ts';
import type { DisruptionCause, NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeRepair, NodeRepairSpec, NodeRepairStatus } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeHealth } from '../health/index.ts';

/** One instance that Auto Scaling has in service. */
export interface RepairMember {
  readonly instanceId: string;
  readonly availabilityZone: string;
  readonly node: Node | undefined;
  readonly health: NodeHealth;
  /** Its node is Ready and not marked for a drain. */
  readonly isInService: boolean;
}

/** A node of the whole cluster, for breakers that look beyond one group. */
export interface ClusterNode {
  readonly zone: string;
  readonly ready: 'True' | 'False' | 'Unknown';
  /** Since when `ready` has this value. */
  readonly since: EpochMs;
}

export interface RepairObservation {
  readonly group: NodeGroup;
  readonly desired: number;
  readonly members: readonly RepairMember[];
  /** All repairs of the group, including ended ones. */
  readonly repairs: readonly NodeRepair[];
  /** By instance id, for members and for instances with a repair. */
  readonly disruptions: ReadonlyMap<string, NodeDisruption>;
  /** Instances under repair that EC2 has terminated or is terminating. */
  readonly gone: ReadonlySet<string>;
  readonly cluster: readonly ClusterNode[];
  readonly now: EpochMs;
}

export type RepairStep =
  | { readonly kind: 'OpenRepair'; readonly name: string; readonly spec: NodeRepairSpec }
  | {
      readonly kind: 'WriteRepair';
      readonly name: string;
      readonly resourceVersion: string;
      readonly status: NodeRepairStatus;
    }
  | {
      readonly kind: 'RecordCause';
      readonly instanceId: string;
      readonly nodeName?: string;
      readonly cause: DisruptionCause;
    }
  | {
      /** Asks the node agent for a log bundle; null withdraws the request. */
      readonly kind: 'AskForBundle';
      readonly nodeName: string;
      readonly uid: string;
      readonly request: string | null;
    }
  | { readonly kind: 'WithdrawCause'; readonly disruption: string; readonly causeId: string }
  | { readonly kind: 'DeleteRepair'; readonly name: string; readonly uid: string };

export interface RepairPlan {
  /** The NodeGroup's name. */
  readonly subject: string;
  readonly steps: readonly RepairStep[];
  /** Each open repair as it is after the steps. */
  readonly outlook: readonly RepairOutlook[];
  readonly nextCheckAt: EpochMs;
}

export interface RepairOutlook {
  readonly name: string;
  readonly spec: NodeRepairSpec;
  readonly status: NodeRepairStatus;
}
