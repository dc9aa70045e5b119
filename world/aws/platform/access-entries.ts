// EKS access entries: map IAM principals to Kubernetes users without aws-auth. Rows, the
// permissions of each type, and the changes of a cluster's authentication mode. Answers no calls.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Table } from '../../kernel/index.ts';
import type { Tags } from '../filters.ts';
import { refuse, type Scope } from '../scope.ts';
import type { ClusterRow, Clusters } from './clusters.ts';
import type { Identity } from './identity.ts';

export const entryTypes = [
  'STANDARD',
  'EC2_LINUX',
  'EC2_WINDOWS',
  'EC2',
  'FARGATE_LINUX',
  'HYBRID_LINUX',
] as const;
export type EntryType = (typeof entryTypes)[number];

export type PolicyRow = {
  readonly policyArn: string;
  readonly scope: 'cluster' | 'namespace';
  readonly namespaces: readonly string[];
  readonly associatedAt: number;
  readonly modifiedAt: number;
};

export type AccessEntryRow = {
  readonly cluster: string;
  readonly principalArn: string;
  /** Id of the principal at creation: a role recreated under the same ARN is another principal. */
  readonly principalId: string | undefined;
  readonly type: EntryType;
  readonly username: string;
  readonly groups: readonly string[];
  readonly arn: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly tags: Tags;
  readonly policies: readonly PolicyRow[];
};

export interface EntryUser {
  /** A template, as in aws-auth. */
  readonly username: string;
  readonly groups: readonly string[];
}

const nodeUser = 'system:node:{{EC2PrivateDNSName}}';
const sessionUser = 'system:node:{{SessionName}}';

/** The Kubernetes user of nodes, by type of entry (user guide, "Create access entries"). */
const nodeUsers: Readonly<Record<Exclude<EntryType, 'STANDARD'>, EntryUser>> = {
  EC2_LINUX: { username: nodeUser, groups: ['system:nodes'] },
  EC2_WINDOWS: { username: nodeUser, groups: ['system:nodes', 'eks:kube-proxy-windows'] },
  EC2: { username: sessionUser, groups: ['system:nodes'] },
  FARGATE_LINUX: { username: sessionUser, groups: ['system:nodes', 'system:node-proxier'] },
  HYBRID_LINUX: { username: sessionUser, groups: ['system:nodes'] },
};

const partsOf = (arn: string) => /^arn:[^:]*:iam::(\d*):(role|user)\/(?:.*\/)?([^/]+)$/.exec(arn);

/** The default user name of a principal: the user's ARN, or the role's session. */
const standardName = (arn: string): string => {
  const [, account, kind, name] = partsOf(arn) ?? [];
  if (kind !== 'role') return arn;
  return `${arn.split(':').slice(0, 2).join(':')}:sts::${account}:assumed-role/${name}/{{SessionName}}`;
};

const modes = ['CONFIG_MAP', 'API_AND_CONFIG_MAP', 'API'];

export class AccessEntries {
  readonly scope: Scope;
  readonly #identity: Identity;
  readonly #rows: Table<AccessEntryRow>;
  readonly #listeners: (() => void)[] = [];

  constructor(scope: Scope, identity: Identity) {
    this.scope = scope;
    this.#identity = identity;
    this.#rows = scope.kernel.tables.open<AccessEntryRow>('aws/eks/access-entries');
  }

  /** Called at every change of the authorized principals. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  of(cluster: string): readonly AccessEntryRow[] {
    return [...this.#rows.values()].filter((row) => row.cluster === cluster);
  }

  get(cluster: string, principalArn: string): AccessEntryRow | undefined {
    return this.#rows.get(`${cluster}/${principalArn}`);
  }

  need(cluster: string, principalArn: string): AccessEntryRow {
    const row = this.get(cluster, principalArn);
    if (row !== undefined) return row;
    throw refuse(
      'ResourceNotFoundException',
      'The specified principalArn could not be found. You can view your available access entries ' +
        "with 'list-access-entries'.",
    );
  }

  put(row: AccessEntryRow): AccessEntryRow {
    const kept = { ...row, modifiedAt: this.scope.now() };
    this.#rows.put(`${row.cluster}/${row.principalArn}`, kept);
    this.changed();
    return kept;
  }

  remove(row: AccessEntryRow): void {
    this.#rows.delete(`${row.cluster}/${row.principalArn}`);
    this.changed();
  }

  forgetCluster(cluster: string): void {
    for (const row of this.of(cluster)) this.remove(row);
  }

  create(entry: {
    readonly cluster: string;
    readonly principalArn: string;
    readonly type: EntryType;
    readonly username?: string | undefined;
    readonly groups?: readonly string[];
    readonly tags?: Tags;
  }): AccessEntryRow {
    const { cluster, principalArn, type, tags = {} } = entry;
    const [, account = '', kind = 'role', name = ''] = partsOf(principalArn) ?? [];
    const now = this.scope.now();
    const id = this.scope.uuid('aws.eks.access');
    const node = type === 'STANDARD' ? undefined : nodeUsers[type];
    return this.put({
      cluster,
      principalArn,
      type,
      tags,
      principalId: this.#principalId(principalArn),
      username: node?.username ?? entry.username ?? standardName(principalArn),
      groups: node?.groups ?? entry.groups ?? [],
      arn: this.scope.arn('eks', `access-entry/${cluster}/${kind}/${account}/${name}/${id}`),
      createdAt: now,
      modifiedAt: now,
      policies: [],
    });
  }

  /** Id of a role of this account; principals of other accounts are not checked. */
  #principalId(arn: string): string | undefined {
    const [, account, kind, name] = partsOf(arn) ?? [];
    if (kind !== 'role' || account !== this.scope.account) return undefined;
    return this.#identity.role(name ?? '')?.id;
  }

  /** Whether a role of this account exists; EKS checks this with IAM. */
  isThere(arn: string): boolean {
    const [, account, kind, name] = partsOf(arn) ?? [];
    const isOwnRole = kind === 'role' && account === this.scope.account;
    return !isOwnRole || this.#identity.role(name ?? '') !== undefined;
  }

  /** The entry of this principal, unless the principal was recreated since. */
  live(cluster: string, principalArn: string): AccessEntryRow | undefined {
    const row = this.get(cluster, principalArn);
    if (row === undefined) return undefined;
    return row.principalId === this.#principalId(principalArn) ? row : undefined;
  }

  /** By the ARN of a session, which lacks the path of the role. */
  ofSession(cluster: string, canonicalArn: string): AccessEntryRow | undefined {
    const wanted = canonicalArn.toLowerCase();
    const row = this.of(cluster).find(({ principalArn }) => {
      const bare = principalArn.replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/, '$1/$2');
      return bare.toLowerCase() === wanted;
    });
    return row && this.live(cluster, row.principalArn);
  }
}

/** Modes change in one direction, one step at a time. Throws EKS' error otherwise. */
export const checkModeChange = (row: ClusterRow, wanted: string): void => {
  const [from, to] = [modes.indexOf(row.authenticationMode), modes.indexOf(wanted)];
  if (to === from + 1) return;
  throw refuse(
    'InvalidParameterException',
    `Unsupported authentication mode update from ${row.authenticationMode} to ${wanted}`,
  );
};

export const renderEntry = (row: AccessEntryRow): JsonObject => ({
  clusterName: row.cluster,
  principalArn: row.principalArn,
  kubernetesGroups: row.groups,
  accessEntryArn: row.arn,
  createdAt: row.createdAt,
  modifiedAt: row.modifiedAt,
  tags: row.tags,
  username: row.username,
  type: row.type,
});

/** The access that entries give to one principal. */
export interface AccessAnswer {
  readonly entry: AccessEntryRow | undefined;
  readonly isAlone: boolean;
}

export const accessOf = (
  { clusters, entries }: { readonly clusters: Clusters; readonly entries: AccessEntries },
  canonicalArn: string,
): AccessAnswer => {
  const [cluster] = clusters.all();
  if (cluster === undefined || cluster.authenticationMode === 'CONFIG_MAP') {
    return { entry: undefined, isAlone: false };
  }
  const entry = entries.ofSession(cluster.name, canonicalArn);
  return { entry, isAlone: cluster.authenticationMode === 'API' };
};
