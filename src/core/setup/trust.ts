// Who may assume the controller's role: pods by EKS Pod Identity, or by a service account's token
// (IRSA). Pure.
import type { JsonObject } from '../../api/json.ts';
import type { Place } from './notices.ts';

/** The service account of deploy/rbac.yaml and of the chart. */
const account = { namespace: 'kube-system', name: 'drover-controller' } as const;

/** https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html */
export const podIdentityTrust = (): JsonObject => ({
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Principal: { Service: 'pods.eks.amazonaws.com' },
      Action: ['sts:AssumeRole', 'sts:TagSession'],
    },
  ],
});

/**
 * `issuer`: the cluster's OIDC issuer without `https://`.
 * https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
 */
export const serviceAccountTrust = (
  { partition, account: id }: Place,
  issuer: string,
): JsonObject => ({
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Principal: { Federated: `arn:${partition}:iam::${id}:oidc-provider/${issuer}` },
      Action: 'sts:AssumeRoleWithWebIdentity',
      Condition: {
        StringEquals: {
          [`${issuer}:aud`]: 'sts.amazonaws.com',
          [`${issuer}:sub`]: `system:serviceaccount:${account.namespace}:${account.name}`,
        },
      },
    },
  ],
});
