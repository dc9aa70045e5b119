// Plans a change of kube-system/aws-auth: authorizing a node role, removing one, restoring a
// backup. Refuses to lose, change or hide an entry of another owner. Never reads or writes.
import type { KubeObject } from '../../api/kube.ts';
import {
  type AwsAuthChange,
  type AwsAuthData,
  addNodeRole,
  awsAuthEntries,
  removeNodeRole,
  roleWithoutPath,
} from '../../formats/index.ts';

export interface AwsAuthMap extends KubeObject {
  readonly data?: AwsAuthData;
}

export const awsAuthName = { namespace: 'kube-system', name: 'aws-auth' } as const;

/**
 * Annotation on the ConfigMap, set in the write that adds them: roles that Drover may remove again.
 */
const addedAnnotation = 'drover.dev/added-roles';

export const addedRolesOf = (map: AwsAuthMap | undefined): readonly string[] =>
  (map?.metadata.annotations?.[addedAnnotation] ?? '').split(' ').filter((arn) => arn !== '');

export interface AwsAuthWrite {
  readonly kind: 'write';
  /** The complete data after the change. */
  readonly data: AwsAuthData;
  readonly added: readonly string[];
  readonly warnings: readonly string[];
}

export type AwsAuthPlan =
  | AwsAuthWrite
  | { readonly kind: 'unchanged'; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string };

const rolePattern = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]*[\w+=,.@-]$/i;

/** Why this cannot be a node role; undefined when it may be one. */
export const roleComplaint = (arn: string): string | undefined => {
  if (rolePattern.test(arn)) return undefined;
  const what = /:instance-profile\//.test(arn)
    ? 'is an instance profile; name the role that it holds'
    : 'is no ARN of a role (arn:aws:iam::ACCOUNT:role/NAME)';
  return `${arn} ${what}`;
};

const countsOf = (texts: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
};

/**
 * Verifies a planned change: every entry except `leaving` keeps its position, its user and at least
 * its groups, and no ARN occurs more often. Undefined when nothing is lost.
 */
export const lossIn = (
  before: AwsAuthData,
  after: AwsAuthData,
  leaving?: string,
): string | undefined => {
  for (const [key, text] of Object.entries(before)) {
    if (key !== 'mapRoles' && after[key] !== text) return `${key} would change`;
  }
  const had = awsAuthEntries(before.mapRoles);
  const has = awsAuthEntries(after.mapRoles);
  if (had === undefined || has === undefined) return 'mapRoles could not be read any more';
  const staying = had.filter(({ arn }) => arn.toLowerCase() !== leaving?.toLowerCase());
  for (const [i, entry] of staying.entries()) {
    const now = has[i];
    const isKept =
      now?.arn === entry.arn &&
      now.username === entry.username &&
      entry.groups.every((group) => now.groups.includes(group));
    if (!isKept) return `the entry of ${entry.arn || `place ${i + 1}`} would be lost`;
  }
  const lower = (entries: typeof had) => countsOf(entries.map(({ arn }) => arn.toLowerCase()));
  const counts = lower(had);
  for (const [arn, count] of lower(has)) {
    if (count > Math.max(1, counts.get(arn) ?? 0)) return `${arn} would stand there twice`;
  }
  return undefined;
};

const planOf = (
  map: AwsAuthMap | undefined,
  change: AwsAuthChange,
  more: { readonly added: readonly string[]; readonly leaving?: string; readonly warned: string[] },
): AwsAuthPlan => {
  if (change.kind === 'refused') return change;
  if (change.kind === 'unchanged') return { kind: 'unchanged', warnings: more.warned };
  const loss = lossIn(map?.data ?? {}, change.data, more.leaving);
  if (loss !== undefined) return { kind: 'refused', why: loss };
  return { kind: 'write', data: change.data, added: more.added, warnings: more.warned };
};

/** Authorizes the nodes of a role. */
export const planAdmission = (
  map: AwsAuthMap | undefined,
  roleArn: string,
  system: 'linux' | 'windows' = 'linux',
): AwsAuthPlan => {
  const why = roleComplaint(roleArn);
  if (why !== undefined) return { kind: 'refused', why };
  const data = map?.data ?? {};
  const role = roleWithoutPath(roleArn);
  const warned: string[] = [];
  if (role !== roleArn) {
    warned.push(
      `${roleArn} is authorized as ${role}: a node's session does not contain its role's path`,
    );
  }
  const dead = (awsAuthEntries(data.mapRoles) ?? []).filter(
    ({ arn }) => arn !== roleWithoutPath(arn) && roleWithoutPath(arn) === role,
  );
  for (const { arn } of dead) warned.push(`the entry of ${arn} has a path and authorizes no one`);
  const isNew = removeNodeRole(data, role).kind === 'unchanged';
  const known = addedRolesOf(map);
  const added = isNew && !known.includes(role) ? [...known, role] : known;
  return planOf(map, addNodeRole(data, role, system), { added, warned });
};

/** Whether the current map authorizes this role's nodes. */
export const isAdmitted = (map: AwsAuthMap | undefined, roleArn: string): boolean =>
  planAdmission(map, roleArn).kind === 'unchanged';

/**
 * Whether this data would authorize nodes of the role: exactly one entry for it, with the node's
 * user name and groups.
 */
export const authorizes = (data: AwsAuthData, roleArn: string): boolean =>
  addNodeRole(data, roleArn).kind === 'unchanged';

/**
 * Removes a role that Drover added, no other. The caller checks first whether it is still in use.
 */
export const planRemoval = (map: AwsAuthMap | undefined, roleArn: string): AwsAuthPlan => {
  const role = roleWithoutPath(roleArn);
  const known = addedRolesOf(map);
  if (!known.includes(role)) return { kind: 'unchanged', warnings: [] };
  const added = known.filter((one) => one !== role);
  return planOf(map, removeNodeRole(map?.data ?? {}, role), { added, leaving: role, warned: [] });
};

/** Keeps the role and gives up ownership: no later deletion of a node group removes it. */
export const planDisowning = (map: AwsAuthMap | undefined, roleArn: string): AwsAuthPlan => {
  const role = roleWithoutPath(roleArn);
  const known = addedRolesOf(map);
  if (!known.includes(role)) return { kind: 'unchanged', warnings: [] };
  const added = known.filter((one) => one !== role);
  return { kind: 'write', data: map?.data ?? {}, added, warnings: [] };
};

/** The request that applies `write` to `map`: a create where there is none, else a merge patch. */
export const awsAuthRequest = (
  map: AwsAuthMap | undefined,
  write: Pick<AwsAuthWrite, 'data' | 'added'>,
  keys: 'all' | 'mapRoles',
) => {
  const { data: whole } = write;
  const data = keys === 'all' ? { ...whole } : { mapRoles: whole.mapRoles ?? '' };
  const added = write.added.join(' ');
  if (map === undefined) {
    const metadata = {
      ...awsAuthName,
      ...(added === '' ? {} : { annotations: { [addedAnnotation]: added } }),
    };
    return {
      verb: 'create',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
    } as const;
  }
  const { resourceVersion } = map.metadata;
  const annotations = { [addedAnnotation]: added === '' ? null : added };
  const gone = Object.keys(map.data ?? {}).filter((key) => keys === 'all' && !(key in whole));
  const body = {
    metadata: { resourceVersion, annotations },
    data: { ...data, ...Object.fromEntries(gone.map((key) => [key, null])) },
  };
  return { verb: 'patch', body } as const;
};
