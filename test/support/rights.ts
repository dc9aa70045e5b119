// The rights that `drover controller` needs in a cluster, as objects to apply for a user of a test:
// those of deploy/rbac.yaml. Stories on a real API server prove that they suffice.
import { controllerGrants } from '../../src/api/controller-rights.ts';
import type { JsonObject } from '../../src/api/json.ts';

export const controllerRights = (user: string): readonly JsonObject[] =>
  controllerGrants('drover-controller', {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'User',
    name: user,
  });
