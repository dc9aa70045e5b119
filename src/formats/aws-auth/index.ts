// The ConfigMap kube-system/aws-auth: which IAM roles may act as which users. Adds and removes roles
// of nodes, and tells whom an entry means. Whatever else stands there, comments and order included,
// stays as it is.
import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';

/** data of the ConfigMap; all of its values are texts of YAML. */
export type AwsAuthData = Readonly<Record<string, string>>;

export type AwsAuthChange =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly data: AwsAuthData }
  /** Writing would lose or hide an entry: somebody has to look first. */
  | { readonly kind: 'refused'; readonly why: string };

/** Groups and user name of a node's role, as EKS and eksctl write them (articles 002 and 003). */
const nodeGroups = {
  linux: ['system:bootstrappers', 'system:nodes'],
  windows: ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'],
} as const;
const nodeUser = 'system:node:{{EC2PrivateDNSName}}';

/** As aws-auth must name a role: an assumed role has lost its path. */
export const roleWithoutPath = (arn: string): string =>
  arn.replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/i, '$1/$2');

/** The authenticator compares ARNs in lower case, and never strips the path of one that stands here. */
const isNamed = (entry: YAMLMap, field: string, arn: string): boolean =>
  String(fieldOf(entry, field) ?? '').toLowerCase() === roleWithoutPath(arn).toLowerCase();

type Roles =
  | { readonly kind: 'roles'; readonly seq: YAMLSeq; readonly print: () => string }
  | { readonly kind: 'refused'; readonly why: string };

const readRoles = (text: string | undefined): Roles => {
  const document: Document = parseDocument(text === undefined || text.trim() === '' ? '[]' : text);
  const [error] = document.errors;
  if (error !== undefined) {
    return { kind: 'refused', why: `mapRoles is not YAML: ${error.message.split('\n')[0]}` };
  }
  // Nothing but comments is an empty list with comments.
  document.contents ??= document.createNode([]);
  const { contents } = document;
  if (!isSeq(contents)) return { kind: 'refused', why: 'mapRoles is not a list' };
  if (!contents.items.every((item) => isMap(item))) {
    return { kind: 'refused', why: 'mapRoles has entries that are not objects' };
  }
  const print = (): string => {
    contents.flow = false;
    return contents.items.length === 0
      ? '[]\n'
      : document.toString({ lineWidth: 0, indentSeq: false });
  };
  return { kind: 'roles', seq: contents, print };
};

/** Inner keys are read without regard to case, as the authenticator does. */
const fieldOf = (entry: YAMLMap, name: string): unknown => {
  const pair = entry.items.find(({ key }) => String(key).toLowerCase() === name);
  return pair === undefined ? undefined : entry.get(pair.key);
};

const namedIn = (seq: YAMLSeq, field: string, arn: string): readonly YAMLMap[] =>
  seq.items.filter((item): item is YAMLMap => isMap(item) && isNamed(item, field, arn));

const entriesOf = (seq: YAMLSeq, roleArn: string): readonly YAMLMap[] =>
  namedIn(seq, 'rolearn', roleArn);

const groupsOf = (entry: YAMLMap): readonly string[] => {
  const groups = fieldOf(entry, 'groups');
  return isSeq(groups) ? groups.items.map(String) : [];
};

/** Written for nodes: their user name, and no groups but theirs. Anything else is somebody's own. */
const isNodeEntry = (entry: YAMLMap): boolean =>
  String(fieldOf(entry, 'username') ?? nodeUser) === nodeUser &&
  groupsOf(entry).every((group) => (nodeGroups.windows as readonly string[]).includes(group));

const setGroups = (entry: YAMLMap, groups: readonly string[]): void => {
  const pair = entry.items.find(({ key }) => String(key).toLowerCase() === 'groups');
  entry.set(pair?.key ?? 'groups', [...groups]);
};

/** Lets nodes with this role in. An entry that is there is completed, never doubled. */
export const addNodeRole = (
  data: AwsAuthData,
  roleArn: string,
  system: keyof typeof nodeGroups = 'linux',
): AwsAuthChange => {
  const roles = readRoles(data.mapRoles);
  if (roles.kind === 'refused') return roles;
  const { seq, print } = roles;
  const known = entriesOf(seq, roleArn);
  if (known.length > 1) {
    // The authenticator takes the last one; which of them was meant is not ours to guess.
    return { kind: 'refused', why: `mapRoles names ${roleArn} ${known.length} times; keep one` };
  }
  const [entry] = known;
  if (entry === undefined) {
    const rolearn = roleWithoutPath(roleArn);
    seq.add({ groups: [...nodeGroups[system]], rolearn, username: nodeUser });
  } else {
    const user = String(fieldOf(entry, 'username') ?? nodeUser);
    if (user !== nodeUser) {
      // Completed, nodes would act as that user.
      return { kind: 'refused', why: `mapRoles maps ${roleArn} to the user ${user}` };
    }
    const had = groupsOf(entry);
    const missing = nodeGroups[system].filter((group) => !had.includes(group));
    if (missing.length === 0) return { kind: 'unchanged' };
    setGroups(entry, [...had, ...missing]);
  }
  return {
    kind: 'changed',
    data: { ...data, mapRoles: print(), mapUsers: data.mapUsers ?? '[]\n' },
  };
};

/** Takes a node role's entry away; an entry of somebody's own stays, and so does all else. */
export const removeNodeRole = (data: AwsAuthData, roleArn: string): AwsAuthChange => {
  const roles = readRoles(data.mapRoles);
  if (roles.kind === 'refused') return roles;
  const known = entriesOf(roles.seq, roleArn);
  if (known.length > 1) {
    return { kind: 'refused', why: `mapRoles names ${roleArn} ${known.length} times; keep one` };
  }
  if (!known.every(isNodeEntry)) return { kind: 'unchanged' };
  if (known.length === 0) return { kind: 'unchanged' };
  roles.seq.items = roles.seq.items.filter((item) => !known.includes(item as YAMLMap));
  return { kind: 'changed', data: { ...data, mapRoles: roles.print() } };
};

export interface AwsAuthEntry {
  readonly arn: string;
  readonly username: string;
  readonly groups: readonly string[];
}

/** The entries of mapRoles (or mapUsers) in order; undefined when it cannot be read. */
export const awsAuthEntries = (
  text: string | undefined,
  field: 'rolearn' | 'userarn' = 'rolearn',
): readonly AwsAuthEntry[] | undefined => {
  const roles = readRoles(text);
  if (roles.kind === 'refused') return undefined;
  return roles.seq.items.filter(isMap).map((entry) => ({
    arn: String(fieldOf(entry, field) ?? ''),
    username: String(fieldOf(entry, 'username') ?? ''),
    groups: groupsOf(entry),
  }));
};

/** Who an ARN of GetCallerIdentity is to the API server. */
export interface MappedUser {
  readonly username: string;
  readonly groups: readonly string[];
}

const sessionOf = /^arn:([^:]*):sts::(\d*):assumed-role\/([^/]+)\/(.+)$/;

/** The ARN that an entry names, and the name of the session where a role is assumed. */
export const identityOf = (arn: string): { readonly arn: string; readonly session: string } => {
  const [, partition, account, role, session] = sessionOf.exec(arn) ?? [];
  return session === undefined
    ? { arn, session: '' }
    : { arn: `arn:${partition}:iam::${account}:role/${role}`, session };
};

const entriesFor = (text: string | undefined, field: string, arn: string): readonly YAMLMap[] => {
  const { contents, errors } = parseDocument(text ?? '[]');
  if (errors.length > 0 || !isSeq(contents)) return [];
  return namedIn(contents, field, arn);
};

/** Undefined where the template asks for the name of an instance and the session is none's. */
const filled = (
  template: string,
  facts: Readonly<Record<string, string | undefined>>,
): string | undefined => {
  const names = [...template.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
  if (names.some((name) => facts[name] === undefined)) return undefined;
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => facts[name] ?? '');
};

/** `template` for who has `arn`; undefined where it asks for what they have not. */
export const userNamed = (
  template: string,
  arn: string,
  privateDnsName: (instanceId: string) => string | undefined,
): string | undefined => {
  const identity = identityOf(arn);
  const { session } = identity;
  return filled(template, {
    AccountID: identity.arn.split(':')[4],
    // As the authenticator: an `@` would read as another domain's user.
    SessionName: session.replaceAll('@', '-'),
    SessionNameRaw: session,
    EC2PrivateDNSName: /^i-[0-9a-f]+$/.test(session) ? privateDnsName(session) : undefined,
  });
};

/**
 * Whom `arn` (of a user, a role or a role's session) is mapped to, undefined for nobody. Of several
 * entries the last one counts. `privateDnsName` is asked for a session that is named as an
 * instance, as those of nodes are.
 */
export const mappedUser = (
  data: AwsAuthData,
  arn: string,
  privateDnsName: (instanceId: string) => string | undefined,
): MappedUser | undefined => {
  const identity = identityOf(arn);
  const entry =
    entriesFor(data.mapRoles, 'rolearn', identity.arn).at(-1) ??
    entriesFor(data.mapUsers, 'userarn', identity.arn).at(-1);
  const template = entry && fieldOf(entry, 'username');
  if (entry === undefined || typeof template !== 'string' || template === '') return undefined;
  const username = userNamed(template, arn, privateDnsName);
  return username === undefined ? undefined : { username, groups: groupsOf(entry) };
};
