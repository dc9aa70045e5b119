// ControllerRevisions: stores each version of a DaemonSet's or StatefulSet's template as an object,
// for listing and rollback. Upstream: pkg/controller/history (Kubernetes 1.32). Names are hashes of
// the template; a collision of two templates is not resolved.
import { defined } from '../../../src/api/defined.ts';
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { WorldClient, WorldKube } from '../../contracts.ts';
import {
  asControllerRevision,
  type ControllerRevisionView,
  controllerOf,
  type Meta,
  metaOf,
  type PodTemplate,
  resources,
} from '../actors/index.ts';
import { templateHash } from './hash.ts';
import { controllerReference } from './pod-template.ts';

/** An owner of revisions: a DaemonSet or a StatefulSet. */
type Revised = KubeObject & {
  readonly metadata: Meta;
  readonly spec: { readonly template: PodTemplate; readonly revisionHistoryLimit?: number };
};

/** revisionHistoryLimit's default in apps/v1. */
const defaultHistoryLimit = 10;

const hashes = new WeakMap<object, string>();

/** The hash of the set's current template. */
export const revisionHash = (set: Revised): string => {
  const { template } = set.spec;
  const known = hashes.get(template);
  if (known !== undefined) return known;
  const hash = templateHash(template as Json);
  hashes.set(template, hash);
  return hash;
};

export const revisionName = (set: Revised): string => `${set.metadata.name}-${revisionHash(set)}`;

/** The template stored in a revision, or undefined when it holds none. */
export const templateOf = (revision: ControllerRevisionView): PodTemplate | undefined => {
  const spec = revision.data?.spec as { readonly template?: JsonObject } | undefined;
  if (spec?.template === undefined) return undefined;
  const { $patch: _patch, ...template } = spec.template;
  return template as unknown as PodTemplate;
};

function inOrder<T extends Json>(value: T): T;
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => inOrder(one));
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name] ?? null)]));
}

export class Revisions {
  readonly #kube: WorldKube;
  readonly #client: WorldClient;
  /** The label with the hash, which differs between the two kinds. */
  readonly #hashLabel: string;

  constructor(options: {
    readonly kube: WorldKube;
    readonly client: WorldClient;
    readonly hashLabel: string;
  }) {
    this.#kube = options.kube;
    this.#client = options.client;
    this.#hashLabel = options.hashLabel;
  }

  /** Oldest first. */
  of(set: Revised): readonly ControllerRevisionView[] {
    const found: ControllerRevisionView[] = [];
    // Restricted to revisions: the set owns many more pods.
    for (const object of this.#kube.ownedBy(set.metadata.uid, resources.controllerrevisions)) {
      found.push(asControllerRevision(object));
    }
    return found.sort((a, b) => a.revision - b.revision);
  }

  /**
   * The revision of the current template, created if missing and renumbered to be the newest.
   * Undefined when the API server refused.
   */
  ensure(set: Revised): ControllerRevisionView | undefined {
    const all = this.of(set);
    const newest = all.at(-1);
    const name = revisionName(set);
    const known = all.find((one) => one.metadata.name === name);
    if (known !== undefined && known === newest) return known;
    const number = (newest?.revision ?? 0) + 1;
    if (known !== undefined) {
      const raised = this.#client.patch(
        resources.controllerrevisions,
        { namespace: set.metadata.namespace ?? '', name },
        { type: 'merge', body: { revision: number, metadata: { uid: known.metadata.uid } } },
      );
      return raised.kind === 'ok' ? asControllerRevision(raised.object) : undefined;
    }
    if (this.#adopt(set, name)) return this.ensure(set);
    const made = this.#client.create(
      resources.controllerrevisions,
      set.metadata.namespace,
      this.#body(set, name, number),
    );
    return made.kind === 'ok' ? asControllerRevision(made.object) : undefined;
  }

  /** Adopts a revision left by an earlier set of the same name; false when none exists. */
  #adopt(set: Revised, name: string): boolean {
    const at = { namespace: set.metadata.namespace ?? '', name };
    const left = this.#kube.read(resources.controllerrevisions, at);
    if (left === undefined || controllerOf({ metadata: metaOf(left) }) !== undefined) return false;
    const owners = [...(metaOf(left).ownerReferences ?? []), controllerReference(set)];
    const { uid } = left.metadata;
    const body = { metadata: { uid, ownerReferences: owners } };
    const taken = this.#client.patch(resources.controllerrevisions, at, { type: 'merge', body });
    return taken.kind === 'ok';
  }

  #body(set: Revised, name: string, revision: number): JsonObject {
    const { annotations, namespace } = set.metadata;
    const { template } = set.spec;
    return {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name,
        namespace: namespace ?? '',
        labels: { ...template.metadata?.labels, [this.#hashLabel]: revisionHash(set) },
        ...defined({ annotations }),
        ownerReferences: [controllerReference(set)],
      },
      // kubectl rollout undo sends this as a strategic merge patch; Go writes maps in sorted order.
      data: inOrder({ spec: { template: { ...template, $patch: 'replace' } as JsonObject } }),
      revision,
    };
  }

  /** Deletes the oldest revisions beyond the limit, except those in `inUse`. */
  truncate(set: Revised, inUse: ReadonlySet<string>): void {
    const limit = set.spec.revisionHistoryLimit ?? defaultHistoryLimit;
    const all = this.of(set);
    if (all.length <= limit) return;
    const idle = all.filter(
      (one) => !inUse.has(one.metadata.name) && controllerOf(one)?.uid === set.metadata.uid,
    );
    for (const one of idle.slice(0, Math.max(0, idle.length - limit))) {
      this.#client.delete(resources.controllerrevisions, {
        namespace: set.metadata.namespace ?? '',
        name: one.metadata.name,
      });
    }
  }
}
