// The ValidatingAdmissionPolicy that fences a paused leader. It restricts the controller's own
// account to the pod that holds the Lease. Only that pod writes nodes, evicts, deletes pods,
// approves certificates, creates and deletes Jobs, changes Drover's objects or aws-auth. Printed to
// deploy/fence.yaml. It restricts no other account and does not inspect what is written.
import { leaderLease } from './controller-rights.ts';
import type { JsonObject } from './json.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

/** Separates the pod's name from the part that distinguishes its processes. */
const separator = '_';

/**
 * The identity of a process in the Lease. A pod's host name is its name, unless it uses the host
 * network.
 */
export const leaderIdentity = (podName: string, process: string): string =>
  `${podName}${separator}${process}`;

const rule = (
  apiGroup: string,
  resources: readonly string[],
  operations: readonly string[],
): JsonObject => ({
  apiGroups: [apiGroup],
  apiVersions: ['*'],
  operations,
  resources,
  scope: '*',
});

export interface FenceOptions {
  /** Name of the policy and of the binding. */
  readonly name: string;
  /** The controller's account: `namespace` and `name` of its ServiceAccount. */
  readonly account: { readonly namespace: string; readonly name: string };
  readonly lease: { readonly namespace: string; readonly name: string };
}

export const fenceOptions: FenceOptions = {
  name: 'drover-leader',
  account: { namespace: 'kube-system', name: 'drover-controller' },
  lease: leaderLease,
};

/** Policy and binding. The Lease itself is not fenced: a new leader must write it. */
export const fence = ({ name, account, lease }: FenceOptions): readonly JsonObject[] => {
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const where = `${lease.namespace}/${lease.name}`;
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        paramKind: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
        matchConstraints: {
          resourceRules: [
            rule('', ['nodes', 'nodes/status'], ['UPDATE']),
            rule('', ['pods/eviction'], ['CREATE']),
            rule('', ['pods'], ['DELETE']),
            rule('', ['configmaps'], ['CREATE', 'UPDATE']),
            rule('certificates.k8s.io', ['certificatesigningrequests/approval'], ['UPDATE']),
            rule('batch', ['jobs'], ['CREATE', 'DELETE']),
            rule('drover.dev', ['*/*'], ['CREATE', 'UPDATE', 'DELETE']),
          ],
        },
        matchConditions: [
          { name: 'is-the-controller', expression: `request.userInfo.username == '${user}'` },
        ],
        variables: [
          {
            name: 'pod',
            expression:
              "'authentication.kubernetes.io/pod-name' in request.userInfo.extra ? " +
              "request.userInfo.extra['authentication.kubernetes.io/pod-name'][0] : ''",
          },
          {
            name: 'holder',
            expression: "has(params.spec.holderIdentity) ? params.spec.holderIdentity : ''",
          },
        ],
        validations: [
          {
            expression: "variables.pod != ''",
            message:
              `the token of ${user} is not bound to a pod, so nobody ` +
              'can tell whether it leads',
            reason: 'Forbidden',
          },
          {
            expression: `variables.holder.startsWith(variables.pod + '${separator}')`,
            messageExpression:
              `'pod ' + variables.pod + ' does not lead: Lease ${where} is held by \\'' + ` +
              `variables.holder + '\\''`,
            reason: 'Forbidden',
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        paramRef: { ...lease, parameterNotFoundAction: 'Deny' },
      },
    },
  ];
};
