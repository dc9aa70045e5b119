// What a change of kube-system/aws-auth would write: a node's role let in or taken out, a backup
// put back. Refuses what would lose, change or hide an entry of somebody else's; never reads or
// writes.
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

/** On the ConfigMap, in the write that adds them: the roles that are ours to take out again. */
const addedAnnotation = 'drover.dev/added-roles';

export const addedRolesOf = (map: AwsAuthMap | undefined): readonly string[] =>
  (map?.metadata.annotations?.[addedAnnotation] ?? '').split(' ').filter((arn) => arn !== '');

export interface AwsAuthWrite {
  readonly kind: 'write';
  /** The whole of it as it will be. */
  readonly data: AwsAuthData;
  readonly added: readonly string[];
  readonly warnings: readonly string[];
}

export type AwsAuthPlan =
  | AwsAuthWrite
  | { readonly kind: 'unchanged'; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string };

const rolePattern = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]*[\w+=,.@-]$/i;

/** Why this can be no role of nodes; undefined when it may be one. */
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
 * The second look at our own work: every entry but `leaving` stands where it stood, with its user
 * and at least its groups; no ARN stands there more often. Undefined when nothing is lost.
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

/** Lets the nodes of a role in. */
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
    warned.push(`${roleArn} is let in as ${role}: a node's session never tells its role's path`);
  }
  const dead = (awsAuthEntries(data.mapRoles) ?? []).filter(
    ({ arn }) => arn !== roleWithoutPath(arn) && roleWithoutPath(arn) === role,
  );
  for (const { arn } of dead) warned.push(`the entry of ${arn} has a path and lets nobody in`);
  const isNew = removeNodeRole(data, role).kind === 'unchanged';
  const known = addedRolesOf(map);
  const added = isNew && !known.includes(role) ? [...known, role] : known;
  return planOf(map, addNodeRole(data, role, system), { added, warned });
};

/** Whether the map lets this role's nodes in as it is. */
export const isAdmitted = (map: AwsAuthMap | undefined, roleArn: string): boolean =>
  planAdmission(map, roleArn).kind === 'unchanged';

/**
 * Whether nodes of this role would be let in by such a map: there once, as a node, in nodes'
 * groups.
 */
export const letsIn = (data: AwsAuthData, roleArn: string): boolean =>
  addNodeRole(data, roleArn).kind === 'unchanged';

/**
 * Takes out a role that we added, no other. Who else uses it is asked before, by whoever calls
 * this.
 */
export const planRetirement = (map: AwsAuthMap | undefined, roleArn: string): AwsAuthPlan => {
  const role = roleWithoutPath(roleArn);
  const known = addedRolesOf(map);
  if (!known.includes(role)) return { kind: 'unchanged', warnings: [] };
  const added = known.filter((one) => one !== role);
  return planOf(map, removeNodeRole(map?.data ?? {}, role), { added, leaving: role, warned: [] });
};

/** Leaves the role where it is, and to others: no later delete of a node group takes it out. */
export const planDisowning = (map: AwsAuthMap | undefined, roleArn: string): AwsAuthPlan => {
  const role = roleWithoutPath(roleArn);
  const known = addedRolesOf(map);
  if (!known.includes(role)) return { kind: 'unchanged', warnings: [] };
  const added = known.filter((one) => one !== role);
  return { kind: 'write', data: map?.data ?? {}, added, warnings: [] };
};

/** What makes `write` true of `map`: a create where there is none, else a merge patch. */
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
