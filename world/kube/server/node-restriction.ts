// The admission plugin NodeRestriction: what a kubelet may write to its own node, to pods on it and
// to their objects. Upstream: plugin/pkg/admission/noderestriction (1.36). Does not apply to
// callers in the process, such as the simulated kubelets.
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { kubeletMaySet } from '../../../src/formats/index.ts';
import { values } from '../schema/index.ts';
import { named, nodeOfUser } from './node-authorizer.ts';
import {
  labelsOf,
  metadataOf,
  objectsOf,
  type Stored,
  specOf,
  statusOf,
  textOf,
  withFields,
  withMetadata,
} from './objects.ts';
import type { Admission } from './policy-match.ts';
import { forbidden, notFound } from './status.ts';
import { objectKey, type Store } from './store.ts';

const pods = { group: '', resource: 'pods' };
const nodes = { group: '', resource: 'nodes' };
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

export const isMirror = (pod: JsonObject): boolean =>
  objectOr(metadataOf(pod).annotations)[mirrorAnnotation] !== undefined;

/** The refusal in upstream's words; undefined allows the write. */
type Judge = (store: Store, node: string, admission: Admission) => string | undefined;

const changedLabels = (next: JsonObject, old: JsonObject): readonly string[] =>
  [...new Set([...Object.keys(next), ...Object.keys(old)])]
    .filter((key) => next[key] !== old[key] && !kubeletMaySet(key))
    .sort();

const judgeNodeWrite: Judge = (_, node, { name, operation, object, oldObject }) => {
  if (name !== node) return `node "${node}" is not allowed to modify node "${name}"`;
  if (object === undefined) return undefined;
  const labels = changedLabels(labelsOf(object), labelsOf(oldObject ?? {})).join(', ');
  const source = specOf(object).configSource;
  if (operation === 'CREATE') {
    if (source !== undefined) {
      return `node "${node}" is not allowed to create pods with a non-nil configSource`;
    }
    if (labels === '') return undefined;
    return `node "${node}" is not allowed to set the following labels: ${labels}`;
  }
  const old = specOf(oldObject ?? {});
  if (source !== undefined && !values.deepEqual(source, old.configSource)) {
    return `node "${node}" is not allowed to update configSource to a new non-nil configSource`;
  }
  const taints = (spec: JsonObject): Json => spec.taints ?? [];
  if (!values.deepEqual(taints(specOf(object)), taints(old))) {
    return `node "${node}" is not allowed to modify taints`;
  }
  // CVE-2025-5187: the garbage collector deletes a node whose owner does not exist.
  const owners = ({ ownerReferences }: JsonObject): Json => ownerReferences ?? [];
  if (!values.deepEqual(owners(metadataOf(object)), owners(metadataOf(oldObject ?? {})))) {
    return `node "${node}" is not allowed to modify ownerReferences`;
  }
  return labels === '' ? undefined : `is not allowed to modify labels: ${labels}`;
};

const ownerTrouble = (store: Store, node: string, pod: JsonObject): string | undefined => {
  const owners = objectsOf(metadataOf(pod).ownerReferences);
  const only = `node "${node}" can only create pods with`;
  const [owner] = owners;
  if (owners.length > 1) return `${only} a single owner reference set to itself`;
  const isNode = owner?.apiVersion === 'v1' && owner.kind === 'Node' && owner.name === node;
  if (!isNode) return `${only} an owner reference set to itself`;
  if (owner.controller !== true) return `${only} a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true) {
    return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  }
  const known = store.get(nodes, node);
  if (known === undefined) throw notFound(nodes, node);
  const { uid } = known.metadata;
  if (owner.uid === uid) return undefined;
  return `node ${node} UID mismatch: expected ${textOf(owner.uid) ?? ''} got ${uid}`;
};

const refersTo = (pod: JsonObject): string | undefined => {
  const spec = specOf(pod);
  const volumes = objectsOf(spec.volumes);
  const isProjected = (field: string): boolean =>
    volumes.some((volume) =>
      objectsOf(objectOr(volume.projected).sources).some((source) => source[field] !== undefined),
    );
  const isNamed = (kind: 'secret' | 'configMap'): boolean =>
    named(pod, kind).some((name) => name !== undefined);
  if ((textOf(spec.serviceAccountName) ?? '') !== '') return 'a service account';
  if (isNamed('secret') || objectsOf(spec.imagePullSecrets).length > 0) return 'secrets';
  if (isNamed('configMap')) return 'configmaps';
  if (isProjected('clusterTrustBundle')) return 'clustertrustbundles';
  const claims = volumes.some((volume) => volume.persistentVolumeClaim !== undefined);
  return claims ? 'persistentvolumeclaims' : undefined;
};

const judgePodCreate = (store: Store, node: string, pod: JsonObject): string | undefined => {
  if (!isMirror(pod)) {
    const lacks = `pod does not have "${mirrorAnnotation}" annotation`;
    return `${lacks}, node "${node}" can only create mirror pods`;
  }
  if (specOf(pod).nodeName !== node) {
    return `node "${node}" can only create pods with spec.nodeName set to itself`;
  }
  const owner = ownerTrouble(store, node, pod);
  if (owner !== undefined) return owner;
  const what = refersTo(pod);
  return what && `node "${node}" can not create pods that reference ${what}`;
};

/** The pod that a write refers to; 404 when it does not exist. */
const podOf = (store: Store, { namespace, name, oldObject }: Admission): JsonObject => {
  const pod = oldObject ?? store.get(pods, objectKey(namespace, name));
  if (pod === undefined) throw notFound(pods, name);
  return pod;
};

const judgePodStatus: Judge = (store, node, admission) => {
  const old = podOf(store, admission);
  const { object = {} } = admission;
  if (specOf(old).nodeName !== node) {
    return `node "${node}" can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!values.deepEqual(labelsOf(object), labelsOf(old))) {
    return `node "${node}" cannot update labels through pod status`;
  }
  const claims = (pod: JsonObject): Json => statusOf(pod).resourceClaimStatuses ?? [];
  if (values.deepEqual(claims(object), claims(old))) return undefined;
  return `node "${node}" cannot update resource claim statues`;
};

const judgePod: Judge = (store, node, admission) => {
  const { operation, subresource, object = {} } = admission;
  const isElsewhere = (): boolean => specOf(podOf(store, admission)).nodeName !== node;
  const own = 'pods with spec.nodeName set to itself';
  if (subresource === 'status') return judgePodStatus(store, node, admission);
  // Upstream quotes the name in all but one of its messages.
  if (subresource === 'eviction')
    return isElsewhere() ? `node ${node} can only evict ${own}` : undefined;
  if (subresource !== undefined) {
    const only = "only 'status' and 'eviction' are allowed";
    return `unexpected pod subresource "${subresource}", ${only}`;
  }
  if (operation === 'CREATE') return judgePodCreate(store, node, object);
  if (operation === 'DELETE')
    return isElsewhere() ? `node "${node}" can only delete ${own}` : undefined;
  const only = `node "${node}" can only create and delete mirror pods`;
  return `unexpected operation "${operation}", ${only}`;
};

/** Fields of a claim's status that a kubelet may change. */
const claimFields = {
  capacity: undefined,
  conditions: undefined,
  allocatedResources: undefined,
  allocatedResourceStatuses: undefined,
};
const restOfClaim = (claim: JsonObject): JsonObject =>
  withMetadata(withFields(claim, { status: withFields(statusOf(claim), claimFields) }), {
    resourceVersion: undefined,
    managedFields: undefined,
  });

const judgeClaim: Judge = (_, node, { subresource, object = {}, oldObject = {} }) => {
  if (subresource !== 'status') return 'may only update PVC status';
  if (values.deepEqual(restOfClaim(object), restOfClaim(oldObject))) return undefined;
  return (
    `node "${node}" is not allowed to update fields other than status.capacity and ` +
    'status.conditions'
  );
};

const judgeToken: Judge = (store, node, { subresource, operation, namespace, object = {} }) => {
  if (operation !== 'CREATE' || subresource !== 'token') return undefined;
  const { apiVersion, kind, name, uid } = objectOr(specOf(object).boundObjectRef);
  if (apiVersion !== 'v1' || kind !== 'Pod' || !name) {
    return 'node requested token not bound to a pod';
  }
  if (!uid) return 'node requested token with a pod binding without a uid';
  const pod = store.get(pods, objectKey(namespace, textOf(name) ?? '')) as Stored | undefined;
  if (pod === undefined) throw notFound(pods, textOf(name) ?? '');
  if (pod.metadata.uid !== uid) {
    return (
      `the UID in the bound object reference (${textOf(uid) ?? ''}) does not match the UID ` +
      'in record. ' +
      'The object might have been deleted and then recreated'
    );
  }
  if (specOf(pod).nodeName === node) return undefined;
  return 'node requested token bound to a pod scheduled on a different node';
};

const judges: Readonly<Record<string, Judge>> = {
  '/nodes': judgeNodeWrite,
  '/pods': judgePod,
  '/persistentvolumeclaims': judgeClaim,
  '/serviceaccounts': judgeToken,
  'coordination.k8s.io/leases': (_, node, { namespace, name }) => {
    if (namespace !== 'kube-node-lease') {
      return 'can only access leases in the "kube-node-lease" system namespace';
    }
    if (name === node) return undefined;
    return 'can only access node lease with the same name as the requesting node';
  },
  'storage.k8s.io/csinodes': (_, node, { name }) =>
    name === node ? undefined : 'can only access CSINode with the same name as the requesting node',
};

/** Throws the refusal. */
export function restrictNode(store: Store, admission: Admission): void {
  if (admission.trusted) return;
  const node = nodeOfUser(admission.user);
  if (node === undefined) return;
  const { definition, name } = admission;
  const trouble = judges[`${definition.group}/${definition.resource}`]?.(store, node, admission);
  if (trouble !== undefined) throw forbidden(definition, name, trouble);
}
