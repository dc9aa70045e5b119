// The roles that every cluster is born with and users bind to (cluster-admin, admin, edit, view), as
// rules. They hold whether or not an object of that name is stored; aggregation is not modelled.
import type { JsonObject } from '../../../api/json.ts';

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];

const rule = (
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
): JsonObject => ({ apiGroups: [group], resources, verbs });

const coreShown = [
  'bindings',
  'configmaps',
  'endpoints',
  'events',
  'limitranges',
  'namespaces',
  'namespaces/status',
  'persistentvolumeclaims',
  'persistentvolumeclaims/status',
  'pods',
  'pods/log',
  'pods/status',
  'replicationcontrollers',
  'resourcequotas',
  'resourcequotas/status',
  'serviceaccounts',
  'services',
  'services/status',
];
const coreWritten = [
  'configmaps',
  'events',
  'persistentvolumeclaims',
  'pods',
  'pods/attach',
  'pods/eviction',
  'pods/exec',
  'pods/portforward',
  'pods/proxy',
  'secrets',
  'serviceaccounts',
  'services',
  'services/proxy',
];
const others: readonly (readonly [string, readonly string[]])[] = [
  ['apps', ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets']],
  ['apps', ['deployments/scale', 'replicasets/scale', 'statefulsets/scale']],
  ['autoscaling', ['horizontalpodautoscalers']],
  ['batch', ['cronjobs', 'jobs']],
  ['discovery.k8s.io', ['endpointslices']],
  ['networking.k8s.io', ['ingresses', 'networkpolicies']],
  ['policy', ['poddisruptionbudgets']],
];

const view = [
  rule('', coreShown, read),
  ...others.map(([group, resources]) => rule(group, resources, read)),
];
const edit = [
  ...view,
  rule('', ['secrets'], read),
  rule('', coreWritten, write),
  rule('', ['serviceaccounts/token'], ['create']),
  ...others
    .filter(([group]) => group !== 'discovery.k8s.io')
    .map(([group, resources]) => rule(group, resources, write)),
];
const admin = [
  ...edit,
  rule('rbac.authorization.k8s.io', ['rolebindings', 'roles'], [...read, ...write]),
  rule('authorization.k8s.io', ['localsubjectaccessreviews'], ['create']),
];

export const defaultClusterRoles: Readonly<Record<string, readonly JsonObject[]>> = {
  'cluster-admin': [rule('*', ['*'], ['*']), { nonResourceURLs: ['*'], verbs: ['*'] }],
  admin,
  edit,
  view,
};

/** system:basic-user. */
export const basicRules: readonly JsonObject[] = [
  rule('authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], ['create']),
  rule('authentication.k8s.io', ['selfsubjectreviews'], ['create']),
];
/** system:discovery. */
export const discoveryRules: readonly JsonObject[] = [
  {
    nonResourceURLs: [
      '/api',
      '/api/*',
      '/apis',
      '/apis/*',
      '/healthz',
      '/livez',
      '/openapi',
      '/openapi/*',
      '/readyz',
      '/version',
      '/version/',
    ],
    verbs: ['get'],
  },
];
/** What everybody may who is known. */
export const everybodysRules: readonly JsonObject[] = [...basicRules, ...discoveryRules];
