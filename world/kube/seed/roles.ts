// The initial roles of a cluster as objects: those that kube-apiserver creates (read from one, see
// facts/roles.json), and those of EKS for its own components and default add-ons.

import {
  controllerNamespaceRules,
  controllerRules,
  hookRules,
} from '../../../src/api/controller-rights.ts';
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import facts from './facts/roles.json' with { type: 'json' };

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;
const aggregate = `${group}/aggregate-to-`;

/** As generated: groups, resources, verbs and optionally names; or paths and verbs. */
type RuleFacts = readonly (readonly string[])[];

interface RoleFacts {
  readonly name: string;
  readonly namespace?: string;
  /** Label of the roles that are aggregated into this one. */
  readonly gathers?: string;
  readonly goesTo?: readonly string[];
  readonly rules: readonly RuleFacts[];
}

interface BindingFacts {
  readonly name: string;
  readonly namespace?: string;
  readonly role: string;
  /** Kind, name and, for service accounts, namespace. */
  readonly subjects: readonly (readonly string[])[];
}

const ruleOf = ([first = [], second = [], verbs, resourceNames]: RuleFacts): JsonObject =>
  verbs === undefined
    ? { nonResourceURLs: first, verbs: second }
    : {
        apiGroups: first,
        resources: second,
        verbs,
        ...defined({ resourceNames }),
      };

interface Made {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly labels?: JsonObject;
  readonly annotations?: JsonObject;
}

const metadata = ({ name, namespace, labels, annotations }: Made): JsonObject => ({
  name,
  ...defined({ namespace, labels, annotations }),
});

const bootstrapped = {
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
};

const bootstrapRole = ({ name, namespace, gathers, goesTo = [], rules }: RoleFacts): JsonObject => {
  const kinds = goesTo.map((to) => [`${aggregate}${to}`, 'true']);
  const labels = { ...bootstrapped.labels, ...Object.fromEntries(kinds) };
  const selector = { matchLabels: { [`${aggregate}${gathers ?? ''}`]: 'true' } };
  return {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: metadata({ name, namespace, ...bootstrapped, labels }),
    ...(gathers === undefined ? {} : { aggregationRule: { clusterRoleSelectors: [selector] } }),
    rules: rules.map(ruleOf),
  };
};

const subjectOf = ([kind = '', name = '', namespace = '']: readonly string[]): JsonObject =>
  kind === 'ServiceAccount' ? { kind, name, namespace } : { apiGroup: group, kind, name };

const binding = (made: Made, role: string, subjects: BindingFacts['subjects']): JsonObject => {
  const isRole = made.namespace !== undefined;
  return {
    apiVersion,
    kind: isRole ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: metadata(made),
    roleRef: { apiGroup: group, kind: isRole ? 'Role' : 'ClusterRole', name: role },
    subjects: subjects.map(subjectOf),
  };
};

const bootstrapBinding = ({ name, namespace, role, subjects }: BindingFacts): JsonObject =>
  binding({ name, namespace, ...bootstrapped }, role, subjects);

/** A role of EKS or of an add-on, with a binding of the same name. */
const granted = (
  name: string,
  subjects: BindingFacts['subjects'],
  rules: readonly JsonObject[],
  namespace?: string,
): readonly JsonObject[] => [
  {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: metadata({ name, namespace }),
    rules,
  },
  binding({ name, namespace }, name, subjects),
];

const rule = (groups: string, resources: string, verbs: string): JsonObject => ({
  apiGroups: groups.split(' ').map((each) => (each === 'core' ? '' : each)),
  resources: resources.split(' '),
  verbs: verbs.split(' '),
});

const look = 'get list watch';
const account = (name: string): BindingFacts['subjects'] => [
  ['ServiceAccount', name, 'kube-system'],
];

const eksRoles = (): readonly JsonObject[] => [
  // The control plane of node groups, which acts as this world's node manager.
  ...granted(
    'eks:node-manager',
    [['User', 'eks:node-manager']],
    [...controllerRules, ...hookRules],
  ),
  ...granted(
    'eks:node-manager',
    [['User', 'eks:node-manager']],
    controllerNamespaceRules,
    'kube-system',
  ),
  // Allows a node to request its serving certificate.
  ...granted(
    'eks:node-bootstrapper',
    ['bootstrappers', 'nodes'].map((name) => ['Group', `system:${name}`]),
    [rule('certificates.k8s.io', 'certificatesigningrequests/selfnodeserver', 'create')],
  ),
  binding({ name: 'eks:addon-cluster-admin' }, 'cluster-admin', [['User', 'eks:addon-manager']]),
  // cloud-provider-aws, manifests/base/rbac.yaml
  ...granted(
    'eks:cloud-controller-manager',
    [['User', 'eks:cloud-controller-manager']],
    [
      rule('core', 'events', 'create patch update'),
      rule('core', 'nodes', '*'),
      rule('core', 'nodes/status', 'patch'),
      rule('core', 'services', 'list patch update watch'),
      rule('core', 'services/status', 'list patch update watch'),
      rule('core', 'serviceaccounts', 'create get list watch'),
      rule('core', 'persistentvolumes', 'get list update watch'),
      rule('core', 'endpoints', 'create get list watch update'),
      rule('coordination.k8s.io', 'leases', 'create get list watch update'),
      rule('core', 'serviceaccounts/token', 'create'),
    ],
  ),
];

/** Roles of aws-node (amazon-vpc-cni-k8s), kube-proxy and CoreDNS, as their add-ons define them. */
const addonRoles = (): readonly JsonObject[] => [
  ...granted('aws-node', account('aws-node'), [
    rule('crd.k8s.amazonaws.com', 'eniconfigs', look),
    rule('core', 'namespaces', look),
    rule('core', 'pods', look),
    rule('core', 'nodes', look),
    rule('core events.k8s.io', 'events', 'create patch list'),
    rule('networking.k8s.aws', 'policyendpoints', look),
    rule('networking.k8s.aws', 'policyendpoints/status', 'get'),
    rule('vpcresources.k8s.aws', 'cninodes', `${look} patch`),
  ]),
  binding({ name: 'eks:kube-proxy' }, 'system:node-proxier', account('kube-proxy')),
  ...granted('system:coredns', account('coredns'), [
    rule('core', 'endpoints services pods namespaces', 'list watch'),
    rule('core', 'nodes', 'get'),
    rule('discovery.k8s.io', 'endpointslices', 'list watch'),
  ]),
];

const rolesOf = (addons: boolean): readonly JsonObject[] => [
  ...(facts.clusterRoles as readonly RoleFacts[]).map(bootstrapRole),
  ...(facts.clusterRoleBindings as readonly BindingFacts[]).map(bootstrapBinding),
  ...(facts.roles as readonly RoleFacts[]).map(bootstrapRole),
  ...(facts.roleBindings as readonly BindingFacts[]).map(bootstrapBinding),
  ...eksRoles(),
  ...(addons ? addonRoles() : []),
];

const made = new Map<boolean, readonly JsonObject[]>();

/** Shared by all worlds of a process. */
export const defaultRoles = (addons: boolean): readonly JsonObject[] => {
  const roles = made.get(addons) ?? rolesOf(addons);
  made.set(addons, roles);
  return roles;
};
