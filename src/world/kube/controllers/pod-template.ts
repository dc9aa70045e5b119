// The pod that a controller creates from its template. Pure.
import type { JsonObject } from '../../../api/json.ts';
import type { KubeObject } from '../../../api/kube.ts';
import type { Labels, PodTemplate } from '../actors/index.ts';

/** The controlling owner reference that a controller puts on what it makes. */
export const controllerReference = (owner: KubeObject): JsonObject => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** generateName is `<owner>-`: the API server appends five characters. */
export const podFromTemplate = (
  owner: KubeObject,
  template: PodTemplate,
  more: { readonly labels?: Labels; readonly spec?: JsonObject } = {},
): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    generateName: `${owner.metadata.name}-`,
    ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
    labels: { ...template.metadata?.labels, ...more.labels },
    ...(template.metadata?.annotations === undefined
      ? {}
      : { annotations: template.metadata.annotations }),
    ownerReferences: [controllerReference(owner)],
  },
  spec: { ...template.spec, ...more.spec },
});
