// Rules while no role is stored, as on an API server that has not created its default roles yet:
// those of every user, and those with which the control plane waits for its cluster.
import {
  controllerNamespaceRules,
  controllerRules,
  hookRules,
} from '../../../src/api/controller-rights.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { UserInfo } from '../../contracts.ts';
import { nodeManagerUser } from '../../identities.ts';

const create = (group: string, resources: readonly string[]): JsonObject => ({
  apiGroups: [group],
  resources,
  verbs: ['create'],
});

/** system:basic-user and system:discovery. */
const everybodysRules: readonly JsonObject[] = [
  create('authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews']),
  create('authentication.k8s.io', ['selfsubjectreviews']),
  {
    nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', '/version'],
    verbs: ['get'],
  },
];

export const rulesWithoutRoles = (user: UserInfo): readonly JsonObject[] => {
  if (!user.groups.includes('system:authenticated')) return [];
  if (user.username !== nodeManagerUser.username) return everybodysRules;
  return [...everybodysRules, ...controllerRules, ...hookRules, ...controllerNamespaceRules];
};
