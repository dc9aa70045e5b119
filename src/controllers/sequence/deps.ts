// What the controller of update sequences works with. No behaviour.
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { NodeGroupUpdateSequence } from '../../api/update-sequence.ts';
import type { Clock, CloudApi, Journal, KubeApi, Log, Random } from '../../ports/index.ts';
import type { Informer } from '../../runtime/index.ts';

export interface SequenceDeps {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly nodes: Informer<Node>;
  readonly nodeGroups: Informer<NodeGroup>;
  readonly updates: Informer<NodeGroupUpdate>;
  readonly sequences: Informer<NodeGroupUpdateSequence>;
  /** Asked just before each effect; default: always. */
  readonly isLeader?: () => boolean;
}
