// The dependencies of the repair controller. No behaviour.
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { Informer } from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';

export interface RepairDeps extends BaseDeps {
  readonly disruptions: Informer<NodeDisruption>;
  readonly repairs: Informer<NodeRepair>;
}
