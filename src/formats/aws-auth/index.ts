// The ConfigMap kube-system/aws-auth, which maps IAM roles to users. Adds and removes roles of
// nodes, and resolves the user of an ARN. Never changes anything else in it, comments and order
// included.
import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { Lines } from '../position.ts';
import { refuseRepeatedKeys } from '../yaml-keys.ts';

/** data of the ConfigMap; every value is YAML text. */
export type AwsAuthData = Readonly<Record<string, string>>;

export type AwsAuthChange =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly data: AwsAuthData }
  /** Writing would lose or hide an entry: an operator has to check it first. */
  | { readonly kind: 'refused'; readonly why: string };

/** Groups and user name of a node's role, as EKS and eksctl write them (articles 002 and 003). */
const nodeGroups = {
  linux: ['system:bootstrappers', 'system:nodes'],
  windows: ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'],
} as const;
const nodeUser = 'system:node:{{EC2PrivateDNSName}}';

/** The ARN form that aws-auth requires: an assumed role's ARN has no path. */
export const roleWithoutPath = (arn: string): string =>
  arn.replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/i, '$1/$2');

/** The authenticator compares ARNs in lower case, and never strips the path of an entry's ARN. */
const isNamed = (arn: string, asked: string): boolean =>
  arn.toLowerCase() === roleWithoutPath(asked).toLowerCase();

/** An entry as written, and as read with the fields that aliases and merge keys add. */
interface Written {
  readonly node: YAMLMap;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Roles =
  | {
      readonly kind: 'roles';
      readonly seq: YAMLSeq;
      readonly entries: readonly Written[];
      readonly print: () => string;
    }
  | { readonly kind: 'refused'; readonly why: string };

/** A text with more aliases is an attempt to exhaust memory. */
const maxAliases = 100;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every scalar is text and is written back unchanged: `0123` stays. */
const parsed = (text: string | undefined): Document => {
  const document = parseDocument(text === undefined || text.trim() === '' ? '[]' : text, {
    schema: 'failsafe',
    merge: true,
    prettyErrors: false,
    uniqueKeys: false,
  });
  refuseRepeatedKeys(document);
  return document;
};

const writtenIn = (document: Document, seq: YAMLSeq): readonly Written[] | undefined => {
  const values: unknown = document.toJS({ maxAliasCount: maxAliases });
  if (!Array.isArray(values)) return undefined;
  const entries = seq.items.flatMap((node, i): readonly Written[] => {
    const fields: unknown = values[i];
    return isMap(node) && isObject(fields) ? [{ node, fields }] : [];
  });
  return entries.length === seq.items.length ? entries : undefined;
};

const readRoles = (text: string | undefined): Roles => {
  const document = parsed(text);
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, column } = new Lines(text ?? '').at(error.pos[0]);
    const where = `line ${line}, column ${column}`;
    return { kind: 'refused', why: `mapRoles is not YAML: ${error.message} at ${where}` };
  }
  // A document with only comments is an empty list with comments.
  document.contents ??= document.createNode([]);
  const { contents } = document;
  if (!isSeq(contents)) return { kind: 'refused', why: 'mapRoles is not a list' };
  let entries: readonly Written[] | undefined;
  try {
    entries = writtenIn(document, contents);
  } catch (problem) {
    // Undefined or circular aliases, or too many.
    const why = problem instanceof Error ? problem.message : String(problem);
    return { kind: 'refused', why: `mapRoles is not to be read: ${why}` };
  }
  if (entries === undefined) {
    return { kind: 'refused', why: 'mapRoles has entries that are not objects' };
  }
  const print = (): string => {
    contents.flow = false;
    return document.toString({ lineWidth: 0, indentSeq: false });
  };
  return { kind: 'roles', seq: contents, entries, print };
};

/** Inner keys are case-insensitive, as in the authenticator. */
const fieldOf = ({ fields }: Pick<Written, 'fields'>, name: string): unknown => {
  const key = Object.keys(fields).find((one) => one.toLowerCase() === name);
  return key === undefined || fields[key] === '' ? undefined : fields[key];
};

const textOf = (entry: Pick<Written, 'fields'>, name: string): string =>
  String(fieldOf(entry, name) ?? '');

const namedIn = (entries: readonly Written[], field: string, arn: string): readonly Written[] =>
  entries.filter((entry) => isNamed(textOf(entry, field), arn));

const groupsOf = (entry: Pick<Written, 'fields'>): readonly string[] => {
  const groups = fieldOf(entry, 'groups');
  return Array.isArray(groups) ? groups.map(String) : [];
};

/** An entry for nodes: their user name, and only their groups. Any other entry is a user's own. */
const isNodeEntry = (entry: Written): boolean =>
  (fieldOf(entry, 'username') ?? nodeUser) === nodeUser &&
  groupsOf(entry).every((group) => (nodeGroups.windows as readonly string[]).includes(group));

const setGroups = ({ node: entry }: Written, groups: readonly string[]): void => {
  const pair = entry.items.find(({ key }) => String(key).toLowerCase() === 'groups');
  entry.set(pair?.key ?? 'groups', [...groups]);
};

const changedTo = (data: AwsAuthData, print: () => string, roleArn: string): AwsAuthChange => {
  try {
    return { kind: 'changed', data: { ...data, mapRoles: print() } };
  } catch (problem) {
    // The printer refuses an alias whose anchor the change removed.
    const why = problem instanceof Error ? problem.message : String(problem);
    return { kind: 'refused', why: `another entry takes parts of that of ${roleArn}: ${why}` };
  }
};

/** Authorizes nodes with this role. Completes an existing entry, never duplicates it. */
export const addNodeRole = (
  data: AwsAuthData,
  roleArn: string,
  system: keyof typeof nodeGroups = 'linux',
): AwsAuthChange => {
  const roles = readRoles(data.mapRoles);
  if (roles.kind === 'refused') return roles;
  const { seq, entries, print } = roles;
  const known = namedIn(entries, 'rolearn', roleArn);
  if (known.length > 1) {
    // The authenticator uses the last entry; which one was intended is unknown.
    return { kind: 'refused', why: `mapRoles names ${roleArn} ${known.length} times; keep one` };
  }
  const [entry] = known;
  if (entry === undefined) {
    const rolearn = roleWithoutPath(roleArn);
    seq.add({ groups: [...nodeGroups[system]], rolearn, username: nodeUser });
  } else {
    const user = String(fieldOf(entry, 'username') ?? nodeUser);
    if (user !== nodeUser) {
      // If Drover completed this entry, nodes would act as that user.
      return { kind: 'refused', why: `mapRoles maps ${roleArn} to the user ${user}` };
    }
    const groups = fieldOf(entry, 'groups');
    if (groups !== undefined && !Array.isArray(groups)) {
      return { kind: 'refused', why: `the groups of ${roleArn} are no list` };
    }
    const had = groupsOf(entry);
    const missing = nodeGroups[system].filter((group) => !had.includes(group));
    if (missing.length === 0) return { kind: 'unchanged' };
    setGroups(entry, [...had, ...missing]);
  }
  return changedTo({ ...data, mapUsers: data.mapUsers ?? '[]\n' }, print, roleArn);
};

/** Removes a node role's entry; keeps a user's own entry and everything else. */
export const removeNodeRole = (data: AwsAuthData, roleArn: string): AwsAuthChange => {
  const roles = readRoles(data.mapRoles);
  if (roles.kind === 'refused') return roles;
  const { seq, entries, print } = roles;
  const known = namedIn(entries, 'rolearn', roleArn);
  if (known.length > 1) {
    return { kind: 'refused', why: `mapRoles names ${roleArn} ${known.length} times; keep one` };
  }
  const [entry] = known;
  if (entry === undefined || !isNodeEntry(entry)) return { kind: 'unchanged' };
  seq.items = seq.items.filter((item) => item !== entry.node);
  return changedTo(data, print, roleArn);
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
  return roles.entries.map((entry) => ({
    arn: textOf(entry, field),
    username: textOf(entry, 'username'),
    groups: groupsOf(entry),
  }));
};

/** The user that the API server maps an ARN of GetCallerIdentity to. */
export interface MappedUser {
  readonly username: string;
  readonly groups: readonly string[];
}

const sessionOf = /^arn:([^:]*):sts::(\d*):assumed-role\/([^/]+)\/(.+)$/;

/** The ARN that an entry names, and the session name of an assumed role. */
export const identityOf = (arn: string): { readonly arn: string; readonly session: string } => {
  const [, partition, account, role, session] = sessionOf.exec(arn) ?? [];
  return session === undefined
    ? { arn, session: '' }
    : { arn: `arn:${partition}:iam::${account}:role/${role}`, session };
};

/** Skips unreadable entries; all others apply. */
const entriesFor = (
  text: string | undefined,
  field: string,
  arn: string,
): readonly Pick<Written, 'fields'>[] => {
  const document = parsed(text);
  if (document.errors.length > 0) return [];
  let values: unknown;
  try {
    values = document.toJS({ maxAliasCount: maxAliases });
  } catch {
    return [];
  }
  const entries = Array.isArray(values) ? values.filter(isObject) : [];
  return entries
    .map((fields) => ({ fields }))
    .filter((entry) => isNamed(textOf(entry, field), arn));
};

/** Undefined when the template needs an instance's name and the session is not an instance's. */
const filled = (
  template: string,
  facts: Readonly<Record<string, string | undefined>>,
): string | undefined => {
  const names = [...template.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
  if (names.some((name) => facts[name] === undefined)) return undefined;
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => facts[name] ?? '');
};

/** `template` filled for `arn`; undefined when a value that it needs is missing. */
export const userNamed = (
  template: string,
  arn: string,
  privateDnsName: (instanceId: string) => string | undefined,
): string | undefined => {
  const identity = identityOf(arn);
  const { session } = identity;
  return filled(template, {
    AccountID: identity.arn.split(':')[4],
    // Like the authenticator: an `@` would read as another domain's user.
    SessionName: session.replaceAll('@', '-'),
    SessionNameRaw: session,
    EC2PrivateDNSName: /^i-[0-9a-f]+$/.test(session) ? privateDnsName(session) : undefined,
  });
};

/**
 * The user that `arn` (of a user, a role or a role's session) maps to, or undefined. Among several
 * entries the last one applies. Calls `privateDnsName` for a session that is named like an
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
