// DELETE: preconditions, grace periods, finalizers and propagation, in the order of apiserver's
// generic store (registry.Store.Delete and rest.BeforeDelete). The garbage collector deletes
// dependents, the namespace controller deletes the content of namespaces.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { Kernel } from '../../kernel/index.ts';
import type { ResourceDefinition } from './definition.ts';
import {
  finalizersOf,
  kubeTime,
  listOf,
  metadataOf,
  numberOf,
  parseKubeTime,
  type Stored,
  specOf,
  statusOf,
  textOf,
  withFields,
  withMetadata,
} from './objects.ts';
import {
  badRequest,
  conflict,
  forbidden,
  forbiddenValue,
  invalid,
  invalidValue,
  notFound,
  uidMismatch,
  unsupportedValue,
  versionMismatch,
} from './status.ts';
import { objectKey, type Store } from './store.ts';
import { fromStored, type Target } from './write.ts';

type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: Propagation;
  readonly orphanDependents?: boolean;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly dryRun: boolean;
}

/** Namespaces protected by NamespaceLifecycle admission. */
const immortalNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public'];

const policies: readonly string[] = ['Background', 'Foreground', 'Orphan'];

/** From a DeleteOptions body, else from the query, as in the API server. */
export function parseDeleteOptions(body: Json | undefined, query: URLSearchParams): DeleteOptions {
  if (body !== undefined && body !== null && !isObject(body)) {
    throw badRequest('the body of the request must be DeleteOptions');
  }
  const given: JsonObject = isObject(body) ? body : optionsOfQuery(query);
  const preconditions = objectOr(given.preconditions);
  const grace = given.gracePeriodSeconds ?? undefined;
  if (grace !== undefined && (typeof grace !== 'number' || !Number.isInteger(grace))) {
    throw badRequest('gracePeriodSeconds must be an integer');
  }
  const policy = textOf(given.propagationPolicy);
  const kind = { group: 'meta.k8s.io', kind: 'DeleteOptions' };
  if (policy !== undefined && !policies.includes(policy)) {
    throw invalid(kind, '', [
      unsupportedValue('propagationPolicy', policy, ['Background', 'Foreground', 'Orphan']),
    ]);
  }
  const orphan = given.orphanDependents;
  if (policy !== undefined && typeof orphan === 'boolean') {
    const message = 'orphanDependents and deletionPropagation cannot be both set';
    throw invalid(kind, '', [invalidValue('propagationPolicy', policy, message)]);
  }
  return {
    dryRun: dryRunOf(listOf(given.dryRun)) || dryRunOf(query.getAll('dryRun')),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    ...(policy === undefined ? {} : { propagationPolicy: policy as Propagation }),
    ...(typeof orphan === 'boolean' ? { orphanDependents: orphan } : {}),
    ...textField('uid', preconditions.uid),
    ...textField('resourceVersion', preconditions.resourceVersion),
  };
}

const textField = (
  name: 'uid' | 'resourceVersion',
  value: Json | undefined,
): { uid?: string; resourceVersion?: string } =>
  typeof value === 'string' && value !== '' ? { [name]: value } : {};

function optionsOfQuery(query: URLSearchParams): JsonObject {
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
    ...(query.has('propagationPolicy')
      ? { propagationPolicy: query.get('propagationPolicy') }
      : {}),
  };
}

/** `All` is the only valid value. */
export function dryRunOf(values: readonly Json[]): boolean {
  if (values.length === 0) return false;
  for (const value of values) {
    if (value !== 'All') {
      throw invalid({ group: 'meta.k8s.io', kind: 'Options' }, '', [
        unsupportedValue('dryRun', value, ['All']),
      ]);
    }
  }
  return true;
}

export interface Deletion {
  readonly object: Stored;
  /** False while a grace period or finalizers keep the object. */
  readonly gone: boolean;
}

export class Deleter {
  readonly #kernel: Kernel;
  readonly #store: Store;

  constructor(kernel: Kernel, store: Store) {
    this.#kernel = kernel;
    this.#store = store;
  }

  delete(target: Target, options: DeleteOptions): Deletion {
    const { definition } = target;
    const key = objectKey(target.namespace, target.name);
    const object = this.#store.get(definition.storage, key);
    if (object === undefined) throw notFound(definition, target.name);
    checkPreconditions(definition, object, options);
    if (definition.kind === 'Namespace') return this.#deleteNamespace(target, object, options);
    const decision = definition.graceful ? this.#grace(object, options) : 'now';
    if (decision === 'pending') return this.#answer(definition, object, false);
    const finalizers = collectorFinalizers(object, options);
    const marked = decision === 'now' ? object : withMetadata(object, decision.metadata);
    if (decision === 'now' && finalizers.length === 0) {
      return this.#remove(target, key, object, options.dryRun);
    }
    const kept = finalizers.length === 0 ? undefined : finalizers;
    const dying = decision === 'now' ? this.#markDeleting(marked) : marked;
    const next = withMetadata(dying, { finalizers: kept });
    const lingers = finalizers.length > 0 || (decision !== 'now' && decision.seconds > 0);
    const saved = options.dryRun ? (next as Stored) : this.#save(definition, next, object);
    if (lingers) return this.#answer(definition, saved, false);
    return this.#remove(target, key, saved, options.dryRun);
  }

  #save(definition: ResourceDefinition, next: JsonObject, old: Stored): Stored {
    const before = metadataOf(old);
    const after = metadataOf(next);
    const fields = ['deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'];
    const same =
      fields.every((field) => before[field] === after[field]) &&
      finalizersOf(next).join() === finalizersOf(old).join();
    return same ? old : this.#store.put(definition.storage, next);
  }

  #remove(target: Target, key: string, object: Stored, dryRun: boolean): Deletion {
    const last = dryRun ? object : this.#store.remove(target.definition.storage, key);
    return this.#answer(target.definition, last ?? object, true);
  }

  #answer(definition: ResourceDefinition, object: Stored, gone: boolean): Deletion {
    return { object: fromStored(definition, object), gone };
  }

  /**
   * Grace period of a graceful kind: pods without a node and finished pods are deleted at once; a
   * second deletion may only shorten the grace period.
   */
  #grace(
    pod: Stored,
    options: DeleteOptions,
  ): 'now' | 'pending' | { readonly metadata: JsonObject; readonly seconds: number } {
    const asked = options.gracePeriodSeconds;
    const wanted = asked !== undefined && asked < 0 ? 1 : asked;
    const now = this.#kernel.now();
    const { deletionTimestamp, deletionGracePeriodSeconds: left } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      if (left === undefined || left === 0) return 'now';
      if (wanted === undefined || wanted >= left) return 'pending';
      const ends = (parseKubeTime(deletionTimestamp) ?? now) - (left - wanted) * 1_000_000;
      const past = ends < now;
      const seconds = past && wanted !== 0 ? 1 : wanted;
      return {
        seconds,
        metadata: {
          deletionTimestamp: kubeTime(past ? now : ends),
          deletionGracePeriodSeconds: seconds,
        },
      };
    }
    const phase = statusOf(pod).phase;
    const own = numberOf(specOf(pod).terminationGracePeriodSeconds) ?? 0;
    const atOnce =
      (textOf(specOf(pod).nodeName) ?? '') === '' || phase === 'Failed' || phase === 'Succeeded';
    const seconds = atOnce ? 0 : Math.max(wanted ?? own, 0);
    return {
      seconds,
      metadata: {
        deletionTimestamp: kubeTime(now + seconds * 1_000_000),
        deletionGracePeriodSeconds: seconds,
        ...raisedGeneration(pod),
      },
    };
  }

  #markDeleting(object: JsonObject): JsonObject {
    const now = this.#kernel.now();
    const before = parseKubeTime(metadataOf(object).deletionTimestamp);
    return withMetadata(object, {
      ...(before === undefined ? raisedGeneration(object) : {}),
      ...(before === undefined || before > now ? { deletionTimestamp: kubeTime(now) } : {}),
      deletionGracePeriodSeconds: 0,
    });
  }

  #deleteNamespace(target: Target, object: Stored, options: DeleteOptions): Deletion {
    const { definition, name } = target;
    if (immortalNamespaces.includes(name)) {
      throw forbidden(definition, name, 'this namespace may not be deleted');
    }
    const content = listOf(specOf(object).finalizers).length > 0;
    if (object.metadata.deletionTimestamp === undefined) {
      const finalizers = collectorFinalizers(object, options);
      const next = withFields(
        withMetadata(object, {
          deletionTimestamp: kubeTime(this.#kernel.now()),
          finalizers: finalizers.length === 0 ? undefined : finalizers,
        }),
        { status: withFields(statusOf(object), { phase: 'Terminating' }) },
      );
      if (options.dryRun) return this.#answer(definition, next as Stored, false);
      return this.#answer(definition, this.#store.put(definition.storage, next), false);
    }
    if (content) {
      const why =
        'The system is ensuring all content is removed from this namespace.  Upon completion, ' +
        'this namespace will automatically be purged by the system.';
      throw conflict(definition, name, why);
    }
    if (finalizersOf(object).length > 0) return this.#answer(definition, object, false);
    return this.#remove(target, name, object, options.dryRun);
  }
}

const raisedGeneration = (object: JsonObject): JsonObject => {
  const generation = numberOf(metadataOf(object).generation);
  return generation === undefined ? {} : { generation: generation + 1 };
};

export function checkPreconditions(
  definition: ResourceDefinition,
  object: Stored,
  options: Pick<DeleteOptions, 'uid' | 'resourceVersion'>,
): void {
  // The API server names the kind here; other conflicts name the resource.
  const of = { group: definition.group, resource: definition.kind };
  const { name, uid, resourceVersion } = object.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    throw conflict(of, name, uidMismatch(options.uid, uid));
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw conflict(of, name, versionMismatch(options.resourceVersion, resourceVersion));
  }
}

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** The finalizers, with the garbage collector's ones set by the propagation policy. */
function collectorFinalizers(object: JsonObject, options: DeleteOptions): readonly string[] {
  const present = finalizersOf(object);
  const others = present.filter((name) => name !== orphan && name !== foreground);
  if (options.orphanDependents !== undefined) {
    return options.orphanDependents ? [...others, orphan] : others;
  }
  switch (options.propagationPolicy) {
    case 'Orphan':
      return [...others, orphan];
    case 'Foreground':
      return [...others, foreground];
    case 'Background':
      return others;
    default:
      return present;
  }
}

/** Refuses preconditions, which deletecollection does not support. */
export function checkCollectionOptions(options: DeleteOptions): void {
  if (options.uid === undefined && options.resourceVersion === undefined) return;
  throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
    forbiddenValue('preconditions', 'deleting a collection takes no preconditions'),
  ]);
}
