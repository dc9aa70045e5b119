// The dependencies of the controller of update sequences. No behaviour.
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { NodeGroupUpdateSequence } from '../../api/update-sequence.ts';
import type { Informer } from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';

export interface SequenceDeps extends BaseDeps {
  readonly updates: Informer<NodeGroupUpdate>;
  readonly sequences: Informer<NodeGroupUpdateSequence>;
}
