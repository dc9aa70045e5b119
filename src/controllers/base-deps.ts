// The dependencies of every controller that acts on nodes and groups. No behaviour.
import type { Node } from '../api/kube.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import type { Clock, CloudApi, Journal, KubeApi, Log, Metrics, Random } from '../ports/index.ts';
import type { Informer } from '../runtime/index.ts';

export interface BaseDeps {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  /** Absent = nothing is counted. */
  readonly metrics?: Metrics;
  readonly nodeGroups: Informer<NodeGroup>;
  readonly nodes: Informer<Node>;
}
