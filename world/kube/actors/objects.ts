// Helpers that every actor needs for objects: keys, readiness, owners, conditions, and the table of
// collections by name. Pure; never reads the API server.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { ApiStatus, GroupResource } from '../../contracts.ts';
import type { Cond, Meta, Owner, PodView } from './types.ts';

export const resources = {
  pods: { group: '', resource: 'pods' },
  nodes: { group: '', resource: 'nodes' },
  namespaces: { group: '', resource: 'namespaces' },
  configmaps: { group: '', resource: 'configmaps' },
  events: { group: '', resource: 'events' },
  services: { group: '', resource: 'services' },
  serviceaccounts: { group: '', resource: 'serviceaccounts' },
  leases: { group: 'coordination.k8s.io', resource: 'leases' },
  deployments: { group: 'apps', resource: 'deployments' },
  replicasets: { group: 'apps', resource: 'replicasets' },
  daemonsets: { group: 'apps', resource: 'daemonsets' },
  statefulsets: { group: 'apps', resource: 'statefulsets' },
  controllerrevisions: { group: 'apps', resource: 'controllerrevisions' },
  jobs: { group: 'batch', resource: 'jobs' },
  cronjobs: { group: 'batch', resource: 'cronjobs' },
  persistentvolumes: { group: '', resource: 'persistentvolumes' },
  persistentvolumeclaims: { group: '', resource: 'persistentvolumeclaims' },
  replicationcontrollers: { group: '', resource: 'replicationcontrollers' },
  poddisruptionbudgets: { group: 'policy', resource: 'poddisruptionbudgets' },
  endpoints: { group: '', resource: 'endpoints' },
  endpointslices: { group: 'discovery.k8s.io', resource: 'endpointslices' },
  horizontalpodautoscalers: { group: 'autoscaling', resource: 'horizontalpodautoscalers' },
  storageclasses: { group: 'storage.k8s.io', resource: 'storageclasses' },
  volumeattachments: { group: 'storage.k8s.io', resource: 'volumeattachments' },
  certificatesigningrequests: {
    group: 'certificates.k8s.io',
    resource: 'certificatesigningrequests',
  },
  roles: { group: 'rbac.authorization.k8s.io', resource: 'roles' },
  rolebindings: { group: 'rbac.authorization.k8s.io', resource: 'rolebindings' },
  clusterroles: { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  clusterrolebindings: { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  priorityclasses: { group: 'scheduling.k8s.io', resource: 'priorityclasses' },
} as const satisfies Readonly<Record<string, GroupResource>>;

type Named = { readonly metadata: { readonly name: string; readonly namespace?: string } };

/** `namespace/name`, or `name` for a cluster-scoped object: the key of a work queue. */
export const keyOf = ({ metadata }: Named): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;

export const nameOfKey = (key: string): { readonly namespace?: string; readonly name: string } => {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

export const controllerOf = (object: { readonly metadata: Meta }): Owner | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true);

export const conditionOf = (
  conditions: readonly Cond[] | undefined,
  type: string,
): Cond | undefined => conditions?.find((condition) => condition.type === type);

/**
 * `conditions` with `next` set. Keeps lastTransitionTime while the status is unchanged, and the
 * position in the list. Returns the same array when nothing changed.
 */
export const withCondition = (
  conditions: readonly Cond[],
  next: Omit<Cond, 'lastTransitionTime'>,
  now: string,
): readonly Cond[] => {
  const at = conditions.findIndex((condition) => condition.type === next.type);
  const old = conditions[at];
  if (
    old !== undefined &&
    old.status === next.status &&
    old.reason === next.reason &&
    old.message === next.message &&
    old.observedGeneration === next.observedGeneration &&
    old.lastUpdateTime === next.lastUpdateTime
  ) {
    return conditions;
  }
  const since = old?.status === next.status ? (old.lastTransitionTime ?? now) : now;
  const fresh: Cond = { ...next, lastTransitionTime: since };
  return old === undefined ? [...conditions, fresh] : conditions.with(at, fresh);
};

export const isTerminating = (object: { readonly metadata: Meta }): boolean =>
  object.metadata.deletionTimestamp !== undefined;

export const isFinished = (pod: PodView): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** The pod counts for its owner: neither finished nor terminating. */
export const isActive = (pod: PodView): boolean => !isFinished(pod) && !isTerminating(pod);

export const isReady = (pod: PodView): boolean =>
  conditionOf(pod.status?.conditions, 'Ready')?.status === 'True';

/**
 * The controller that a change removed from the object; undefined when the controller is unchanged.
 */
export const lostController = (
  before: { readonly metadata: Meta } | undefined,
  after: { readonly metadata: Meta },
): Owner | undefined => {
  if (before?.metadata.ownerReferences === after.metadata.ownerReferences) return undefined;
  const owner = before && controllerOf(before);
  return owner?.uid === controllerOf(after)?.uid ? undefined : owner;
};

/** Whether both states are equal for an owner: readiness, activity, node, labels, owners. */
export const countsTheSame = (before: PodView, after: PodView): boolean =>
  before.metadata.labels === after.metadata.labels &&
  before.metadata.ownerReferences === after.metadata.ownerReferences &&
  before.spec === after.spec &&
  isActive(before) === isActive(after) &&
  isFinished(before) === isFinished(after) &&
  isReady(before) === isReady(after);

/** An int or a percentage of `total`, rounded as requested (Kubernetes' IntOrString). */
export const scaled = (
  value: number | string | undefined,
  total: number,
  round: 'up' | 'down',
): number => {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) return Number.parseInt(value, 10) || 0;
  const exact = (Number.parseInt(value, 10) * total) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
};

/** A terminating namespace refuses new objects: not worth an event or a retry. */
export const isNamespaceEnding = (status: ApiStatus): boolean => {
  const { causes } = objectOr(status.details);
  return (
    status.code === 403 &&
    Array.isArray(causes) &&
    causes.some((one) => objectOr(one).reason === 'NamespaceTerminating')
  );
};

/** `object` with its status replaced: the body of a status update. */
export const withStatus = (object: JsonObject, status: JsonObject): JsonObject => ({
  ...object,
  status,
});
