// Builds the NodeRepair object of an episode. The controller and `drover repair` use this function.
// Decides nothing.
import type { JsonObject } from './json.ts';
import type { ObjectMeta } from './kube.ts';
import type { NodeRepairSpec } from './node-repair.ts';

const apiVersion = 'drover.dev/v1alpha1';

export interface NewRepair {
  readonly name: string;
  /** The NodeGroup that owns the repair. */
  readonly owner: Pick<ObjectMeta, 'name' | 'uid'>;
  readonly spec: NodeRepairSpec;
}

export const newRepair = ({ name, owner, spec }: NewRepair): JsonObject => ({
  apiVersion,
  kind: 'NodeRepair',
  metadata: {
    name,
    ownerReferences: [{ apiVersion, kind: 'NodeGroup', name: owner.name, uid: owner.uid }],
  },
  spec: { ...spec },
});
