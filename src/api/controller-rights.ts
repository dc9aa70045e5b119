// The permissions of `drover controller` in a cluster, as RBAC rules: exactly what the controllers
// call. Printed to deploy/rbac.yaml, granted to `eks:node-manager` in the embedded world;
// end-to-end tests on a real API server prove that they suffice. The subject is decided elsewhere.

import { customResourceDefinitions } from './crds.ts';
import { defined } from './defined.ts';
import type { JsonObject } from './json.ts';

const rule = (
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
  resourceNames: readonly string[] = [],
): JsonObject => ({
  apiGroups: [group],
  resources,
  verbs,
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
});

const follow = ['list', 'watch'];
const look = ['get', ...follow];

/** The Lease of the leader; the policy of deploy/fence.yaml reads its holder. */
export const leaderLease = { namespace: 'kube-system', name: 'drover-controller' } as const;

const definitions = customResourceDefinitions.map(({ metadata }) => metadata.name);

/**
 * Rules for the whole cluster. Only Drover's own CustomResourceDefinitions are read or changed;
 * RBAC cannot restrict creation by name.
 */
export const controllerRules: readonly JsonObject[] = [
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['create']),
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], [...look, 'patch'], definitions),
  rule('', ['nodes'], [...look, 'patch']),
  rule('', ['pods'], [...follow, 'delete']),
  rule('', ['pods/eviction'], ['create']),
  // `list` shows why a pod that a budget waits for is not Ready; one pod at a time.
  rule('', ['events'], ['list', 'create']),
  rule('apps', ['daemonsets'], look),
  // `get`: what health probes of updates usually read; operators grant other kinds themselves.
  // `list`, by a label: Deployments that a process with --surge left scaled up.
  rule('apps', ['deployments'], ['get', 'list']),
  rule('policy', ['poddisruptionbudgets'], follow),
  // Shows whether the volumes of a drained node are detached.
  rule('storage.k8s.io', ['volumeattachments'], follow),
  // Shows why an instance does not join; read only once one is late.
  rule('certificates.k8s.io', ['certificatesigningrequests'], ['list']),
  rule('drover.dev', ['*'], [...look, 'create', 'patch', 'delete']),
];

/**
 * Rules for kube-system: the Lease, aws-auth with its backups, the VPC CNI's ConfigMap. RBAC cannot
 * restrict creation by name.
 */
export const controllerNamespaceRules: readonly JsonObject[] = [
  rule('coordination.k8s.io', ['leases'], ['create']),
  rule('coordination.k8s.io', ['leases'], ['get', 'patch'], [leaderLease.name]),
  rule('', ['configmaps'], ['create']),
  rule('', ['configmaps'], ['get', 'patch'], ['aws-auth', 'drover-aws-auth-backups']),
  rule('', ['configmaps'], ['get'], ['amazon-vpc-cni']),
];

/** Additional rules for each namespace with hooks of updates: Jobs from CronJobs' templates. */
export const hookRules: readonly JsonObject[] = [
  rule('batch', ['cronjobs'], ['get']),
  rule('batch', ['jobs'], ['get', 'list', 'create', 'delete']),
];

/** The stored cursor of the notifications, and the Secret that docs/notifications.md names. */
export const notificationNames = {
  namespace: leaderLease.namespace,
  cursor: 'drover-notifications',
  secret: 'drover-receiver',
} as const;

/** Additional rules for `--notifications-secret`; the creation of ConfigMaps is granted already. */
const notificationRules: readonly JsonObject[] = [
  rule('', ['configmaps'], ['get', 'patch'], [notificationNames.cursor]),
  rule('', ['secrets'], ['get'], [notificationNames.secret]),
];

/** Additional rules for `--approve-certificates`: only kubelets' requests, and no signing. */
const certificateRules: readonly JsonObject[] = [
  rule('certificates.k8s.io', ['certificatesigningrequests'], look),
  rule('certificates.k8s.io', ['certificatesigningrequests/approval'], ['patch']),
  rule(
    'certificates.k8s.io',
    ['signers'],
    ['approve'],
    ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'],
  ),
];

/**
 * Additional rules for `--surge`: to scale Deployments that ask for it, and to set the deletion
 * cost of their pods.
 */
const surgeRules: readonly JsonObject[] = [
  rule('apps', ['deployments'], [...follow, 'patch']),
  rule('', ['pods'], ['patch']),
  rule('autoscaling', ['horizontalpodautoscalers'], ['list']),
];

/** Additional rules for `--page-port`: to identify a reader by its token and check its rights. */
const pageRules: readonly JsonObject[] = [
  rule('authentication.k8s.io', ['tokenreviews'], ['create']),
  rule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
];

/** A role and its binding. */
const roleGrants = (
  scope: '' | 'Cluster',
  { name, namespace }: { readonly name: string; readonly namespace?: string | undefined },
  rules: readonly JsonObject[],
  subject: JsonObject,
): readonly JsonObject[] => {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const metadata = { name, ...defined({ namespace }) };
  const roleRef = { apiGroup, kind: `${scope}Role`, name };
  return [
    { apiVersion, kind: `${scope}Role`, metadata, rules },
    { apiVersion, kind: `${scope}RoleBinding`, metadata, roleRef, subjects: [subject] },
  ];
};

export const certificateGrants = (name: string, subject: JsonObject): readonly JsonObject[] =>
  roleGrants('Cluster', { name }, certificateRules, subject);

export const surgeGrants = (name: string, subject: JsonObject): readonly JsonObject[] =>
  roleGrants('Cluster', { name }, surgeRules, subject);

export const pageGrants = (name: string, subject: JsonObject): readonly JsonObject[] =>
  roleGrants('Cluster', { name }, pageRules, subject);

export const notificationGrants = (name: string, subject: JsonObject): readonly JsonObject[] =>
  roleGrants('', { name, namespace: notificationNames.namespace }, notificationRules, subject);

/** For one namespace; without one, for the namespace of `kubectl apply -n NAMESPACE`. */
export const hookGrants = (
  name: string,
  subject: JsonObject,
  namespace?: string,
): readonly JsonObject[] => roleGrants('', { name, namespace }, hookRules, subject);

/** The roles and their bindings to `subject`, all named `name`. */
export const controllerGrants = (name: string, subject: JsonObject): readonly JsonObject[] => [
  ...roleGrants('Cluster', { name }, controllerRules, subject),
  ...roleGrants('', { name, namespace: leaderLease.namespace }, controllerNamespaceRules, subject),
];
