// Adopts orphans that match a controller's selector and releases children that stopped matching.
// Looks only at what changed, never at all children. Upstream:
// pkg/controller/controller_ref_manager.go (Kubernetes 1.36).
import type { JsonObject } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import { selectorMatches } from '../../../src/api/selectors.ts';
import type { GroupResource, StoreChange, WorldClient, WorldKube } from '../../contracts.ts';
import {
  controllerOf,
  isTerminating,
  keyOf,
  metaOf,
  nameOfKey,
  type Selector,
  SelectorIndex,
} from '../actors/index.ts';
import { controllerReference } from './pod-template.ts';

export type Claim = 'keep' | 'adopt' | 'release' | 'leave';

/** What a parent does with a child; `matches`: its selector matches the child. */
export const claimOf = (parent: KubeObject, child: KubeObject, matches: boolean): Claim => {
  const owner = controllerOf({ metadata: metaOf(child) });
  const parentDies = isTerminating({ metadata: metaOf(parent) });
  if (owner !== undefined) {
    if (owner.uid !== parent.metadata.uid) return 'leave';
    return matches || parentDies ? 'keep' : 'release';
  }
  const dying = parentDies || isTerminating({ metadata: metaOf(child) });
  return matches && !dying ? 'adopt' : 'leave';
};

export interface ClaimRules {
  readonly kube: WorldKube;
  readonly client: WorldClient;
  readonly parents: GroupResource;
  /** The parents' kind, as in owner references. */
  readonly kind: string;
  readonly children: GroupResource;
  /** Enqueues the parent with this key; its reconcile calls `settle`. */
  readonly mark: (parentKey: string) => void;
  /** Additional membership condition besides the selector. */
  readonly isMember?: (parent: KubeObject, child: KubeObject) => boolean;
  /** Children that are neither adopted nor released, such as finished pods. */
  readonly ignores?: (child: KubeObject) => boolean;
  /** Finalizer added to adopted children and removed from released ones. */
  readonly finalizer?: string;
}

export class Claims {
  readonly #rules: ClaimRules;
  readonly #parents = new SelectorIndex();
  /** Namespace to names of the children without a controller. */
  readonly #orphans = new Map<string, Set<string>>();
  /** Key of a parent to names of the children it must decide about. */
  readonly #open = new Map<string, Set<string>>();

  constructor(rules: ClaimRules) {
    this.#rules = rules;
    rules.kube.onChange(rules.parents, (change) => this.#parentChanged(change));
    rules.kube.onChange(rules.children, (change) => this.#childChanged(change));
  }

  resume(): void {
    const { kube, parents, children } = this.#rules;
    for (const parent of kube.readAll(parents)) this.#file(parent);
    for (const object of kube.readAll(children)) {
      this.#childChanged({ type: 'ADDED', resource: children, object, previous: undefined });
    }
  }

  /** Performs the pending adoptions and releases; false when the API server refused one. */
  settle(parent: KubeObject): boolean {
    const key = keyOf(parent);
    const names = this.#open.get(key);
    if (names === undefined) return true;
    const namespace = parent.metadata.namespace ?? '';
    for (const name of names) {
      const child = this.#rules.kube.read(this.#rules.children, { namespace, name });
      if (child !== undefined && !this.#decide(parent, child)) return false;
      names.delete(name);
    }
    this.#open.delete(key);
    return true;
  }

  #decide(parent: KubeObject, child: KubeObject): boolean {
    if (this.#rules.ignores?.(child) === true) return true;
    const claim = claimOf(parent, child, this.#matches(parent, child));
    if (claim !== 'adopt' && claim !== 'release') return true;
    const metadata = claim === 'adopt' ? this.#adoption(parent) : this.#release(parent);
    const target = nameOfKey(keyOf(child));
    const patched = this.#rules.client.patch(this.#rules.children, target, {
      type: 'strategic',
      body: { metadata: { uid: child.metadata.uid, ...metadata } },
    });
    // Deleted, or replaced by another object of the same name: nothing to claim.
    return patched.kind === 'ok' || patched.status.code === 404 || patched.status.code === 409;
  }

  #adoption(parent: KubeObject): JsonObject {
    const { finalizer } = this.#rules;
    const ownerReferences = [controllerReference(parent)];
    return finalizer === undefined
      ? { ownerReferences }
      : { ownerReferences, finalizers: [finalizer] };
  }

  #release(parent: KubeObject): JsonObject {
    const { finalizer } = this.#rules;
    const ownerReferences = [{ $patch: 'delete', uid: parent.metadata.uid }];
    return finalizer === undefined
      ? { ownerReferences }
      : { ownerReferences, '$deleteFromPrimitiveList/finalizers': [finalizer] };
  }

  #matches(parent: KubeObject, child: KubeObject): boolean {
    const { isMember } = this.#rules;
    if (!selectorMatches(selectorOf(parent), metaOf(child).labels)) return false;
    return isMember === undefined || isMember(parent, child);
  }

  #parentChanged({ type, object }: StoreChange): void {
    const key = keyOf(object);
    if (type === 'DELETED') {
      this.#parents.remove(key);
      this.#open.delete(key);
      return;
    }
    // Selectors are immutable.
    if (type !== 'ADDED') return;
    this.#file(object);
    const namespace = object.metadata.namespace ?? '';
    for (const name of this.#orphans.get(namespace) ?? []) {
      const child = this.#rules.kube.read(this.#rules.children, { namespace, name });
      if (child !== undefined && this.#matches(object, child)) this.#note(key, name);
    }
  }

  #file(parent: KubeObject): void {
    const selector = selectorOf(parent);
    if (selector === undefined) return;
    this.#parents.set(keyOf(parent), parent.metadata.namespace ?? '', selector);
  }

  #childChanged({ type, object, previous }: StoreChange): void {
    const { name, namespace = '', labels } = object.metadata;
    const { ownerReferences } = metaOf(object);
    const same =
      previous !== undefined &&
      previous.metadata.labels === labels &&
      metaOf(previous).ownerReferences === ownerReferences;
    if (type === 'MODIFIED' && same) return;
    const owner = controllerOf({ metadata: metaOf(object) });
    if (type === 'DELETED' || owner !== undefined) this.#forgetOrphan(namespace, name);
    if (type === 'DELETED') return;
    if (owner === undefined) this.#orphaned(object);
    else if (owner.kind === this.#rules.kind) {
      const key = `${namespace}/${owner.name}`;
      const parent = this.#rules.kube.read(this.#rules.parents, nameOfKey(key));
      if (parent !== undefined && claimOf(parent, object, this.#matches(parent, object)) !== 'keep')
        this.#note(key, name);
    }
  }

  #orphaned(child: KubeObject): void {
    const { name, namespace = '', labels } = child.metadata;
    const names = this.#orphans.get(namespace) ?? new Set<string>();
    this.#orphans.set(namespace, names.add(name));
    for (const key of this.#parents.candidates(namespace, labels)) {
      const parent = this.#rules.kube.read(this.#rules.parents, nameOfKey(key));
      if (parent !== undefined && this.#matches(parent, child)) this.#note(key, name);
    }
  }

  #forgetOrphan(namespace: string, name: string): void {
    const names = this.#orphans.get(namespace);
    if (names?.delete(name) === true && names.size === 0) this.#orphans.delete(namespace);
  }

  #note(parentKey: string, child: string): void {
    const names = this.#open.get(parentKey) ?? new Set<string>();
    this.#open.set(parentKey, names.add(child));
    this.#rules.mark(parentKey);
  }
}

const selectorOf = (parent: KubeObject): Selector | undefined =>
  (parent as { readonly spec?: { readonly selector?: Selector } }).spec?.selector;
