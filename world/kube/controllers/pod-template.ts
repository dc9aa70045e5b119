// The pod that a controller creates from its template. Pure.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { Labels, PodTemplate } from '../actors/index.ts';

/** The controlling owner reference that a controller sets on objects it creates. */
export const controllerReference = (owner: KubeObject): JsonObject => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

interface FromOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly generateName: string;
  readonly ownerReferences: readonly JsonObject[];
}

/** Shared by all pods of an owner. Only a cache, never state. */
const fromOwners = new Map<string, FromOwner>();
const maxOwners = 1000;

const fromOwner = (owner: KubeObject): FromOwner => {
  const { apiVersion, kind } = owner;
  const { name, uid } = owner.metadata;
  const known = fromOwners.get(uid);
  // Another world of this process may have assigned the same uid to another object.
  const isSame = known?.name === name && known.kind === kind && known.apiVersion === apiVersion;
  if (known !== undefined && isSame) return known;
  const ownerReferences = [controllerReference(owner)];
  const fresh = { apiVersion, kind, name, generateName: `${name}-`, ownerReferences };
  if (fromOwners.size >= maxOwners) fromOwners.clear();
  fromOwners.set(uid, fresh);
  return fresh;
};

/** generateName is `<owner>-`: the API server appends five characters. */
export const podFromTemplate = (
  owner: KubeObject,
  template: PodTemplate,
  more: { readonly labels?: Labels; readonly spec?: JsonObject } = {},
): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    generateName: fromOwner(owner).generateName,
    ...defined({ namespace: owner.metadata.namespace }),
    labels:
      more.labels === undefined
        ? (template.metadata?.labels ?? {})
        : { ...template.metadata?.labels, ...more.labels },
    ...defined({ annotations: template.metadata?.annotations }),
    ownerReferences: fromOwner(owner).ownerReferences,
  },
  spec: { ...template.spec, ...more.spec },
});
