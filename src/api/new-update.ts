// Builds the NodeGroupUpdate object that requests an update. Every process that requests one uses
// this function. Decides nothing.
import { defined } from './defined.ts';
import type { JsonObject } from './json.ts';
import type { ObjectMeta } from './kube.ts';
import type { NodeGroupUpdateSpec } from './nodegroup-update.ts';

const apiVersion = 'drover.dev/v1alpha1';

export interface NewUpdate {
  readonly name: string;
  /** The NodeGroup that owns the update; absent where a user creates it with kubectl. */
  readonly owner?: Pick<ObjectMeta, 'name' | 'uid'>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec: NodeGroupUpdateSpec;
}

export const newUpdate = (asked: NewUpdate): JsonObject => {
  const { name, owner, annotations, finalizers, spec } = asked;
  const ownerReferences = owner && [
    { apiVersion, kind: 'NodeGroup', name: owner.name, uid: owner.uid },
  ];
  return {
    apiVersion,
    kind: 'NodeGroupUpdate',
    metadata: { name, ...defined({ ownerReferences, annotations, finalizers }) },
    spec: JSON.parse(JSON.stringify(spec)) as JsonObject,
  };
};
