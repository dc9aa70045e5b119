// Garbage collection by owner uid: deletes dependents of deleted owners, foreground deletion waits
// for blocking dependents, orphaning removes their owner references. Upstream:
// pkg/controller/garbagecollector (Kubernetes 1.32). Ignores kinds that known-kinds.ts does not
// list.
import type { KubeObject } from '../../../src/api/kube.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import {
  keyOf,
  metaOf,
  nameOfKey,
  type Outcome,
  type Owner,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { type KnownKind, kindAt, kindOf, knownKinds } from './known-kinds.ts';

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/** Keys: `gone UID`, or `item GROUP/RESOURCE NAMESPACE/NAME`. */
const goneKey = (uid: string): string => `gone ${uid}`;
const itemKey = (kind: KnownKind, object: KubeObject): string =>
  `item ${kind.group}/${kind.resource} ${keyOf(object)}`;

export class GarbageCollector implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#client = controllerClient(context, 'generic-garbage-collector').client;
    this.#worker = newWorker(context, 'garbage-collector', (key) => this.#reconcile(key));
    for (const kind of knownKinds) {
      // Events have no dependents and are the majority of objects.
      if (kind.kind === 'Event') continue;
      context.kube.onChange(kind, (change) => this.#changed(kind, change));
    }
  }

  resume(): void {
    for (const kind of knownKinds) {
      if (kind.kind === 'Event') continue;
      for (const object of this.#context.kube.readAll(kind)) {
        if (this.#needsLook(object)) this.#worker.mark(itemKey(kind, object));
      }
    }
  }

  #changed(kind: KnownKind, { type, object }: StoreChange): void {
    if (type === 'DELETED') {
      for (const _dependent of this.#context.kube.ownedBy(object.metadata.uid)) {
        this.#worker.mark(goneKey(object.metadata.uid));
        break;
      }
      this.#markWaitingOwners(object);
      return;
    }
    const meta = metaOf(object);
    if (meta.deletionTimestamp !== undefined) {
      if (hasOurFinalizer(object)) this.#worker.mark(itemKey(kind, object));
    } else if (type === 'ADDED' && this.#needsLook(object)) {
      this.#worker.mark(itemKey(kind, object));
    }
  }

  /** Deleting a dependent may complete its owner's foreground deletion. */
  #markWaitingOwners(object: KubeObject): void {
    for (const owner of metaOf(object).ownerReferences ?? []) {
      const kind = kindOf(owner);
      const above = this.#ownerOf(owner, object);
      if (kind !== undefined && above !== undefined && hasOurFinalizer(above)) {
        this.#worker.mark(itemKey(kind, above));
      }
    }
  }

  #needsLook(object: KubeObject): boolean {
    if (metaOf(object).deletionTimestamp !== undefined) return hasOurFinalizer(object);
    const owners = metaOf(object).ownerReferences ?? [];
    return owners.some((owner) => kindOf(owner) !== undefined && !this.#ownerOf(owner, object));
  }

  #ownerOf(owner: Owner, dependent: KubeObject): KubeObject | undefined {
    const kind = kindOf(owner);
    if (kind === undefined) return undefined;
    const namespace = dependent.metadata.namespace;
    const name =
      kind.namespaced && namespace !== undefined
        ? { namespace, name: owner.name }
        : { name: owner.name };
    const object = this.#context.kube.read(kind, name);
    return object?.metadata.uid === owner.uid ? object : undefined;
  }

  #reconcile(key: string): Outcome {
    const [what = '', where = '', name = ''] = key.split(' ');
    if (what === 'gone') {
      const results = [...this.#context.kube.ownedBy(where)].map((one) => this.#attempt(one));
      return results.every(Boolean) ? undefined : 'retry';
    }
    const slash = where.indexOf('/');
    const kind = kindAt({ group: where.slice(0, slash), resource: where.slice(slash + 1) });
    const object = kind && this.#context.kube.read(kind, nameOfKey(name));
    if (kind === undefined || object === undefined) return undefined;
    const meta = metaOf(object);
    if (meta.deletionTimestamp === undefined) return this.#attempt(object) ? undefined : 'retry';
    if (meta.finalizers?.includes(orphan)) return this.#orphan(kind, object) ? undefined : 'retry';
    if (meta.finalizers?.includes(foreground)) {
      return this.#foreground(kind, object) ? undefined : 'retry';
    }
    return undefined;
  }

  /** Deletes `object` when all of its owners are deleted; false when the API server refused. */
  #attempt(object: KubeObject): boolean {
    const kind = kindOf(object);
    const meta = metaOf(object);
    if (kind === undefined) return true;
    if (meta.deletionTimestamp !== undefined && !meta.finalizers?.includes(foreground)) return true;
    const owners = meta.ownerReferences ?? [];
    const found = owners.map((owner) => ({ owner, above: this.#ownerOf(owner, object) }));
    // A kind missing from the table may still exist: such an owner counts as solid.
    const solid = found.filter(
      ({ owner, above }) =>
        kindOf(owner) === undefined || (above !== undefined && !isForeground(above)),
    );
    const waiting = found.filter(({ above }) => above !== undefined && isForeground(above));
    const target = nameOfKey(keyOf(object));
    if (solid.length > 0) {
      if (solid.length === owners.length) return true;
      return this.#setOwners(
        kind,
        object,
        solid.map(({ owner }) => owner),
      );
    }
    if (owners.length === 0) return true;
    const waits = waiting.length > 0 && this.#hasDependents(object);
    if (waits && this.#isInCircle(object) && !this.#unblockOwners(kind, object)) return false;
    const policy = waits ? 'Foreground' : 'Background';
    const gone = this.#client.delete(kind, target, {
      uid: meta.uid,
      propagationPolicy: policy,
    });
    return gone.kind === 'ok' || gone.status.code === 404 || gone.status.code === 409;
  }

  /**
   * A dependent waits for its own dependents: if this one blocked too, the cycle would never end.
   */
  #isInCircle(object: KubeObject): boolean {
    for (const one of this.#context.kube.ownedBy(object.metadata.uid)) {
      if (isForeground(one)) return true;
    }
    return false;
  }

  #unblockOwners(kind: KnownKind, object: KubeObject): boolean {
    const owners = (metaOf(object).ownerReferences ?? []).map((owner) =>
      owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner,
    );
    return this.#setOwners(kind, object, owners);
  }

  #hasDependents(object: KubeObject): boolean {
    for (const _one of this.#context.kube.ownedBy(object.metadata.uid)) return true;
    return false;
  }

  #setOwners(kind: KnownKind, object: KubeObject, owners: readonly Owner[]): boolean {
    const { uid, resourceVersion } = object.metadata;
    const patched = this.#client.patch(kind, nameOfKey(keyOf(object)), {
      type: 'merge',
      body: { metadata: { uid, resourceVersion, ownerReferences: owners } },
    });
    return patched.kind === 'ok' || patched.status.code === 404;
  }

  #foreground(kind: KnownKind, object: KubeObject): boolean {
    const { uid } = object.metadata;
    let blocked = false;
    let ok = true;
    for (const dependent of this.#context.kube.ownedBy(uid)) {
      const reference = metaOf(dependent).ownerReferences?.find((one) => one.uid === uid);
      if (reference?.blockOwnerDeletion === true) blocked = true;
      ok = this.#attempt(dependent) && ok;
    }
    if (!ok || blocked) return ok;
    return this.#dropFinalizer(kind, object, foreground);
  }

  #orphan(kind: KnownKind, object: KubeObject): boolean {
    const { uid } = object.metadata;
    for (const dependent of this.#context.kube.ownedBy(uid)) {
      const below = kindOf(dependent);
      const rest = (metaOf(dependent).ownerReferences ?? []).filter((one) => one.uid !== uid);
      if (below !== undefined && !this.#setOwners(below, dependent, rest)) return false;
    }
    return this.#dropFinalizer(kind, object, orphan);
  }

  #dropFinalizer(kind: KnownKind, object: KubeObject, finalizer: string): boolean {
    const { uid, resourceVersion, finalizers } = metaOf(object);
    const rest = (finalizers ?? []).filter((one) => one !== finalizer);
    const patched = this.#client.patch(kind, nameOfKey(keyOf(object)), {
      type: 'merge',
      body: { metadata: { uid, resourceVersion, finalizers: rest } },
    });
    return patched.kind === 'ok' || patched.status.code === 404;
  }
}

const hasOurFinalizer = (object: KubeObject): boolean =>
  metaOf(object).finalizers?.some((one) => one === foreground || one === orphan) === true;

const isForeground = (object: KubeObject): boolean =>
  metaOf(object).deletionTimestamp !== undefined &&
  metaOf(object).finalizers?.includes(foreground) === true;
