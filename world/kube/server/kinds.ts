// The table of built-in kinds. One line per kind lists what differs from the defaults; the rest is
// derived. A kind's behaviour is in its strategy, not here.
import type { JsonObject } from '../../../src/api/json.ts';
import type { ResourceDefinition, SubresourceDefinition } from './definition.ts';
import { coreEventOf, eventsV1Of } from './events-view.ts';
import { metadataOf, specOf, statusOf, textOf } from './objects.ts';
import type { FieldReader } from './selectors.ts';
import { strategies } from './strategies/index.ts';

type Options = Partial<
  Omit<ResourceDefinition, 'group' | 'version' | 'resource' | 'kind' | 'subresources'>
> & { readonly extra?: readonly SubresourceDefinition[]; readonly scale?: boolean };

const allVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

const readWrite = ['get', 'patch', 'update'] as const;

export const metadataFields: Readonly<Record<string, FieldReader>> = {
  'metadata.name': (object) => textOf(metadataOf(object).name) ?? '',
  'metadata.namespace': (object) => textOf(metadataOf(object).namespace) ?? '',
};

const plain = (value: unknown): string =>
  value === undefined || value === null || typeof value === 'object' ? '' : String(value);
const specField =
  (name: string, fallback = ''): FieldReader =>
  (object) =>
    plain(specOf(object)[name]) || fallback;
const statusField =
  (name: string, fallback = ''): FieldReader =>
  (object) =>
    plain(statusOf(object)[name]) || fallback;
const involved =
  (name: string): FieldReader =>
  (object) =>
    plain((object.involvedObject as JsonObject | undefined)?.[name]);

const podFields: Readonly<Record<string, FieldReader>> = {
  'spec.nodeName': specField('nodeName'),
  'spec.restartPolicy': specField('restartPolicy'),
  'spec.schedulerName': specField('schedulerName'),
  'spec.serviceAccountName': specField('serviceAccountName'),
  'spec.hostNetwork': specField('hostNetwork', 'false'),
  'status.phase': statusField('phase'),
  'status.podIP': statusField('podIP'),
  'status.nominatedNodeName': statusField('nominatedNodeName'),
};

const eventFields: Readonly<Record<string, FieldReader>> = {
  ...Object.fromEntries(
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (name) => [`involvedObject.${name}`, involved(name)],
    ),
  ),
  reason: (object) => plain(object.reason),
  type: (object) => plain(object.type),
  reportingComponent: (object) => plain(object.reportingComponent),
  source: (object) =>
    plain((object.source as JsonObject | undefined)?.component) || plain(object.reportingComponent),
};

/** Field readers see objects as stored; events.k8s.io has its own names for the same fields. */
const eventV1Fields: Readonly<Record<string, FieldReader>> = {
  ...Object.fromEntries(
    Object.entries(eventFields).map(([name, read]) => [
      name
        .replace('involvedObject.', 'regarding.')
        .replace('reportingComponent', 'reportingController'),
      read,
    ]),
  ),
};

function define(
  gv: readonly [string, string],
  resource: string,
  kind: string,
  options: Options = {},
): ResourceDefinition {
  const [group, version] = gv;
  const { extra = [], scale = false, ...rest } = options;
  const hasStatus = options.hasStatus ?? false;
  const subresources: SubresourceDefinition[] = [
    ...(hasStatus ? [{ name: 'status', kind, verbs: readWrite }] : []),
    ...(scale
      ? [{ name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: readWrite }]
      : []),
    ...extra,
  ];
  return {
    group,
    version,
    resource,
    kind,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    hasStatus: false,
    generation: 'none',
    statusMetadata: 'labels',
    nameRule: 'subdomain',
    unconditionalUpdate: true,
    createOnUpdate: false,
    graceful: false,
    returnsDeleted: false,
    strategy: strategies[`${group}/${resource}`] ?? {},
    storage: { group, resource },
    custom: undefined,
    ...rest,
    fields: { ...metadataFields, ...options.fields },
    subresources,
  };
}

const core = ['', 'v1'] as const;
const apps = ['apps', 'v1'] as const;
const batch = ['batch', 'v1'] as const;
const rbac = ['rbac.authorization.k8s.io', 'v1'] as const;
const storage = ['storage.k8s.io', 'v1'] as const;
const resource = ['resource.k8s.io', 'v1'] as const;
const networking = ['networking.k8s.io', 'v1'] as const;
const admission = ['admissionregistration.k8s.io', 'v1'] as const;

const cluster = { namespaced: false } as const;
const all = { categories: ['all'] } as const;
const webhooks = { ...cluster, generation: 'content', categories: ['api-extensions'] } as const;
const status = { hasStatus: true } as const;
const spec = { generation: 'spec' } as const;
const rbacRules = { nameRule: 'path', createOnUpdate: true } as const;

const coreKinds: readonly ResourceDefinition[] = [
  define(core, 'nodes', 'Node', {
    ...cluster,
    ...status,
    shortNames: ['no'],
    fields: { 'spec.unschedulable': specField('unschedulable', 'false') },
    extra: [{ name: 'proxy', kind: 'NodeProxyOptions', verbs: ['create', 'delete', 'get'] }],
  }),
  define(core, 'pods', 'Pod', {
    ...all,
    ...status,
    shortNames: ['po'],
    graceful: true,
    returnsDeleted: true,
    fields: podFields,
    extra: [
      { name: 'attach', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
      { name: 'binding', kind: 'Binding', verbs: ['create'] },
      {
        name: 'eviction',
        kind: 'Eviction',
        group: 'policy',
        version: 'v1',
        verbs: ['create'],
      },
      { name: 'ephemeralcontainers', kind: 'Pod', verbs: readWrite },
      { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
      { name: 'log', kind: 'Pod', verbs: ['get'] },
      { name: 'portforward', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
    ],
  }),
  define(core, 'namespaces', 'Namespace', {
    ...cluster,
    ...status,
    shortNames: ['ns'],
    nameRule: 'label',
    returnsDeleted: true,
    verbs: allVerbs.filter((verb) => verb !== 'deletecollection'),
    fields: { 'status.phase': statusField('phase') },
    extra: [{ name: 'finalize', kind: 'Namespace', verbs: ['update'] }],
  }),
  define(core, 'configmaps', 'ConfigMap', { shortNames: ['cm'] }),
  define(core, 'secrets', 'Secret', { fields: { type: (object) => plain(object.type) } }),
  define(core, 'events', 'Event', {
    shortNames: ['ev'],
    createOnUpdate: true,
    fields: eventFields,
  }),
  define(core, 'services', 'Service', {
    ...all,
    ...status,
    shortNames: ['svc'],
    nameRule: 'label1035',
    createOnUpdate: true,
    returnsDeleted: true,
  }),
  define(core, 'endpoints', 'Endpoints', {
    singular: 'endpoints',
    shortNames: ['ep'],
    createOnUpdate: true,
  }),
  define(core, 'serviceaccounts', 'ServiceAccount', {
    shortNames: ['sa'],
    returnsDeleted: true,
    extra: [
      {
        name: 'token',
        kind: 'TokenRequest',
        group: 'authentication.k8s.io',
        version: 'v1',
        verbs: ['create'],
      },
    ],
  }),
  define(core, 'persistentvolumes', 'PersistentVolume', {
    ...cluster,
    ...status,
    shortNames: ['pv'],
    returnsDeleted: true,
  }),
  define(core, 'persistentvolumeclaims', 'PersistentVolumeClaim', {
    ...status,
    shortNames: ['pvc'],
    returnsDeleted: true,
  }),
  define(core, 'podtemplates', 'PodTemplate', { ...spec }),
  // Stored and listed: clients that resolve the owners of pods watch them. No controller acts on
  // one.
  define(core, 'replicationcontrollers', 'ReplicationController', {
    ...all,
    ...status,
    ...spec,
    scale: true,
    shortNames: ['rc'],
    fields: { 'status.replicas': statusField('replicas', '0') },
  }),
  define(core, 'limitranges', 'LimitRange', { shortNames: ['limits'] }),
  define(core, 'resourcequotas', 'ResourceQuota', { ...status, shortNames: ['quota'] }),
];

const workloadKinds: readonly ResourceDefinition[] = [
  define(apps, 'deployments', 'Deployment', {
    ...all,
    ...status,
    scale: true,
    generation: 'annotations',
    statusMetadata: 'annotations',
    shortNames: ['deploy'],
  }),
  define(apps, 'replicasets', 'ReplicaSet', {
    ...all,
    ...status,
    ...spec,
    scale: true,
    shortNames: ['rs'],
    fields: { 'status.replicas': statusField('replicas', '0') },
  }),
  define(apps, 'daemonsets', 'DaemonSet', { ...all, ...status, ...spec, shortNames: ['ds'] }),
  define(apps, 'statefulsets', 'StatefulSet', {
    ...all,
    ...status,
    ...spec,
    scale: true,
    shortNames: ['sts'],
  }),
  define(apps, 'controllerrevisions', 'ControllerRevision'),
  define(batch, 'jobs', 'Job', {
    ...all,
    ...status,
    ...spec,
    fields: { 'status.successful': statusField('succeeded', '0') },
  }),
  define(batch, 'cronjobs', 'CronJob', { ...all, ...status, ...spec, shortNames: ['cj'] }),
  define(['policy', 'v1'], 'poddisruptionbudgets', 'PodDisruptionBudget', {
    ...status,
    ...spec,
    shortNames: ['pdb'],
    unconditionalUpdate: false,
  }),
  define(['autoscaling', 'v2'], 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    ...all,
    ...status,
    shortNames: ['hpa'],
  }),
  define(['coordination.k8s.io', 'v1'], 'leases', 'Lease', {
    createOnUpdate: true,
    unconditionalUpdate: false,
  }),
  define(['discovery.k8s.io', 'v1'], 'endpointslices', 'EndpointSlice', {
    generation: 'content',
  }),
  define(['events.k8s.io', 'v1'], 'events', 'Event', {
    shortNames: ['ev'],
    createOnUpdate: true,
    fields: eventV1Fields,
    storage: { group: '', resource: 'events', fromStored: eventsV1Of, toStored: coreEventOf },
  }),
];

const policyKinds: readonly ResourceDefinition[] = [
  define(['scheduling.k8s.io', 'v1'], 'priorityclasses', 'PriorityClass', {
    ...cluster,
    generation: 'content',
    shortNames: ['pc'],
  }),
  define(storage, 'storageclasses', 'StorageClass', {
    ...cluster,
    shortNames: ['sc'],
    returnsDeleted: true,
  }),
  define(storage, 'volumeattachments', 'VolumeAttachment', {
    ...cluster,
    ...status,
    returnsDeleted: true,
  }),
  define(storage, 'csinodes', 'CSINode', { ...cluster, returnsDeleted: true }),
  define(storage, 'csidrivers', 'CSIDriver', { ...cluster, returnsDeleted: true }),
  define(storage, 'csistoragecapacities', 'CSIStorageCapacity'),
  define(rbac, 'roles', 'Role', rbacRules),
  define(rbac, 'rolebindings', 'RoleBinding', rbacRules),
  define(rbac, 'clusterroles', 'ClusterRole', { ...cluster, ...rbacRules }),
  define(rbac, 'clusterrolebindings', 'ClusterRoleBinding', { ...cluster, ...rbacRules }),
  define(['certificates.k8s.io', 'v1'], 'certificatesigningrequests', 'CertificateSigningRequest', {
    ...cluster,
    ...status,
    shortNames: ['csr'],
    nameRule: 'path',
    fields: { 'spec.signerName': specField('signerName') },
    extra: [{ name: 'approval', kind: 'CertificateSigningRequest', verbs: readWrite }],
  }),
  define(admission, 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', {
    ...cluster,
    ...status,
    ...spec,
    categories: ['api-extensions'],
  }),
  define(admission, 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', {
    ...cluster,
    ...spec,
    categories: ['api-extensions'],
  }),
  define(admission, 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', webhooks),
  define(admission, 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', webhooks),
  define(networking, 'ingresses', 'Ingress', { ...status, ...spec, shortNames: ['ing'] }),
  define(networking, 'ingressclasses', 'IngressClass', { ...cluster, ...spec }),
  define(networking, 'networkpolicies', 'NetworkPolicy', { ...spec, shortNames: ['netpol'] }),
  define(['apiextensions.k8s.io', 'v1'], 'customresourcedefinitions', 'CustomResourceDefinition', {
    ...cluster,
    ...status,
    ...spec,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    unconditionalUpdate: false,
  }),
];

/** Stored and listed, as in a cluster from 1.34 on; nothing in the world allocates devices. */
const deviceKinds: readonly ResourceDefinition[] = [
  define(resource, 'deviceclasses', 'DeviceClass', { ...cluster, ...spec }),
  define(resource, 'resourceclaims', 'ResourceClaim', { ...status }),
  define(resource, 'resourceclaimtemplates', 'ResourceClaimTemplate'),
  define(resource, 'resourceslices', 'ResourceSlice', {
    ...cluster,
    ...spec,
    fields: { 'spec.driver': specField('driver'), 'spec.nodeName': specField('nodeName') },
  }),
];

export const builtInKinds: readonly ResourceDefinition[] = [
  ...coreKinds,
  ...workloadKinds,
  ...policyKinds,
  ...deviceKinds,
];
