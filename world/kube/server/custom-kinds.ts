// Custom resources: registers definitions from CustomResourceDefinition objects, served from the
// moment they are stored until their last instance is deleted. world/kube/schema interprets
// schemas; instances are ordinary objects of the store.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { type Kernel, microsPerMs, microsPerSecond } from '../../kernel/index.ts';
import { applyCustomDefaults, pruneCustom } from '../schema/index.ts';
import { ageOf } from '../tables/index.ts';
import type { ResourceDefinition, Strategy, SubresourceDefinition } from './definition.ts';
import type { Deleter } from './deletion.ts';
import { findPath, plainPath } from './json-path.ts';
import { metadataFields } from './kinds.ts';
import {
  finalizersOf,
  kubeTime,
  metadataOf,
  objectsOf,
  type Stored,
  specOf,
  textOf,
  textsOf,
  withFields,
  withMetadata,
} from './objects.ts';
import type { Registry } from './registry.ts';
import type { Column, Printer } from './representation.ts';
import type { ScalePaths } from './scale.ts';
import type { FieldReader } from './selectors.ts';
import { forbidden } from './status.ts';
import type { Store } from './store.ts';
import { cleanupFinalizer } from './strategies/definitions.ts';

const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
const actor = 'kube.custom-kinds';
const readWrite = ['get', 'patch', 'update'] as const;

interface Extra {
  readonly printer: Printer;
  readonly scale: ScalePaths | undefined;
}

export class CustomKinds {
  readonly #kernel: Kernel;
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #deleter: Deleter;
  readonly #extras = new Map<ResourceDefinition, Extra>();

  constructor(options: {
    readonly kernel: Kernel;
    readonly store: Store;
    readonly registry: Registry;
    readonly deleter: Deleter;
  }) {
    this.#kernel = options.kernel;
    this.#store = options.store;
    this.#registry = options.registry;
    this.#deleter = options.deleter;
    for (const crd of this.#store.list(definitions)) this.#serve(crd);
    this.#store.onChange(definitions, ({ type, object }) => {
      if (type === 'DELETED') this.#forget(object);
      else this.#changed(object);
    });
    this.#kernel.register({
      name: actor,
      handle: (event) => this.#clean(textOf(event.args.name) ?? ''),
    });
  }

  printerOf(definition: ResourceDefinition): Printer | undefined {
    return this.#extras.get(definition)?.printer;
  }

  scalePathsOf(definition: ResourceDefinition): ScalePaths | undefined {
    return this.#extras.get(definition)?.scale;
  }

  #changed(crd: Stored): void {
    this.#serve(crd);
    if (crd.metadata.deletionTimestamp === undefined) return;
    if (!finalizersOf(crd).includes(cleanupFinalizer)) return;
    this.#scheduleCleanup(crd.metadata.name, 50 * microsPerMs);
  }

  #serve(crd: Stored): void {
    this.#forget(crd);
    for (const version of objectsOf(specOf(crd).versions)) {
      if (version.served !== true) continue;
      const definition = definitionOf(crd, version);
      this.#extras.set(definition, {
        printer: printerOf(version),
        scale: scalePathsOf(version),
      });
      this.#registry.add(definition);
      this.#store.open(definition.storage);
    }
  }

  #forget(crd: JsonObject): void {
    const of = groupResourceOf(crd);
    for (const definition of this.#extras.keys()) {
      if (definition.group === of.group && definition.resource === of.resource) {
        this.#extras.delete(definition);
      }
    }
    this.#registry.remove(of);
  }

  #scheduleCleanup(name: string, afterMicros: number): void {
    this.#kernel.schedule({ afterMicros, actor, kind: 'clean', args: { name } });
  }

  /** Deletes the instances of a terminating definition; releases it when none is left. */
  #clean(name: string): void {
    const crd = this.#store.get(definitions, name);
    if (crd?.metadata.deletionTimestamp === undefined) return;
    if (!isToldTerminating(crd)) {
      // This write triggers another call, as every change of a terminating definition does.
      this.#store.put(definitions, terminating(crd, kubeTime(this.#kernel.now())));
      return;
    }
    const of = groupResourceOf(crd);
    const definition = this.#registry.preferred(of);
    for (const instance of this.#store.list(of)) {
      if (definition === undefined || instance.metadata.deletionTimestamp !== undefined) continue;
      const { name: instanceName, namespace } = instance.metadata;
      this.#deleter.delete({ definition, namespace, name: instanceName }, { dryRun: false });
    }
    if (this.#store.count(of) > 0) {
      this.#scheduleCleanup(name, microsPerSecond);
      return;
    }
    const finalizers = finalizersOf(crd).filter((finalizer) => finalizer !== cleanupFinalizer);
    if (finalizers.length === 0) this.#store.remove(definitions, name);
    else this.#store.put(definitions, withMetadata(crd, { finalizers }));
  }
}

const conditionsOf = (crd: JsonObject): readonly JsonObject[] =>
  objectsOf(objectOr(crd.status).conditions);

const isToldTerminating = (crd: JsonObject): boolean =>
  conditionsOf(crd).some(({ type, status }) => type === 'Terminating' && status === 'True');

/** In the words of kube-apiserver 1.36. */
const terminating = (crd: Stored, time: string): JsonObject => {
  const condition = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: time,
    reason: 'InstanceDeletionInProgress',
    message: 'CustomResource deletion is in progress',
  };
  const status = { ...objectOr(crd.status), conditions: [...conditionsOf(crd), condition] };
  return withFields(crd, { status });
};

const groupResourceOf = (crd: JsonObject) => ({
  group: textOf(specOf(crd).group) ?? '',
  resource: textOf(objectOr(specOf(crd).names).plural) ?? '',
});

function subresourcesOf(version: JsonObject, kind: string): readonly SubresourceDefinition[] {
  const { status, scale } = objectOr(version.subresources);
  return [
    ...(status === undefined ? [] : [{ name: 'status', kind, verbs: readWrite }]),
    ...(scale === undefined
      ? []
      : [
          {
            name: 'scale',
            kind: 'Scale',
            group: 'autoscaling',
            version: 'v1',
            verbs: readWrite,
          },
        ]),
  ];
}

const firstText = (object: JsonObject, path: string): string => {
  const found = findPath(object, path)[0];
  return found === undefined || found === null || typeof found === 'object' ? '' : String(found);
};

function selectableFields(version: JsonObject): Readonly<Record<string, FieldReader>> {
  const fields: Record<string, FieldReader> = { ...metadataFields };
  for (const field of objectsOf(version.selectableFields)) {
    const path = textOf(field.jsonPath) ?? '';
    fields[path.replace(/^\./, '')] = (object) => firstText(object, path);
  }
  return fields;
}

/** A terminating definition accepts no new instances, by any kind of write. */
const closed = (of: { readonly group: string; readonly resource: string }): Strategy => ({
  prepareForCreate: (object) => {
    const name = textOf(metadataOf(object).name) ?? '';
    throw forbidden(of, name, 'create not allowed while custom resource definition is terminating');
  },
});

function definitionOf(crd: Stored, version: JsonObject): ResourceDefinition {
  const spec = specOf(crd);
  const names = objectOr(spec.names);
  const { group, resource } = groupResourceOf(crd);
  const kind = textOf(names.kind) ?? '';
  const name = textOf(version.name) ?? '';
  const storageVersion = objectsOf(spec.versions).find((candidate) => candidate.storage === true);
  const storedAs = `${group}/${textOf(storageVersion?.name) ?? name}`;
  const shownAs = `${group}/${name}`;
  const custom = objectOr(objectOr(version.schema).openAPIV3Schema);
  return {
    group,
    version: name,
    resource,
    kind,
    singular: textOf(names.singular) ?? kind.toLowerCase(),
    listKind: textOf(names.listKind) ?? `${kind}List`,
    namespaced: spec.scope === 'Namespaced',
    shortNames: textsOf(names.shortNames),
    categories: textsOf(names.categories),
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    subresources: subresourcesOf(version, kind),
    hasStatus: objectOr(version.subresources).status !== undefined,
    generation: 'content',
    statusMetadata: 'none',
    nameRule: 'subdomain',
    unconditionalUpdate: false,
    createOnUpdate: false,
    graceful: false,
    returnsDeleted: false,
    fields: selectableFields(version),
    strategy: crd.metadata.deletionTimestamp === undefined ? {} : closed({ group, resource }),
    storage: {
      group,
      resource,
      fromStored: readAs(shownAs, custom),
      ...(storedAs === shownAs
        ? {}
        : { toStored: (object) => ({ ...object, apiVersion: storedAs }) }),
    },
    custom,
  };
}

/**
 * A stored object under the current schema, whatever schema it was written with, and under the
 * API's `None` conversion, which changes only apiVersion.
 */
function readAs(apiVersion: string, schema: JsonObject): (stored: Stored) => Stored {
  const known = new WeakMap<Stored, Stored>();
  return (stored) => {
    const before = known.get(stored);
    if (before !== undefined) return before;
    const shaped = applyCustomDefaults(schema, pruneCustom(schema, stored).object);
    const named = shaped.apiVersion === apiVersion ? shaped : { ...shaped, apiVersion };
    known.set(stored, named as Stored);
    return named as Stored;
  };
}

function scalePathsOf(version: JsonObject): ScalePaths | undefined {
  const scale = objectOr(version.subresources).scale;
  if (!isObject(scale)) return undefined;
  const path = (name: string): readonly string[] | undefined => {
    const text = textOf(scale[name]);
    return text === undefined ? undefined : plainPath(text);
  };
  return {
    spec: path('specReplicasPath') ?? ['spec', 'replicas'],
    status: path('statusReplicasPath') ?? ['status', 'replicas'],
    selector: path('labelSelectorPath'),
  };
}

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  cell: (object) => textOf(metadataOf(object).name) ?? '',
};
const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  priority: 0,
  cell: (object, now) => ageOf(metadataOf(object).creationTimestamp, now),
};

/** A cell of the column's declared type; a value of another type shows as empty. */
function cellOf(type: string, value: Json | undefined, nowMs: number): Json {
  if (value === undefined) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return ageOf(value, nowMs);
    default:
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

function printerOf(version: JsonObject): Printer {
  const extra = objectsOf(version.additionalPrinterColumns);
  if (extra.length === 0) return [nameColumn, ageColumn];
  const columns = extra.map((column): Column => {
    const type = textOf(column.type) ?? 'string';
    const path = textOf(column.jsonPath) ?? '';
    const priority = typeof column.priority === 'number' ? column.priority : 0;
    return {
      name: textOf(column.name) ?? '',
      type,
      format: textOf(column.format) ?? '',
      description: textOf(column.description) ?? '',
      priority,
      cell: (object, now) => cellOf(type, findPath(object, path)[0], now),
    };
  });
  return [nameColumn, ...columns];
}
