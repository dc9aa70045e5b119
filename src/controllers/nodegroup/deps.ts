// The dependencies of the node group controller. No behaviour.
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { Http } from '../../ports/index.ts';
import type { Informer } from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';

export interface NodeGroupDeps extends BaseDeps {
  /** For health probes; absent: HTTP probes fail. */
  readonly http?: Http;
  readonly disruptions: Informer<NodeDisruption>;
  readonly updates: Informer<NodeGroupUpdate>;
  readonly repairs: Informer<NodeRepair>;
  /** eks: hooks notify EKS' own topic, as in article 001. native: EventBridge only. */
  readonly compat: 'eks' | 'native';
  /**
   * The leader's term, greater than every earlier one. Absent: this process is the only one that
   * ever leads.
   */
  readonly epoch?: number;
}
