// The permissions that `drover controller` needs in a cluster, as objects for a test's user: those
// of deploy/rbac.yaml. Stories on a real API server prove that they suffice.
import { controllerGrants, hookGrants } from '../../src/api/controller-rights.ts';
import type { JsonObject } from '../../src/api/json.ts';

const subjectOf = (user: string): JsonObject => ({
  apiGroup: 'rbac.authorization.k8s.io',
  kind: 'User',
  name: user,
});

export const controllerRights = (user: string): readonly JsonObject[] =>
  controllerGrants('drover-controller', subjectOf(user));

/** Those of deploy/hooks.yaml, needed additionally in one namespace. */
export const hookRights = (user: string, namespace: string): readonly JsonObject[] =>
  hookGrants('drover-controller-hooks', subjectOf(user), namespace);
