// What the node group controller works with. No behaviour.
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { Clock, CloudApi, Http, Journal, KubeApi, Log, Random } from '../../ports/index.ts';
import type { Informer } from '../../runtime/index.ts';

export interface NodeGroupDeps {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  /** For health probes; absent = those by HTTP fail. */
  readonly http?: Http;
  readonly nodeGroups: Informer<NodeGroup>;
  readonly nodes: Informer<Node>;
  readonly disruptions: Informer<NodeDisruption>;
  readonly updates: Informer<NodeGroupUpdate>;
  /** eks: hooks tell EKS' own topic, as article 001 prints them. native: EventBridge alone. */
  readonly compat: 'eks' | 'native';
  /**
   * Of the leader's term, greater than every earlier one's; absent = no other process ever leads.
   */
  readonly epoch?: number;
}
