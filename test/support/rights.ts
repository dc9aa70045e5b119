// The rights that `drover controller` needs in a cluster, as objects to apply for a user of a test:
// those of deploy/rbac.yaml. Stories on a real API server prove that they suffice.
import { controllerNamespaceRules, controllerRules } from '../../src/api/controller-rights.ts';
import type { JsonObject } from '../../src/api/json.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;
const name = 'drover-controller';

/** A ClusterRole, a Role in kube-system, and their bindings to `user`. */
export const controllerRights = (user: string): readonly JsonObject[] => {
  const subjects = [{ apiGroup, kind: 'User', name: user }];
  const inSystem = { name, namespace: 'kube-system' };
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: controllerRules },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects,
    },
    { apiVersion, kind: 'Role', metadata: inSystem, rules: controllerNamespaceRules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: inSystem,
      roleRef: { apiGroup, kind: 'Role', name },
      subjects,
    },
  ];
};
