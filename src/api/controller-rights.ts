// What `drover controller` may do in a cluster, as RBAC rules: no more than the controllers' calls.
// Printed to deploy/rbac.yaml, granted to `eks:node-manager` in the embedded world; stories on a
// real API server prove that it suffices. Who gets it is decided elsewhere.

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

/** The Lease that whoever leads holds; the policy of deploy/fence.yaml reads its holder. */
export const leaderLease = { namespace: 'kube-system', name: 'drover-controller' } as const;

const definitions = customResourceDefinitions.map(({ metadata }) => metadata.name);

/**
 * In the whole cluster. Definitions of others are never read or changed; what is created has no
 * name yet.
 */
export const controllerRules: readonly JsonObject[] = [
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['create']),
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], [...look, 'patch'], definitions),
  rule('', ['nodes'], [...look, 'patch']),
  rule('', ['pods'], [...follow, 'delete']),
  rule('', ['pods/eviction'], ['create']),
  // Read of one pod at a time: why it is not Ready, where a budget waits for it.
  rule('', ['events'], ['list', 'create']),
  rule('apps', ['daemonsets'], look),
  // The conditions that health probes of updates name most; other kinds are granted by who names
  // them.
  rule('apps', ['deployments'], ['get']),
  rule('policy', ['poddisruptionbudgets'], follow),
  // Why an instance does not join: asked only once one is late.
  rule('certificates.k8s.io', ['certificatesigningrequests'], ['list']),
  rule('drover.dev', ['*'], [...look, 'create', 'patch', 'delete']),
];

/** In kube-system: the Lease, and aws-auth with its roles. What is created has no name yet. */
export const controllerNamespaceRules: readonly JsonObject[] = [
  rule('coordination.k8s.io', ['leases'], ['create']),
  rule('coordination.k8s.io', ['leases'], ['get', 'patch'], [leaderLease.name]),
  rule('', ['configmaps'], ['create']),
  rule('', ['configmaps'], ['get', 'patch'], ['aws-auth', 'drover-aws-auth-backups']),
  rule('', ['configmaps'], ['get'], ['amazon-vpc-cni']),
];

/**
 * Besides, for the hooks of updates, in each namespace that has them: Jobs made from CronJobs'
 * templates.
 */
export const hookRules: readonly JsonObject[] = [
  rule('batch', ['cronjobs'], ['get']),
  rule('batch', ['jobs'], ['get', 'list', 'create', 'delete']),
];

/** Besides, for `--approve-certificates`: kubelets' requests alone, and no signing. */
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

/**
 * In one namespace; without one, in whichever they are applied to (`kubectl apply -n NAMESPACE`).
 */
export const hookGrants = (
  name: string,
  subject: JsonObject,
  namespace?: string,
): readonly JsonObject[] => roleGrants('', { name, namespace }, hookRules, subject);

/** The roles and their bindings to `subject`, all of the name `name`. */
export const controllerGrants = (name: string, subject: JsonObject): readonly JsonObject[] => [
  ...roleGrants('Cluster', { name }, controllerRules, subject),
  ...roleGrants('', { name, namespace: leaderLease.namespace }, controllerNamespaceRules, subject),
];
