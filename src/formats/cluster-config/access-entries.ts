// eksctl's accessConfig.accessEntries, which authorize principals: shape, values and the rules
// between them, in EKS' terms. Never checks whether a principal exists.
import { isObject, type Json } from '../../api/json.ts';
import { list, object, text } from './shape.ts';
import { member, objectsOf, textOf, textsOf } from './values.ts';

export interface AccessPolicyConfig {
  readonly policyArn: string;
  readonly scope: 'cluster' | 'namespace';
  readonly namespaces: readonly string[];
}

export interface AccessEntryConfig {
  readonly principalArn: string;
  /** EKS' name of the type. */
  readonly type: string;
  readonly username: string | undefined;
  readonly groups: readonly string[];
  readonly policies: readonly AccessPolicyConfig[];
}

const nodeTypes = ['EC2_LINUX', 'EC2_WINDOWS', 'FARGATE_LINUX', 'HYBRID_LINUX', 'EC2'] as const;

export const accessEntriesShape = list(
  object(
    {
      principalARN: text({
        pattern: {
          regex: /^arn:aws[a-z-]*:iam::\d{12}:(?:role|user)\/\S+$/,
          says: 'the ARN of an IAM role or user, such as arn:aws:iam::111122223333:role/admin',
        },
      }),
      type: text({ oneOf: ['STANDARD', ...nodeTypes] }),
      kubernetesUsername: text(),
      kubernetesGroups: list(text()),
      accessPolicies: list(
        object(
          {
            policyARN: text({
              pattern: {
                regex: /^arn:aws[a-z-]*:eks::aws:cluster-access-policy\/\w+$/,
                says: 'such as arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy',
              },
            }),
            accessScope: object(
              { type: text({ oneOf: ['cluster', 'namespace'] }), namespaces: list(text()) },
              ['type'],
            ),
          },
          ['policyARN', 'accessScope'],
        ),
      ),
    },
    ['principalARN'],
  ),
);

const policyOf = (value: Json): AccessPolicyConfig => {
  const scope = member(value, 'accessScope');
  return {
    policyArn: textOf(member(value, 'policyARN')) ?? '',
    scope: member(scope, 'type') === 'namespace' ? 'namespace' : 'cluster',
    namespaces: textsOf(member(scope, 'namespaces')),
  };
};

export const accessEntriesOf = (value: Json | undefined): readonly AccessEntryConfig[] =>
  objectsOf(value).map((entry) => ({
    principalArn: textOf(entry.principalARN) ?? '',
    type: textOf(entry.type) ?? 'STANDARD',
    username: textOf(entry.kubernetesUsername),
    groups: textsOf(entry.kubernetesGroups),
    policies: objectsOf(entry.accessPolicies).filter(isObject).map(policyOf),
  }));

const faultOf = ({ type, username, groups, policies }: AccessEntryConfig): string | undefined => {
  if (type !== 'STANDARD' && (username !== undefined || groups.length > 0)) {
    return `is of type ${type}, which has no name or groups of one's own: only STANDARD has`;
  }
  if (type !== 'STANDARD' && type !== 'EC2' && policies.length > 0) {
    return `is of type ${type}, which has no policies of one's own: only STANDARD and EC2 have`;
  }
  for (const { scope, namespaces } of policies) {
    if (scope === 'namespace' && namespaces.length === 0) {
      return 'has a policy for namespaces and names none: say accessScope.namespaces';
    }
    if (scope === 'cluster' && namespaces.length > 0) {
      return (
        'has a policy for the whole cluster that names namespaces: set accessScope.type ' +
        'namespace'
      );
    }
  }
  return undefined;
};

/** Faults by path. */
export const accessEntryFaults = (
  entries: readonly AccessEntryConfig[],
  mode: string,
): readonly (readonly [string, string])[] => {
  const path = 'accessConfig.accessEntries';
  if (entries.length > 0 && mode === 'CONFIG_MAP') {
    const message =
      'with authenticationMode CONFIG_MAP, which knows none: say API_AND_CONFIG_MAP or API';
    return [[path, message]];
  }
  const seen = new Set<string>();
  return entries.flatMap((entry, i): (readonly [string, string])[] => {
    const fault = seen.has(entry.principalArn)
      ? `is a second entry of ${entry.principalArn}: EKS has one for each`
      : faultOf(entry);
    seen.add(entry.principalArn);
    return fault === undefined ? [] : [[`${path}[${i}]`, fault]];
  });
};
