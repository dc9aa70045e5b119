// The role of a group's nodes in kube-system/aws-auth: let in before the first node starts, taken out
// again after the last when nobody else uses it. Writes nothing that it did not read just before, and
// takes away no entry that it did not add.
import type { KubeObject } from '../../api/kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import { type NodeGroup, nodeGroupFinalizer } from '../../api/nodegroup.ts';
import { familyOf, mappedRoleOf } from '../../core/scaling/index.ts';
import {
  type AwsAuthChange,
  type AwsAuthData,
  addNodeRole,
  removeNodeRole,
} from '../../formats/index.ts';
import { CloudError, KubeError } from '../../ports/index.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { journalRole } from './events.ts';
import { Impossible } from './impossible.ts';

interface ConfigMap extends KubeObject {
  readonly data?: AwsAuthData;
}

const where = { namespace: 'kube-system', name: 'aws-auth' } as const;
/** On the ConfigMap, in the write that adds them: the roles that are ours to take out again. */
const addedAnnotation = 'drover.dev/added-roles';
/** Others write it too, but rarely. */
const attempts = 5;

const addedIn = (map: ConfigMap | undefined): readonly string[] =>
  (map?.metadata.annotations?.[addedAnnotation] ?? '').split(' ').filter((arn) => arn !== '');

const told = (why: string): Impossible =>
  new Impossible('AccessDenied', `ConfigMap kube-system/aws-auth is left as it is: ${why}`, [
    'aws-auth',
  ]);

/** What is to be written; undefined = nothing. Throws Impossible. */
type Change = (
  map: ConfigMap | undefined,
) => { readonly mapRoles: string; readonly added: readonly string[] } | undefined;

const rolesOf = (change: AwsAuthChange): string | undefined => {
  if (change.kind === 'refused') throw told(change.why);
  return change.kind === 'unchanged' ? undefined : (change.data.mapRoles ?? '');
};

export class NodeRoles {
  readonly #deps: NodeGroupDeps;
  /** Groups end and begin side by side: who else uses a role must not change while it is asked. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: NodeGroupDeps) {
    this.#deps = deps;
  }

  /** Lets the group's nodes in. Throws Impossible, CloudError, KubeError. */
  async admit(group: NodeGroup, signal: AbortSignal): Promise<void> {
    const { cloud, journal } = this.#deps;
    const { clusterName, amiType } = group.spec;
    const cluster = await cloud.describeCluster(clusterName, { signal });
    // Other clusters, and EKS' with access entries alone, ask somebody else who a node is.
    if (cluster === undefined || cluster.authenticationMode === 'API') return;
    const role = mappedRoleOf(group);
    const system = familyOf(amiType)?.bootstrap === 'powershell' ? 'windows' : 'linux';
    const admitting = this.#alone(() =>
      this.#swap((map) => {
        const data = map?.data ?? {};
        const mapRoles = rolesOf(addNodeRole(data, role, system));
        if (mapRoles === undefined) return undefined;
        const isNew = removeNodeRole(data, role).kind === 'unchanged';
        return { mapRoles, added: [...addedIn(map), ...(isNew ? [role] : [])] };
      }, signal),
    );
    const wrote = await admitting.catch((error: unknown) => {
      if (error instanceof KubeError && error.code === 'Forbidden') throw told(error.message);
      throw error;
    });
    if (wrote) journalRole(journal, group, 'added');
  }

  /**
   * The group's end: its role goes if we added it and nobody else has it, then `release` lets the object
   * go. What cannot be taken out stays, and is logged: a group is not kept for it.
   */
  async release(
    group: NodeGroup,
    release: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { log, journal } = this.#deps;
    await this.#alone(async () => {
      try {
        if (await this.#takeOut(group, signal)) journalRole(journal, group, 'removed');
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

  async #takeOut(group: NodeGroup, signal: AbortSignal): Promise<boolean> {
    const role = mappedRoleOf(group);
    const found = await this.#deps.kube.get<ConfigMap>(resourceTypes.configmaps, where, { signal });
    if (found.kind === 'gone' || !addedIn(found.object).includes(role)) return false;
    if (await this.#isUsed(group, role, signal)) return false;
    return this.#swap((map) => {
      if (!addedIn(map).includes(role)) return undefined;
      const mapRoles = rolesOf(removeNodeRole(map?.data ?? {}, role));
      if (mapRoles === undefined) return undefined;
      return { mapRoles, added: addedIn(map).filter((one) => one !== role) };
    }, signal);
  }

  /** By another group, past every cache, or by a self-managed group's stack. */
  async #isUsed(group: NodeGroup, role: string, signal: AbortSignal): Promise<boolean> {
    const { kube, cloud } = this.#deps;
    const { items } = await kube.list<NodeGroup>(resourceTypes.nodegroups, { signal });
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

  /** Compare and swap; false = there was nothing to write. */
  async #swap(change: Change, signal: AbortSignal): Promise<boolean> {
    const { kube } = this.#deps;
    const type = resourceTypes.configmaps;
    for (let attempt = 1; ; attempt += 1) {
      const found = await kube.get<ConfigMap>(type, where, { signal });
      const map = found.kind === 'found' ? found.object : undefined;
      const next = change(map);
      if (next === undefined) return false;
      const data = { mapRoles: next.mapRoles };
      const added = next.added.join(' ');
      mustLead(this.#deps);
      try {
        if (map === undefined) {
          const metadata = { ...where, annotations: { [addedAnnotation]: added } };
          const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
          await kube.create(type, body, { namespace: where.namespace, signal });
          return true;
        }
        const { resourceVersion } = map.metadata;
        const annotations = { [addedAnnotation]: added === '' ? null : added };
        const body = { metadata: { resourceVersion, annotations }, data };
        const written = await kube.patch(type, where, { type: 'merge', body }, { signal });
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

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
