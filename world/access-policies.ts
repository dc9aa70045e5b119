// The ClusterRoles that the access policies of a principal's access entry give to its user. The
// user is known by the ARN that the authenticator puts into the extra fields. Decides nothing.
import { type AwsWorld, accessPolicies } from './aws/index.ts';
import type { UserInfo } from './contracts.ts';
import type { AccessPolicies } from './kube/server/index.ts';

export const accessPoliciesOf = (
  aws: Pick<AwsWorld, 'accessOf'>,
  user: UserInfo,
): ReturnType<AccessPolicies> => {
  const [canonicalArn] = user.extra?.canonicalArn ?? [];
  if (canonicalArn === undefined) return [];
  const policies = aws.accessOf(canonicalArn).entry?.policies ?? [];
  return policies.flatMap(({ policyArn, scope, namespaces }) => {
    const known = accessPolicies.find(({ arn }) => arn === policyArn);
    if (known === undefined) return [];
    const where = scope === 'cluster' ? undefined : namespaces;
    return [{ policy: policyArn, clusterRole: known.clusterRole, namespaces: where }];
  });
};
