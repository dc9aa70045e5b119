// What the node group controller works with. No behaviour.
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { Http } from '../../ports/index.ts';
import type { Informer } from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';

export interface NodeGroupDeps extends BaseDeps {
  /** For health probes; absent = those by HTTP fail. */
  readonly http?: Http;
  readonly disruptions: Informer<NodeDisruption>;
  readonly updates: Informer<NodeGroupUpdate>;
  readonly repairs: Informer<NodeRepair>;
  /** eks: hooks tell EKS' own topic, as article 001 prints them. native: EventBridge alone. */
  readonly compat: 'eks' | 'native';
  /**
   * Of the leader's term, greater than every earlier one's; absent = no other process ever leads.
   */
  readonly epoch?: number;
}
