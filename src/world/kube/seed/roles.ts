// The roles that a cluster is born with, as objects: what users bind to, what everybody may, what
// lets nodes ask for certificates. Roles of the cluster's own components are left out: the world
// does not judge these by rules. Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy (1.32).
import type { JsonObject } from '../../../api/json.ts';
import { basicRules, defaultClusterRoles, discoveryRules } from '../server/index.ts';

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;

const metadata = (name: string): JsonObject => ({
  name,
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
});

const role = (name: string, rules: readonly JsonObject[]): JsonObject => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: metadata(name),
  rules,
});

const binding = (name: string, ...groups: readonly string[]): JsonObject => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: metadata(name),
  roleRef: { apiGroup: group, kind: 'ClusterRole', name },
  subjects: groups.map((each) => ({ apiGroup: group, kind: 'Group', name: each })),
});

const certificates = 'certificates.k8s.io';
const asking = (subresource: string): JsonObject => ({
  apiGroups: [certificates],
  resources: [`certificatesigningrequests/${subresource}`],
  verbs: ['create'],
});
const publicUrls = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const keyUrls = [
  '/.well-known/openid-configuration',
  '/.well-known/openid-configuration/',
  '/openid/v1/jwks',
  '/openid/v1/jwks/',
];
const authenticated = 'system:authenticated';

/** EKS' own: it lets a node ask for the certificate that it serves with. */
const eksBootstrapper = 'eks:node-bootstrapper';

export const defaultRoles = (): readonly JsonObject[] => [
  ...Object.entries(defaultClusterRoles).map(([name, rules]) => role(name, rules)),
  role('system:basic-user', basicRules),
  role('system:discovery', discoveryRules),
  role('system:public-info-viewer', [{ nonResourceURLs: publicUrls, verbs: ['get'] }]),
  role('system:service-account-issuer-discovery', [{ nonResourceURLs: keyUrls, verbs: ['get'] }]),
  role('system:auth-delegator', [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    {
      apiGroups: ['authorization.k8s.io'],
      resources: ['subjectaccessreviews'],
      verbs: ['create'],
    },
  ]),
  role('system:node-bootstrapper', [
    {
      apiGroups: [certificates],
      resources: ['certificatesigningrequests'],
      verbs: ['create', 'get', 'list', 'watch'],
    },
  ]),
  ...['nodeclient', 'selfnodeclient'].map((one) =>
    role(`system:${certificates}:certificatesigningrequests:${one}`, [asking(one)]),
  ),
  role(eksBootstrapper, [asking('selfnodeserver')]),
  binding('cluster-admin', 'system:masters'),
  binding('system:basic-user', authenticated),
  binding('system:discovery', authenticated),
  binding('system:public-info-viewer', authenticated, 'system:unauthenticated'),
  binding('system:service-account-issuer-discovery', 'system:serviceaccounts'),
  binding(eksBootstrapper, 'system:bootstrappers', 'system:nodes'),
];
