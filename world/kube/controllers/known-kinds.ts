// Kinds that own or are owned, and namespaced kinds: what garbage collection and namespace deletion
// must cover. Data only; includes Drover's custom kinds.
import type { GroupResource } from '../../contracts.ts';

export interface KnownKind extends GroupResource {
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const known = (
  groupVersion: string,
  resource: string,
  kind: string,
  namespaced = true,
): KnownKind => {
  const slash = groupVersion.indexOf('/');
  const group = slash < 0 ? '' : groupVersion.slice(0, slash);
  return { group, version: groupVersion.slice(slash + 1), resource, kind, namespaced };
};

export const knownKinds: readonly KnownKind[] = [
  known('apps/v1', 'deployments', 'Deployment'),
  known('apps/v1', 'daemonsets', 'DaemonSet'),
  known('apps/v1', 'statefulsets', 'StatefulSet'),
  known('batch/v1', 'cronjobs', 'CronJob'),
  known('batch/v1', 'jobs', 'Job'),
  known('apps/v1', 'replicasets', 'ReplicaSet'),
  known('apps/v1', 'controllerrevisions', 'ControllerRevision'),
  known('v1', 'replicationcontrollers', 'ReplicationController'),
  known('v1', 'pods', 'Pod'),
  known('v1', 'services', 'Service'),
  known('v1', 'endpoints', 'Endpoints'),
  known('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice'),
  known('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  known('autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'),
  known('networking.k8s.io/v1', 'ingresses', 'Ingress'),
  known('networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy'),
  known('v1', 'configmaps', 'ConfigMap'),
  known('v1', 'secrets', 'Secret'),
  known('v1', 'serviceaccounts', 'ServiceAccount'),
  known('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  known('v1', 'podtemplates', 'PodTemplate'),
  known('v1', 'limitranges', 'LimitRange'),
  known('v1', 'resourcequotas', 'ResourceQuota'),
  known('storage.k8s.io/v1', 'csistoragecapacities', 'CSIStorageCapacity'),
  known('resource.k8s.io/v1', 'resourceclaims', 'ResourceClaim'),
  known('resource.k8s.io/v1', 'resourceclaimtemplates', 'ResourceClaimTemplate'),
  known('rbac.authorization.k8s.io/v1', 'roles', 'Role'),
  known('rbac.authorization.k8s.io/v1', 'rolebindings', 'RoleBinding'),
  known('coordination.k8s.io/v1', 'leases', 'Lease'),
  known('v1', 'events', 'Event'),
  known('v1', 'nodes', 'Node', false),
  known('v1', 'namespaces', 'Namespace', false),
  known('resource.k8s.io/v1', 'resourceslices', 'ResourceSlice', false),
  known('drover.dev/v1alpha1', 'nodegroups', 'NodeGroup', false),
  known('drover.dev/v1alpha1', 'nodegroupupdates', 'NodeGroupUpdate', false),
  known('drover.dev/v1alpha1', 'nodegroupupdatesequences', 'NodeGroupUpdateSequence', false),
  known('drover.dev/v1alpha1', 'nodedisruptions', 'NodeDisruption', false),
  known('drover.dev/v1alpha1', 'noderepairs', 'NodeRepair', false),
];

const byKind = new Map(knownKinds.map((one) => [`${one.group}/${one.kind}`, one]));

/** The collection of an object or of an owner reference; undefined for kinds not in the table. */
export const kindOf = (of: {
  readonly apiVersion: string;
  readonly kind: string;
}): KnownKind | undefined => {
  const slash = of.apiVersion.indexOf('/');
  return byKind.get(`${slash < 0 ? '' : of.apiVersion.slice(0, slash)}/${of.kind}`);
};

export const kindAt = (resource: GroupResource): KnownKind | undefined =>
  knownKinds.find((one) => one.group === resource.group && one.resource === resource.resource);

export const namespacedKinds: readonly KnownKind[] = knownKinds.filter((one) => one.namespaced);
