// Problems in the authorization of nodes: entries that match no one or hide one another, groups
// whose nodes would not be authorized. Finds them, never changes anything.
import { awsAuthEntries, mapRolesProblems, roleWithoutPath } from '../../formats/index.ts';
import type { AwsAuthMap } from './aws-auth.ts';

export interface IdentityFinding {
  readonly severity: 'error' | 'warning';
  /** A rule of docs/rules where there is one. */
  readonly rule: string;
  /** Line of mapRoles; undefined where no line is at fault. */
  readonly line: number | undefined;
  readonly message: string;
  readonly remedy: string;
}

/** Something that starts nodes with a role. */
export interface RoleUser {
  /** `node group demo-ng` */
  readonly name: string;
  readonly roleArn: string;
  /** Undefined: unknown. */
  readonly system: 'linux' | 'windows' | undefined;
}

const windowsGroup = 'eks:kube-proxy-windows';
const page = (rule: string): string => `docs/rules/${rule}.md says what it does to nodes`;

const finding = (
  rule: string,
  message: string,
  remedy: string,
  line?: number,
): IdentityFinding => ({ severity: 'error', rule, line, message, remedy });

const ofUser = (
  { name, roleArn, system }: RoleUser,
  entries: NonNullable<ReturnType<typeof awsAuthEntries>>,
): readonly IdentityFinding[] => {
  const role = roleWithoutPath(roleArn);
  // The authenticator uses the last one of several entries.
  const entry = entries.filter(({ arn }) => arn.toLowerCase() === role.toLowerCase()).at(-1);
  if (entry === undefined) {
    const message = `${role} of ${name} is not in mapRoles: its nodes are not let in`;
    const remedy = 'add it; `drover identity restore --dry-run` shows whether a backup has it';
    return [finding('role-not-mapped', message, remedy)];
  }
  const wanted = [
    'system:bootstrappers',
    'system:nodes',
    ...(system === 'windows' ? [windowsGroup] : []),
  ];
  const missing = wanted.filter((group) => !entry.groups.includes(group));
  if (missing.length === 0) return [];
  const rule = missing.includes(windowsGroup) ? 'windows-group-missing' : 'groups-missing';
  const message = `${role} of ${name} lacks ${missing.join(' and ')}`;
  return [finding(rule, message, `add ${missing.join(' and ')} to the groups of its entry`)];
};

/**
 * Linux nodes of a role with the Windows group break the network of Windows pods, and vice versa.
 */
const sharedBySystems = (users: readonly RoleUser[]): readonly IdentityFinding[] => {
  const roles = Map.groupBy(users, ({ roleArn }) => roleWithoutPath(roleArn));
  return [...roles].flatMap(([role, those]) => {
    const systems = new Set(those.flatMap(({ system }) => system ?? []));
    if (systems.size < 2) return [];
    const message =
      `${role} is shared by ` + `${those.map(({ name }) => name).join(' and ')}, of both systems`;
    const remedy = 'give Windows groups a role of their own';
    return [
      {
        severity: 'warning',
        rule: 'role-of-both-systems',
        line: undefined,
        message,
        remedy,
      } as const,
    ];
  });
};

export const identityFindings = (
  map: AwsAuthMap | undefined,
  users: readonly RoleUser[],
): readonly IdentityFinding[] => {
  const text = map?.data?.mapRoles ?? '';
  const written = mapRolesProblems(text).map(({ rule, at, message }) =>
    finding(rule, message, page(rule), at.line),
  );
  const entries = awsAuthEntries(text);
  // The findings below need the entries of the map.
  if (entries === undefined) {
    if (written.length > 0) return written;
    return [finding('AUTH006', 'mapRoles is not a list of objects', page('AUTH006'))];
  }
  return [...written, ...users.flatMap((user) => ofUser(user, entries)), ...sharedBySystems(users)];
};
