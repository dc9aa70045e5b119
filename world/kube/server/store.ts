// All objects, one monotonic revision, recent changes (for watches and consistent pages), and the
// indexes that make the cost of a query proportional to its result. Knows no kinds: it never
// validates and never decides what may be written.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { GroupResource, StoreChange } from '../../contracts.ts';
import type { Kernel, Table } from '../../kernel/index.ts';
import { Compaction } from './compaction.ts';
import { History, type Recorded } from './history.ts';
import { metadataOf, objectsOf, type Stored, textOf, withMetadata } from './objects.ts';
import { SortedKeys } from './sorted-keys.ts';
import { nodeOf, type Subscriber, Subscribers } from './subscribers.ts';

export const resourceKey = (of: GroupResource): string => `${of.group}/${of.resource}`;
export const objectKey = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
export const keyOf = (object: JsonObject): string => {
  const metadata = metadataOf(object);
  return objectKey(textOf(metadata.namespace), textOf(metadata.name) ?? '');
};

interface Collection {
  readonly resource: GroupResource;
  readonly table: Table<JsonObject>;
  readonly keys: SortedKeys;
  readonly history: History;
  readonly listeners: ((change: StoreChange) => void)[];
  readonly subscribers: Subscribers;
}

type Index<T> = Map<string, Map<string, T>>;

interface Owned {
  readonly table: Table<JsonObject>;
  readonly key: string;
}

interface Delivery {
  readonly collection: Collection;
  readonly change: Recorded;
}

const podsResource = { group: '', resource: 'pods' };
const eventsResource = { group: '', resource: 'events' };

export class Store {
  readonly #kernel: Kernel;
  readonly #meta: Table<JsonObject>;
  readonly #collections = new Map<string, Collection>();
  /** Collections by the caller's resource object: most callers reuse one for their lifetime. */
  readonly #opened = new WeakMap<GroupResource, Collection>();
  /** Node name to keys of its pods. */
  readonly #podsByNode: Index<string> = new Map();
  /** Owner's uid to the objects it owns, by their uid. */
  readonly #owned: Index<Owned> = new Map();
  /** Uid of an event's object to keys of its events. Arrays: a pod has about five. */
  readonly #eventsAbout = new Map<string, string[]>();
  readonly #historySize: number;
  readonly #compaction: Compaction;
  readonly #queue: Delivery[] = [];
  #delivering = false;
  #revision: number;

  /** `resources` are opened at once, so that the indexes include a stored world's objects. */
  constructor(kernel: Kernel, resources: readonly GroupResource[], historySize: number) {
    this.#kernel = kernel;
    this.#historySize = historySize;
    this.#meta = kernel.tables.open('kube.meta');
    const stored = this.#meta.get('revision')?.revision;
    this.#revision = typeof stored === 'number' ? stored : 1;
    this.#compaction = new Compaction(kernel.now(), this.#revision);
    for (const resource of resources) this.open(resource);
  }

  get revision(): number {
    return this.#revision;
  }

  open(resource: GroupResource): Collection {
    const opened = this.#opened.get(resource);
    if (opened !== undefined) return opened;
    const collection = this.#openNamed(resource);
    this.#opened.set(resource, collection);
    return collection;
  }

  #openNamed(resource: GroupResource): Collection {
    const key = resourceKey(resource);
    const known = this.#collections.get(key);
    if (known !== undefined) return known;
    const table = this.#kernel.tables.open<JsonObject>(`kube/${key}`);
    const collection: Collection = {
      resource,
      table,
      keys: new SortedKeys([...table.entries()].map(([name]) => name)),
      history: new History(this.#revision, this.#historySize),
      listeners: [],
      subscribers: new Subscribers(),
    };
    this.#collections.set(key, collection);
    for (const name of collection.keys.all()) {
      const object = table.get(name);
      if (object !== undefined) this.#index(collection, name, object as Stored, undefined);
    }
    return collection;
  }

  get(resource: GroupResource, key: string): Stored | undefined {
    return this.open(resource).table.get(key) as Stored | undefined;
  }

  /** Sorted by key; `namespace` restricts the result. */
  list(resource: GroupResource, namespace?: string): readonly Stored[] {
    const { table } = this.open(resource);
    const out: Stored[] = [];
    for (const key of this.keys(resource, namespace)) {
      const object = table.get(key);
      if (object !== undefined) out.push(object as Stored);
    }
    return out;
  }

  /** The keys of the same list, without reading objects. */
  keys(resource: GroupResource, namespace?: string): readonly string[] {
    const { keys } = this.open(resource);
    if (namespace === undefined || namespace === '') return keys.all();
    return keys.withPrefix(`${namespace}/`);
  }

  count(resource: GroupResource): number {
    return this.open(resource).table.size;
  }

  podsOnNode(nodeName: string): readonly Stored[] {
    const table = this.open(podsResource).table;
    return found(this.#podsByNode.get(nodeName), (key) => table.get(key));
  }

  eventsAbout(uid: string): readonly Stored[] {
    const { table } = this.open(eventsResource);
    const keys = this.#eventsAbout.get(uid) ?? [];
    return keys.flatMap((key) => (table.get(key) as Stored | undefined) ?? []);
  }

  /** With `only`, objects of other kinds are skipped without being read. */
  ownedBy(uid: string, only?: GroupResource): readonly Stored[] {
    const wanted = only === undefined ? undefined : this.open(only).table;
    return found(this.#owned.get(uid), ({ table, key }) =>
      wanted === undefined || table === wanted ? table.get(key) : undefined,
    );
  }

  /** The oldest revision that lists read. Watches read from memory and start there as well. */
  get compacted(): number {
    return this.#compaction.compacted(this.#kernel.now(), this.#revision);
  }

  history(resource: GroupResource): History {
    return this.open(resource).history;
  }

  /** Stores `object` under the next revision, which becomes its resourceVersion. */
  put(resource: GroupResource, object: JsonObject, knownKey?: string): Stored {
    const collection = this.open(resource);
    const key = knownKey ?? keyOf(object);
    const previous = collection.table.get(key) as Stored | undefined;
    const revision = this.#next();
    const stored = withMetadata(object, { resourceVersion: String(revision) }) as Stored;
    collection.table.put(key, stored);
    if (previous === undefined) collection.keys.add(key);
    this.#index(collection, key, stored, previous);
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#deliver(collection, { revision, type, key, object: stored, previous });
    return stored;
  }

  /** Removes the object; the returned last state carries the revision of the removal. */
  remove(resource: GroupResource, key: string, last?: JsonObject): Stored | undefined {
    const collection = this.open(resource);
    const previous = collection.table.get(key) as Stored | undefined;
    if (previous === undefined) return undefined;
    const revision = this.#next();
    const object = withMetadata(last ?? previous, {
      resourceVersion: String(revision),
    }) as Stored;
    collection.table.delete(key);
    collection.keys.remove(key);
    this.#index(collection, key, undefined, previous);
    this.#deliver(collection, { revision, type: 'DELETED', key, object, previous });
    return object;
  }

  onChange(resource: GroupResource, listener: (change: StoreChange) => void): void {
    this.open(resource).listeners.push(listener);
  }

  /** `node`, for pods: only changes of pods that are, or were, on that node are delivered. */
  subscribe(resource: GroupResource, subscriber: Subscriber, node?: string): () => void {
    return this.open(resource).subscribers.add(subscriber, node);
  }

  #next(): number {
    this.#compaction.pass(this.#kernel.now(), this.#revision);
    this.#revision++;
    this.#meta.put('revision', { revision: this.#revision });
    return this.#revision;
  }

  /** Keeps the order: a change written by a listener waits until this one is delivered. */
  #deliver(collection: Collection, change: Recorded): void {
    collection.history.push(change);
    this.#queue.push({ collection, change });
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const { resource, listeners, subscribers } = next.collection;
        const { type, object, previous } = next.change;
        for (const listener of listeners) listener({ type, resource, object, previous });
        subscribers.tell(next.change);
      }
    } finally {
      this.#delivering = false;
    }
  }

  #aboutAnother(key: string, before: string | undefined, after: string | undefined): void {
    if (before !== undefined) {
      const left = this.#eventsAbout.get(before)?.filter((other) => other !== key) ?? [];
      if (left.length === 0) this.#eventsAbout.delete(before);
      else this.#eventsAbout.set(before, left);
    }
    if (after === undefined) return;
    const known = this.#eventsAbout.get(after);
    if (known === undefined) this.#eventsAbout.set(after, [key]);
    else known.push(key);
  }

  /** Returns cheaply when neither node nor owners changed. */
  #index(
    { resource, table }: Collection,
    key: string,
    object: Stored | undefined,
    previous: Stored | undefined,
  ): void {
    const uid = object?.metadata.uid ?? previous?.metadata.uid ?? '';
    if (resource.resource === 'pods' && resource.group === '') {
      const before = nodeOf(previous);
      const after = nodeOf(object);
      if (before !== after) {
        take(this.#podsByNode, before, uid);
        give(this.#podsByNode, after, uid, key);
      }
    }
    if (resource.resource === 'events' && resource.group === '') {
      const before = aboutOf(previous);
      const after = aboutOf(object);
      if (before !== after) this.#aboutAnother(key, before, after);
    }
    const before = previous?.metadata.ownerReferences;
    if (before === object?.metadata.ownerReferences) return;
    for (const owner of ownersOf(previous)) take(this.#owned, owner, uid);
    for (const owner of ownersOf(object)) give(this.#owned, owner, uid, { table, key });
  }
}

const aboutOf = (event: Stored | undefined): string | undefined =>
  event === undefined ? undefined : textOf(objectOr(event.involvedObject).uid);

const ownersOf = (object: Stored | undefined): readonly string[] =>
  object === undefined
    ? []
    : objectsOf(metadataOf(object).ownerReferences).flatMap((owner) => textOf(owner.uid) ?? []);

function take<T>(index: Index<T>, at: string | undefined, uid: string): void {
  if (at === undefined) return;
  const bucket = index.get(at);
  bucket?.delete(uid);
  if (bucket?.size === 0) index.delete(at);
}

function give<T>(index: Index<T>, at: string | undefined, uid: string, value: T): void {
  if (at === undefined) return;
  const bucket = index.get(at);
  if (bucket === undefined) index.set(at, new Map([[uid, value]]));
  else bucket.set(uid, value);
}

function found<T>(
  bucket: ReadonlyMap<string, T> | undefined,
  read: (value: T) => JsonObject | undefined,
): readonly Stored[] {
  const out: Stored[] = [];
  for (const value of bucket?.values() ?? []) {
    const object = read(value);
    if (object !== undefined) out.push(object as Stored);
  }
  return out;
}
