// The role of a group's nodes in kube-system/aws-auth, or its access entry. Added before the first
// node starts, removed after the last if no other group uses it. Reads aws-auth just before each
// write, and removes no entry that Drover did not add.
import { resourceTypes } from '../../../api/kube.ts';
import { type NodeGroup, nodeGroupFinalizer } from '../../../api/nodegroup.ts';
import {
  type AwsAuthMap,
  type AwsAuthPlan,
  addedRolesOf,
  awsAuthRequest,
  type BackupsMap,
  backupsName,
  planAdmission,
  planBackup,
  planDisowning,
  planRemoval,
  awsAuthName as where,
} from '../../../core/identity/index.ts';
import { familyOf, mappedRoleOf } from '../../../core/nodegroup/index.ts';
import { CloudError, KubeError, listNodeGroups } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { journalRole } from '../events.ts';
import { Impossible } from '../impossible.ts';
import { admitByEntry, dropEntry, hasEntries } from './access-entry.ts';

/** Other tools write it too, but rarely. */
const attempts = 5;
/** The mode changes once or twice in a cluster's life, with some minutes between the steps. */
const modeLookMs = 300_000;
const { configmaps } = resourceTypes;

const told = (why: string): Impossible =>
  new Impossible('AccessDenied', `ConfigMap kube-system/aws-auth is left as it is: ${why}`, [
    'aws-auth',
  ]);

interface Change {
  /** For the backup: the change before which it is made. */
  readonly what: string;
  readonly plan: (map: AwsAuthMap | undefined) => AwsAuthPlan;
}

export interface ModeMemory {
  /** The cluster's last observed authentication mode, and when that was read. */
  mode?: { readonly name: string; readonly lookedAt: number };
}

export class NodeRoles {
  readonly #deps: NodeGroupDeps;
  /**
   * Serializes changes, since groups are created and deleted concurrently: the other users of a
   * role must not change during a check.
   */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: NodeGroupDeps) {
    this.#deps = deps;
  }

  /** Authorizes the group's nodes. Throws Impossible, CloudError, KubeError. */
  async admit(group: NodeGroup, signal: AbortSignal): Promise<void> {
    const { cloud, journal } = this.#deps;
    const { clusterName, amiType } = group.spec;
    const cluster = await cloud.describeCluster(clusterName, { signal });
    // Clusters outside EKS authenticate nodes in another way.
    if (cluster === undefined) return;
    if (hasEntries(cluster)) {
      if (await admitByEntry(this.#deps, group, signal)) journalRole(journal, group, 'added');
      return;
    }
    const { nodeRole } = group.spec;
    const system = familyOf(amiType)?.bootstrap === 'powershell' ? 'windows' : 'linux';
    const admitting = this.#alone(() =>
      this.#swap(
        {
          what: `let ${nodeRole} in for node group ${group.metadata.name}`,
          plan: (map) => planAdmission(map, nodeRole, system),
        },
        signal,
      ),
    );
    const wrote = await admitting.catch((error: unknown) => {
      if (error instanceof KubeError && error.code === 'Forbidden') throw told(error.message);
      throw error;
    });
    if (wrote) journalRole(journal, group, 'added');
  }

  /**
   * A cluster's authentication mode may change while its nodes run (EKS: from aws-auth to access
   * entries). Checks it every few minutes and then creates the role's entry, since aws-auth has no
   * effect in mode API. Throws Impossible, CloudError.
   */
  async keep(group: NodeGroup, memory: ModeMemory, signal: AbortSignal): Promise<void> {
    const lookedAt = this.#deps.clock.now();
    if (memory.mode !== undefined && lookedAt < memory.mode.lookedAt + modeLookMs) return;
    // The role of an adopted group may not have been readable.
    if (group.spec.nodeRole === '') return;
    const name = await this.#follow(group, memory.mode?.name, signal);
    memory.mode = { name, lookedAt };
  }

  /** The cluster's current mode. */
  async #follow(
    group: NodeGroup,
    before: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const { cloud, journal } = this.#deps;
    const cluster = await cloud.describeCluster(group.spec.clusterName, { signal });
    const mode = cluster?.authenticationMode ?? 'CONFIG_MAP';
    if (cluster === undefined || mode === before || !hasEntries(cluster)) return mode;
    if (await admitByEntry(this.#deps, group, signal)) journalRole(journal, group, 'added');
    return mode;
  }

  /**
   * At the group's deletion: removes its role if Drover added it and no other group uses it. Then
   * calls `release` to let the object be deleted. A role that cannot be removed stays and is
   * logged; it does not block the deletion.
   */
  async release(
    group: NodeGroup,
    release: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { log, journal } = this.#deps;
    await this.#alone(async () => {
      try {
        const wasInMap = await this.#takeOut(group, signal);
        const isUsed = () => this.#isUsed(group, mappedRoleOf(group), signal);
        const hadEntry = await dropEntry(this.#deps, group, { isUsed, signal });
        if (wasInMap || hadEntry) journalRole(journal, group, 'removed');
      } catch (error) {
        const isRefused =
          error instanceof Impossible ||
          ((error instanceof KubeError || error instanceof CloudError) && error.retry === 'never');
        if (!isRefused) throw error;
        log.warn('the role of a deleted node group stays in aws-auth', {
          group: group.metadata.name,
          role: group.spec.nodeRole,
          error: error.message,
        });
      }
      await release();
    });
  }

  /**
   * When the group is released, its nodes keep running, so its role stays in aws-auth and is no
   * longer marked as added by Drover. If aws-auth cannot be written, the mark stays; that does not
   * block the release.
   */
  async leaveToOwner(group: NodeGroup, signal: AbortSignal): Promise<void> {
    const { kube, log } = this.#deps;
    const role = mappedRoleOf(group);
    const what = `leave ${role} to others with node group ${group.metadata.name}`;
    await this.#alone(async () => {
      try {
        const found = await kube.get<AwsAuthMap>(configmaps, where, { signal });
        if (found.kind === 'gone' || !addedRolesOf(found.object).includes(role)) return;
        await this.#swap({ what, plan: (map) => planDisowning(map, role) }, signal);
      } catch (error) {
        const isRefused =
          error instanceof Impossible || (error instanceof KubeError && error.retry === 'never');
        if (!isRefused) throw error;
        log.warn('the role of a released node group stays in aws-auth as Drover’s', {
          group: group.metadata.name,
          role,
          error: error.message,
        });
      }
    });
  }

  async #takeOut(group: NodeGroup, signal: AbortSignal): Promise<boolean> {
    const role = mappedRoleOf(group);
    const found = await this.#deps.kube.get<AwsAuthMap>(configmaps, where, { signal });
    if (found.kind === 'gone' || !addedRolesOf(found.object).includes(role)) return false;
    if (await this.#isUsed(group, role, signal)) return false;
    const isOurs = (map: AwsAuthMap | undefined) => addedRolesOf(map).includes(role);
    return this.#swap(
      {
        what: `take ${role} out with node group ${group.metadata.name}`,
        plan: (map) => (isOurs(map) ? planRemoval(map, role) : { kind: 'unchanged', warnings: [] }),
      },
      signal,
    );
  }

  /**
   * Whether another group or the stack of a self-managed group uses the role. Reads past every
   * cache.
   */
  async #isUsed(group: NodeGroup, role: string, signal: AbortSignal): Promise<boolean> {
    const { kube, cloud } = this.#deps;
    const items = await listNodeGroups(kube, { signal });
    const others = items.filter(
      ({ metadata }) =>
        metadata.uid !== group.metadata.uid &&
        (metadata.deletionTimestamp === undefined ||
          metadata.finalizers?.includes(nodeGroupFinalizer) === true),
    );
    if (others.some((other) => mappedRoleOf(other) === role)) return true;
    return (await cloud.listStacks({ signal })).some(
      ({ autoScalingGroupName, status, nodeRole }) =>
        autoScalingGroupName !== undefined &&
        !status.startsWith('DELETE_COMPLETE') &&
        nodeRole !== undefined &&
        mappedRoleOf({ spec: { nodeRole } }) === role,
    );
  }

  /** Compare and swap, with a backup first; false: there was nothing to write. */
  async #swap(change: Change, signal: AbortSignal): Promise<boolean> {
    const { kube, log } = this.#deps;
    for (let attempt = 1; ; attempt += 1) {
      const found = await kube.get<AwsAuthMap>(configmaps, where, { signal });
      const map = found.kind === 'found' ? found.object : undefined;
      const plan = change.plan(map);
      if (plan.kind === 'refused') throw told(plan.why);
      for (const warning of plan.warnings) log.warn('aws-auth', { warning });
      if (plan.kind === 'unchanged') return false;
      try {
        await this.#backUp(map, change.what, signal);
        const { verb, body } = awsAuthRequest(map, plan, 'mapRoles');
        if (verb === 'create') {
          await kube.create(configmaps, body, { namespace: where.namespace, signal });
          return true;
        }
        const written = await kube.patch(configmaps, where, { type: 'merge', body }, { signal });
        if (written.kind === 'found') return true;
      } catch (error) {
        const isRaced =
          error instanceof KubeError &&
          (error.code === 'Conflict' || error.code === 'AlreadyExists');
        if (isRaced && attempt < attempts) continue;
        throw error;
      }
      if (attempt >= attempts) throw told('it comes and goes');
    }
  }

  /** Keeps the current content before it is overwritten. */
  async #backUp(map: AwsAuthMap | undefined, what: string, signal: AbortSignal): Promise<void> {
    const { kube, clock } = this.#deps;
    if (map === undefined) return;
    const found = await kube.get<BackupsMap>(configmaps, backupsName, { signal });
    let backups = found.kind === 'found' ? found.object : undefined;
    for (;;) {
      const request = planBackup(backups, map, { before: what, now: clock.now() });
      if (request === undefined) return;
      if (request.verb === 'create') {
        await kube.create(configmaps, request.body, { namespace: where.namespace, signal });
        return;
      }
      const { body } = request;
      const written = await kube.patch(
        configmaps,
        backupsName,
        { type: 'merge', body },
        { signal },
      );
      if (written.kind !== 'gone') return;
      // The backups were deleted since they were read: create them again before any write.
      backups = undefined;
    }
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
