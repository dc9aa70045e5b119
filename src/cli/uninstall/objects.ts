// What an uninstallation deletes, by kind and name: the objects of deploy/install.yaml, of the
// charts and of deploy/agent, and the ConfigMaps that the controller writes. Only data.
import { agentAccount, agentGrants, agentPolicies } from '../../api/agent-rights.ts';
import { fence, fenceOptions } from '../../api/controller-fence.ts';
import {
  certificateGrants,
  controllerGrants,
  hookGrants,
  leaderLease,
  notificationGrants,
  notificationNames,
  pageGrants,
  surgeGrants,
} from '../../api/controller-rights.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { type ResourceType, resourceTypes } from '../../api/kube.ts';
import { backupsName } from '../../core/identity/index.ts';
import type { ObjectName } from '../../ports/index.ts';

export interface NamedObject {
  readonly type: ResourceType;
  readonly name: ObjectName;
}

const other = (
  group: string,
  resource: string,
  kind: string,
  namespaced: boolean,
): ResourceType => ({
  group,
  version: 'v1',
  resource,
  kind,
  namespaced,
});

const rbac = 'rbac.authorization.k8s.io';
const admission = 'admissionregistration.k8s.io';
const roles = other(rbac, 'roles', 'Role', true);
const roleBindings = other(rbac, 'rolebindings', 'RoleBinding', true);
const types: readonly ResourceType[] = [
  other(rbac, 'clusterroles', 'ClusterRole', false),
  other(rbac, 'clusterrolebindings', 'ClusterRoleBinding', false),
  roles,
  roleBindings,
  other(admission, 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', false),
  other(admission, 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', false),
];

const { account } = fenceOptions;
const subject = { kind: 'ServiceAccount', ...account };
const here = { namespace: account.namespace, name: account.name } as const;
const { namespace } = leaderLease;

const namedBy = (objects: readonly JsonObject[]): readonly NamedObject[] =>
  objects.flatMap(({ kind, metadata }) => {
    const type = types.find((one) => one.kind === kind);
    const { name, namespace: at } = objectOr(metadata);
    if (type === undefined || typeof name !== 'string') return [];
    return [{ type, name: typeof at === 'string' ? { namespace: at, name } : { name } }];
  });

/** The controller's Deployment. Nothing else of Drover may be deleted while it runs. */
export const controllerDeployment: NamedObject = { type: resourceTypes.deployments, name: here };

export const agentObjects: readonly NamedObject[] = [
  { type: resourceTypes.daemonsets, name: { ...agentAccount } },
  ...namedBy(agentGrants(agentAccount.name, agentAccount)),
  ...namedBy(agentPolicies(agentAccount.name, agentAccount)),
  { type: other('', 'serviceaccounts', 'ServiceAccount', true), name: { ...agentAccount } },
];

/**
 * In the order of deletion. The fence (deploy/fence.yaml) comes late, since it restricts what other
 * pods with the controller's account may write.
 */
export const controllerObjects: readonly NamedObject[] = [
  { type: resourceTypes.poddisruptionbudgets, name: here },
  {
    type: other('networking.k8s.io', 'networkpolicies', 'NetworkPolicy', true),
    name: here,
  },
  { type: resourceTypes.configmaps, name: { namespace, name: notificationNames.cursor } },
  { type: resourceTypes.configmaps, name: backupsName },
  ...namedBy(controllerGrants(account.name, subject)),
  ...namedBy(certificateGrants(`${account.name}-certificates`, subject)),
  ...namedBy(notificationGrants(`${account.name}-notifications`, subject)),
  ...namedBy(pageGrants(`${account.name}-page`, subject)),
  ...namedBy(surgeGrants(`${account.name}-surge`, subject)),
  { type: other('', 'serviceaccounts', 'ServiceAccount', true), name: here },
  ...namedBy(fence(fenceOptions)).toReversed(),
  { type: resourceTypes.leases, name: leaderLease },
];

/** Exist in every namespace whose CronJobs are update hooks. */
export const hookObjects: readonly ResourceType[] = [roleBindings, roles];
export const hookRoleName: string = String(
  objectOr(hookGrants(`${account.name}-hooks`, subject)[0]?.metadata).name,
);

/**
 * Drover's resource types. Node groups first, because deleting a group still writes objects of the
 * other types.
 */
export const recordTypes: readonly ResourceType[] = [
  resourceTypes.nodegroupupdatesequences,
  resourceTypes.nodegroupupdates,
  resourceTypes.noderepairs,
  resourceTypes.nodedisruptions,
];
