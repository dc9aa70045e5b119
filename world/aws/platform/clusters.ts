// EKS clusters, their updates and add-ons: rows and their changes over time. A world has one
// Kubernetes API, hence one cluster. Node groups are Drover's own objects and are not stored here.
import { hexString, type Table, type WorldEvent } from '../../kernel/index.ts';
import type { Tags } from '../filters.ts';
import { refuse, type Scope, type Span } from '../scope.ts';

/** The cluster's API in the form of `describe-cluster`. */
export interface ClusterAccess {
  readonly endpoint: string;
  /**
   * Earlier endpoints, in this world or in the one that it is a copy of: existing nodes still use
   * them.
   */
  readonly formerEndpoints?: readonly string[];
  /** PEM in base64. */
  readonly certificateAuthorityData: string;
}

export type LogType = 'api' | 'audit' | 'authenticator' | 'controllerManager' | 'scheduler';
export const logTypes: readonly LogType[] = [
  'api',
  'audit',
  'authenticator',
  'controllerManager',
  'scheduler',
];

/** Service CIDR of every cluster in a world. */
export const serviceCidr = '10.100.0.0/16';

export type ClusterStatus = 'CREATING' | 'ACTIVE' | 'UPDATING' | 'DELETING';

export type ClusterRow = {
  readonly name: string;
  /** Minor version, e.g. `1.32`. */
  readonly version: string;
  readonly createdAt: number;
  readonly status: ClusterStatus;
  readonly roleArn: string;
  readonly oidcId: string;
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupIds: readonly string[];
  readonly clusterSecurityGroupId: string;
  /** Types of control plane logs that are sent to CloudWatch. */
  readonly logs: readonly LogType[];
  readonly publicAccess: boolean;
  readonly privateAccess: boolean;
  readonly publicAccessCidrs: readonly string[];
  readonly authenticationMode: string;
  /** Whether the cluster is created with aws-node, kube-proxy and CoreDNS. */
  readonly bringsAddons: boolean;
  readonly tags: Tags;
};

export type AddonRow = {
  readonly cluster: string;
  readonly name: string;
  readonly version: string;
  readonly status: 'CREATING' | 'ACTIVE' | 'UPDATING' | 'DELETING';
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly roleArn?: string;
  readonly configuration?: string;
  readonly tags: Tags;
  /** Deleted with `preserve`: its objects stay in the cluster. */
  readonly isPreserved?: boolean;
};

export type AddonListener = (addon: AddonRow, now: 'active' | 'deleted') => void;

export type UpdateRow = {
  readonly id: string;
  readonly cluster: string;
  /** For an update of an add-on. */
  readonly addon?: string;
  readonly type: string;
  readonly status: 'InProgress' | 'Successful';
  readonly params: readonly { readonly type: string; readonly value: string }[];
  readonly createdAt: number;
};

const component = 'aws.eks';
const versionUpdate = 'VersionUpdate';
/** Shorter than EKS' ten minutes, but long enough that a client must wait. */
const creatingMs: Span = [110_000, 130_000];
const deletingMs: Span = [50_000, 70_000];
const updatingMs: Span = [15_000, 25_000];
const versionUpdatingMs: Span = [50_000, 70_000];
const addonMs: Span = [14_000, 16_000];

const defaults = {
  status: 'ACTIVE',
  logs: logTypes,
  publicAccess: true,
  privateAccess: false,
  publicAccessCidrs: ['0.0.0.0/0'],
  // As in clusters at the time of the articles.
  authenticationMode: 'CONFIG_MAP',
  bringsAddons: false,
} as const;

export class Clusters {
  readonly scope: Scope;
  readonly access: () => ClusterAccess | undefined;
  readonly #clusters: Table<ClusterRow>;
  readonly #addons: Table<AddonRow>;
  readonly #updates: Table<UpdateRow>;
  #whenActive: ((cluster: ClusterRow) => void) | undefined;
  #whenAddon: AddonListener | undefined;

  constructor(scope: Scope, access: () => ClusterAccess | undefined) {
    this.scope = scope;
    this.access = access;
    const { tables } = scope.kernel;
    this.#clusters = tables.open<ClusterRow>('aws/eks/clusters');
    this.#addons = tables.open<AddonRow>('aws/eks/addons');
    this.#updates = tables.open<UpdateRow>('aws/eks/updates');
    scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  /** Called when a created cluster becomes active, to populate its Kubernetes side. */
  set whenActive(listener: (cluster: ClusterRow) => void) {
    this.#whenActive = listener;
  }

  /** Called when an add-on becomes active, also in another version, and when it is deleted. */
  set whenAddon(listener: AddonListener) {
    this.#whenAddon = listener;
  }

  // ---- clusters ----

  all(): readonly ClusterRow[] {
    return [...this.#clusters.values()];
  }

  /** A cluster that exists from the start. */
  add(
    cluster: Omit<ClusterRow, 'oidcId' | 'createdAt' | keyof typeof defaults> &
      Partial<Pick<ClusterRow, keyof typeof defaults>>,
  ): ClusterRow {
    const oidcId = hexString(this.scope.kernel.random(component), 32).toUpperCase();
    const row: ClusterRow = { ...defaults, ...cluster, oidcId, createdAt: this.scope.now() };
    this.#clusters.put(row.name, row);
    return row;
  }

  create(cluster: Parameters<Clusters['add']>[0]): ClusterRow {
    const row = this.add({ ...cluster, status: 'CREATING' });
    this.#later('active', { cluster: row.name }, creatingMs);
    return row;
  }

  patch(name: string, change: Partial<ClusterRow>): ClusterRow {
    const row = { ...this.need(name), ...change };
    this.#clusters.put(name, row);
    return row;
  }

  remove(name: string): ClusterRow {
    this.#later('removed', { cluster: name }, deletingMs);
    return this.patch(name, { status: 'DELETING' });
  }

  need(name: string): ClusterRow {
    const row = this.#clusters.get(name);
    if (row !== undefined) return row;
    throw refuse('ResourceNotFoundException', `No cluster found for name: ${name}.`);
  }

  // ---- add-ons ----

  addons(cluster: string): readonly AddonRow[] {
    return [...this.#addons.values()].filter((row) => row.cluster === cluster);
  }
  addon(cluster: string, name: string): AddonRow | undefined {
    return this.#addons.get(`${cluster}/${name}`);
  }
  putAddon(addon: AddonRow): void {
    this.#addons.put(`${addon.cluster}/${addon.name}`, addon);
    if (addon.status === 'ACTIVE') return;
    this.#later('addon', { cluster: addon.cluster, addon: addon.name }, addonMs);
  }

  // ---- updates ----

  updates(cluster: string, addon?: string): readonly UpdateRow[] {
    return [...this.#updates.values()].filter(
      (row) => row.cluster === cluster && (addon === undefined || row.addon === addon),
    );
  }

  update(update: Omit<UpdateRow, 'id' | 'status' | 'createdAt'>): UpdateRow {
    const id = this.scope.uuid(component);
    const row: UpdateRow = { ...update, id, status: 'InProgress', createdAt: this.scope.now() };
    this.#updates.put(id, row);
    if (update.addon === undefined) this.patch(update.cluster, { status: 'UPDATING' });
    const span = update.type === versionUpdate ? versionUpdatingMs : updatingMs;
    this.#later('updated', { id }, span);
    return row;
  }

  // ---- events ----

  #handle({ kind, args }: WorldEvent): void {
    const cluster = this.#clusters.get(String(args.cluster));
    switch (kind) {
      case 'active':
        if (cluster?.status === 'CREATING') this.#becomeActive(cluster.name);
        return;
      case 'removed':
        if (cluster?.status === 'DELETING') this.#forget(cluster.name);
        return;
      case 'addon':
        this.#addonMoved(String(args.cluster), String(args.addon));
        return;
      case 'updated':
        this.#updated(String(args.id));
        return;
      default:
        throw new Error(`${component}: unknown event ${kind}`);
    }
  }

  #becomeActive(name: string): void {
    const cluster = this.patch(name, { status: 'ACTIVE' });
    this.#whenActive?.(cluster);
  }

  #forget(name: string): void {
    for (const addon of this.addons(name)) this.#addons.delete(`${name}/${addon.name}`);
    for (const update of this.updates(name)) this.#updates.delete(update.id);
    this.#clusters.delete(name);
  }

  #addonMoved(cluster: string, name: string): void {
    const key = `${cluster}/${name}`;
    const row = this.#addons.get(key);
    if (row === undefined) return;
    if (row.status === 'DELETING') this.#addons.delete(key);
    else this.#addons.put(key, { ...row, status: 'ACTIVE' });
    this.#whenAddon?.(row, row.status === 'DELETING' ? 'deleted' : 'active');
  }

  #updated(id: string): void {
    const row = this.#updates.get(id);
    if (row === undefined) return;
    this.#updates.put(id, { ...row, status: 'Successful' });
    const version = row.params.find(({ type }) => type === 'Version')?.value;
    if (row.type === versionUpdate && version !== undefined) this.patch(row.cluster, { version });
    const isOpen = this.updates(row.cluster).some(
      (one) => one.addon === undefined && one.status === 'InProgress',
    );
    const cluster = this.#clusters.get(row.cluster);
    if (!isOpen && cluster?.status === 'UPDATING') this.patch(row.cluster, { status: 'ACTIVE' });
  }

  #later(kind: string, args: Readonly<Record<string, string>>, span: Span): void {
    const afterMicros = this.scope.delay(`${component}.times`, span);
    this.scope.kernel.schedule({ afterMicros, actor: component, kind, args });
  }
}
