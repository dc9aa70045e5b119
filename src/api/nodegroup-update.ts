// NodeGroupUpdate (drover.dev/v1alpha1): one update of a node group, EKS' Update. `spec` never
// changes; `status` is written by the controller alone.
import type { KubeObject, Taint } from './kube.ts';
import type { HealthIssue, NodeRepairConfig, UpdateConfig } from './nodegroup.ts';

export interface NodeGroupChange {
  readonly scaling?: {
    readonly minSize?: number;
    readonly maxSize?: number;
    readonly desired?: number;
  };
  readonly addLabels?: Readonly<Record<string, string>>;
  readonly removeLabels?: readonly string[];
  readonly addTaints?: readonly Taint[];
  readonly removeTaints?: readonly Taint[];
  readonly updateConfig?: UpdateConfig;
  readonly nodeRepairConfig?: NodeRepairConfig;
}

export interface NodeGroupUpdateSpec {
  readonly nodeGroup: string;
  readonly type: 'ConfigUpdate' | 'VersionUpdate';
  /** As EKS tells them: type and value, both texts. */
  readonly params: readonly { readonly type: string; readonly value: string }[];
  readonly change: NodeGroupChange;
}

export interface NodeGroupUpdateStatus {
  readonly status: 'InProgress' | 'Successful' | 'Failed' | 'Cancelled';
  /** Applied: the change stands in the NodeGroup, from this generation on. */
  readonly phase?: 'Applied';
  readonly generation?: number;
  readonly endedAt?: string;
  readonly errors?: readonly HealthIssue[];
}

export interface NodeGroupUpdate extends KubeObject {
  readonly spec: NodeGroupUpdateSpec;
  readonly status?: NodeGroupUpdateStatus;
}

/** EKS' word; an update that nobody has looked at yet is in progress. */
export const updateStatusOf = ({ status }: NodeGroupUpdate): NodeGroupUpdateStatus['status'] =>
  status?.status ?? 'InProgress';
