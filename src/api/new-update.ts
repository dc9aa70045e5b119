// The NodeGroupUpdate object that asks for an update, as it is sent to the API server. Every
// process that asks for one makes it here. Decides nothing.
import { defined } from './defined.ts';
import type { JsonObject } from './json.ts';
import type { ObjectMeta } from './kube.ts';
import type { NodeGroupUpdateSpec } from './nodegroup-update.ts';

const apiVersion = 'drover.dev/v1alpha1';

export interface NewUpdate {
  readonly name: string;
  /** The NodeGroup, which owns the update; absent where a user asks for it with kubectl. */
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
