// The rights that `drover controller` needs in a cluster, as objects to apply: no more than the
// controllers' calls. Stories on a real API server prove that they suffice.
import type { JsonObject } from '../../src/api/json.ts';

const name = 'drover-controller';

const rule = (group: string, resources: readonly string[], verbs: readonly string[]) => ({
  apiGroups: [group],
  resources: [...resources],
  verbs: [...verbs],
});

const look = ['get', 'list', 'watch'];

/** A ClusterRole and its binding to `user`. */
export const controllerRights = (user: string): readonly JsonObject[] => [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      rule('apiextensions.k8s.io', ['customresourcedefinitions'], [...look, 'create', 'patch']),
      rule('', ['nodes'], [...look, 'patch']),
      rule('', ['pods'], [...look, 'delete']),
      rule('', ['pods/eviction', 'events'], ['create', 'patch']),
      rule('apps', ['replicasets', 'daemonsets'], look),
      rule('policy', ['poddisruptionbudgets'], look),
      rule('coordination.k8s.io', ['leases'], ['get', 'create', 'patch']),
      rule('', ['configmaps'], ['get', 'create', 'patch']),
      rule('drover.dev', ['*'], [...look, 'create', 'patch', 'delete']),
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  },
];
