// Whether the cluster would authorize a node of this role, by the current kube-system/aws-auth: the
// authenticator's own reading, and common mistakes in the map. Changes nothing.
import { awsAuthEntries, mappedUser } from '../../formats/index.ts';
import type { JoinCause, JoinCauseCode, JoinEvidence } from './joining-evidence.ts';

const anyName = 'ip-0-0-0-0.internal';
const anyInstance = 'i-00000000000000000';

const cause = (
  code: JoinCauseCode,
  what: string,
  evidence: readonly string[],
  remedy: readonly string[],
): JoinCause => ({ code, certainty: 'likely', what, evidence, remedy, instances: [] });

const edit = '$ kubectl -n kube-system edit configmap aws-auth';

const sessionOf = (roleArn: string): string =>
  roleArn.replace(
    /^(arn:[^:]*):iam::(\d*):role\/(?:.*\/)?([^/]+)$/,
    `$1:sts::$2:assumed-role/$3/${anyInstance}`,
  );

const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf('/') + 1).toLowerCase();

const entryText = (roleArn: string, isWindows: boolean): string =>
  `Add to mapRoles: rolearn ${roleArn.replace(/:role\/.*\//, ':role/')}, username ` +
  'system:node:{{EC2PrivateDNSName}}, groups system:bootstrappers, system:nodes' +
  (isWindows ? ', eks:kube-proxy-windows' : '');

/** Why an ARN that was meant for the role does not match it. */
const missed = (entries: readonly { readonly arn: string }[], roleArn: string): readonly string[] =>
  entries
    .filter(({ arn }) => nameOf(arn) === nameOf(roleArn))
    .map(({ arn }) =>
      /:instance-profile\//.test(arn)
        ? `mapRoles has ${arn}: an instance profile, which cannot be assumed (AUTH005)`
        : /:role\/.*\//.test(arn)
          ? `mapRoles has ${arn}: with its path no session matches it (AUTH001)`
          : `mapRoles has ${arn}: of another account or partition`,
    );

const mappedCauses = (
  data: Readonly<Record<string, string>>,
  roleArn: string,
  isWindows: boolean,
): readonly JoinCause[] => {
  const entries = awsAuthEntries(data.mapRoles);
  if (entries === undefined) {
    const what = 'mapRoles of kube-system/aws-auth cannot be read, so it authorizes no node';
    return [cause('RoleNotMapped', what, ['it is no YAML list of entries'], [edit])];
  }
  const user = mappedUser(data, sessionOf(roleArn), () => anyName);
  const same = entries.filter(({ arn }) => nameOf(arn) === nameOf(roleArn));
  if (user === undefined) {
    const without = same.find(({ username }) => username === '');
    const evidence = missed(entries, roleArn);
    const what = `the node role ${roleArn} is not in kube-system/aws-auth`;
    const why =
      without === undefined
        ? `none of the ${entries.length} entries of mapRoles is for it`
        : `the entry of ${without.arn} has no username`;
    return [
      cause('RoleNotMapped', what, evidence.length > 0 ? evidence : [why], [
        entryText(roleArn, isWindows),
        edit,
      ]),
    ];
  }
  const isNode = user.username === `system:node:${anyName}` && user.groups.includes('system:nodes');
  if (!isNode && !user.groups.includes('system:masters')) {
    const twice =
      same.length > 1 ? `; of its ${same.length} entries the last one counts (AUTH002)` : '';
    const groups = user.groups.join(', ') || 'no groups';
    return [
      cause(
        'RoleMappedWrongly',
        `kube-system/aws-auth maps the node role ${roleArn} to an identity that is not a node`,
        [
          `its user is ${user.username.replaceAll(anyName, '{{EC2PrivateDNSName}}')}, with ` +
            `${groups}${twice}`,
        ],
        [entryText(roleArn, isWindows), edit],
      ),
    ];
  }
  if (!isWindows || user.groups.includes('eks:kube-proxy-windows')) return [];
  const what = 'the role of a Windows group lacks the group eks:kube-proxy-windows (AUTH004)';
  return [
    {
      ...cause('RoleMappedWrongly', what, ['its nodes join, and no Service works on them'], [edit]),
      certainty: 'possible',
    },
  ];
};

/** `likely` at most: only a console shows that the role prevents a node from joining. */
export const roleCauses = ({ roles, roleArn, isWindows }: JoinEvidence): readonly JoinCause[] => {
  if (roleArn === undefined) return [];
  switch (roles.kind) {
    case 'unused':
    case 'unknown':
      return [];
    case 'absent':
      return [
        cause(
          'RoleNotMapped',
          `the node role ${roleArn} is not in kube-system/aws-auth`,
          ['there is no ConfigMap kube-system/aws-auth'],
          [entryText(roleArn, isWindows)],
        ),
      ];
    case 'map':
      return mappedCauses(roles.data, roleArn, isWindows);
  }
};
