// Defaults of the remaining served types, as Kubernetes 1.32 sets them (pkg/apis/*/v1/defaults.go
// and apiextensions-apiserver's), feature gates at their defaults.
import { isObject, type JsonObject } from '../../../src/api/json.ts';
import {
  type DefaultRule,
  fill,
  isEmptyList,
  isUnset,
  objectAt,
  type RuleEntry,
  within,
} from './default-rule.ts';

const RBAC = 'rbac.authorization.k8s.io';

const subject: DefaultRule = (draft) => {
  const kind = draft.get('kind');
  if (kind === 'User' || kind === 'Group') fill({ apiGroup: RBAC })(draft);
};

const webhook: JsonObject = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};

const customResourceDefinition: DefaultRule = (draft) => {
  within(draft, 'spec', (spec) => {
    within(spec, 'names', (names) => {
      const kind = names.get('kind');
      if (typeof kind !== 'string' || kind === '') return;
      fill({ singular: kind.toLowerCase(), listKind: `${kind}List` })(names);
    });
    fill({ conversion: { strategy: 'None' } })(spec);
  });
  const versions = objectAt(draft, 'spec').versions;
  const stored = Array.isArray(versions)
    ? versions.filter(isObject).find((version) => version.storage === true)
    : undefined;
  const name = stored?.name;
  if (typeof name !== 'string') return;
  within(draft, 'status', (status) => {
    if (isEmptyList(status.get('storedVersions'))) status.set('storedVersions', [name]);
  });
};

const networkPolicySpec: DefaultRule = (draft) => {
  if (!isEmptyList(draft.get('policyTypes'))) return;
  const egress = !isEmptyList(draft.get('egress'));
  draft.set('policyTypes', egress ? ['Ingress', 'Egress'] : ['Ingress']);
};

const endpointPort: DefaultRule = (draft) => {
  if (isUnset(draft.get('name'))) draft.set('name', '');
  fill({ protocol: 'TCP' })(draft);
};

export const otherRules: readonly RuleEntry[] = [
  ['rbac/v1.RoleRef', fill({ apiGroup: RBAC })],
  ['rbac/v1.Subject', subject],
  ['scheduling/v1.PriorityClass', fill({ preemptionPolicy: 'PreemptLowerPriority' })],
  ['storage/v1.StorageClass', fill({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })],
  [
    'storage/v1.CSIDriverSpec',
    fill({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      seLinuxMount: false,
    }),
  ],
  ['networking/v1.NetworkPolicySpec', networkPolicySpec],
  ['networking/v1.NetworkPolicyPort', fill({ protocol: 'TCP' })],
  ['networking/v1.IngressClassParametersReference', fill({ scope: 'Cluster' })],
  ['discovery/v1.EndpointPort', endpointPort],
  ['admissionregistration/v1.ValidatingWebhook', fill(webhook)],
  ['admissionregistration/v1.MutatingWebhook', fill({ ...webhook, reinvocationPolicy: 'Never' })],
  ['admissionregistration/v1.RuleWithOperations', fill({ scope: '*' })],
  ['admissionregistration/v1.NamedRuleWithOperations', fill({ scope: '*' })],
  ['admissionregistration/v1.ServiceReference', fill({ port: 443 })],
  ['admissionregistration/v1.ValidatingAdmissionPolicySpec', fill({ failurePolicy: 'Fail' })],
  [
    'admissionregistration/v1.MatchResources',
    fill({ matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }),
  ],
  ['apiextensions/v1.CustomResourceDefinition', customResourceDefinition],
  ['apiextensions/v1.ServiceReference', fill({ port: 443 })],
  ['authentication/v1.TokenRequestSpec', fill({ expirationSeconds: 3600 })],
];
