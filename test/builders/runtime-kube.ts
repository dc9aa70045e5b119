// For tests only: a small Kubernetes API behind the KubeApi port with the faults that the runtime
// must survive (stale lists, closed, silent and expired watches, failing calls). Implements only
// what controllers rely on (resourceVersions, status isolation, generation).
import { defined } from '../../src/api/defined.ts';
import { isObject, type Json, type JsonObject, objectOr } from '../../src/api/json.ts';
import type { KubeObject, ResourceType } from '../../src/api/kube.ts';
import {
  type Clock,
  type Found,
  type KubeApi,
  KubeError,
  type KubeErrorCode,
  type ListOptions,
  type ObjectName,
  type WatchEvent,
  type WatchStart,
} from '../../src/ports/index.ts';

type Raw = KubeObject & JsonObject;
type Verb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'delete' | 'evict';

interface Stream {
  readonly resource: string;
  readonly push: (event: WatchEvent<KubeObject>) => void;
  readonly close: (error?: KubeError) => void;
}

interface Request {
  readonly verb: Verb;
  readonly resource: string;
  readonly name?: string;
  readonly body?: Json;
}

/** What a test writes; metadata beyond the name is filled in. */
export interface Seed {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly status?: object;
}

export class FakeKube implements KubeApi {
  readonly requests: Request[] = [];
  readonly #clock: Clock;
  readonly #objects = new Map<string, Map<string, Raw>>();
  readonly #history: { readonly resource: string; readonly event: WatchEvent<KubeObject> }[] = [];
  readonly #streams = new Set<Stream>();
  readonly #failures: {
    verb: Verb;
    code: KubeErrorCode;
    left: number;
    landed: boolean;
    name: string | undefined;
    retryAfterSeconds: number | undefined;
  }[] = [];
  #staleList: { readonly items: readonly Raw[]; readonly resourceVersion: string } | undefined;
  #staleLeft = 0;
  #revision = 100;
  #uid = 0;
  silent = false;
  /** Whether watches may begin with the present objects; `endless` needs `bookmark(true)`. */
  initialEvents: 'served' | 'refused' | 'endless' = 'served';

  constructor(clock: Clock) {
    this.#clock = clock;
  }
  get revision(): number {
    return this.#revision;
  }
  get openWatches(): number {
    return this.#streams.size;
  }
  count(verb: Verb): number {
    return this.requests.filter((request) => request.verb === verb).length;
  }

  // ---- the test's actions on the server ----

  /**
   * The next `times` calls of `verb` (on `name`) fail; with `landed` the write still takes effect.
   */
  fail(
    verb: Verb,
    code: KubeErrorCode,
    more: { times?: number; landed?: boolean; name?: string; retryAfterSeconds?: number } = {},
  ): void {
    const { times = 1, landed = false, name, retryAfterSeconds } = more;
    this.#failures.push({ verb, code, left: times, landed, name, retryAfterSeconds });
  }
  heal(): void {
    this.#failures.length = 0;
  }
  /** The next `times` lists return the current state. */
  rememberForStaleLists(type: ResourceType, times: number): void {
    this.#staleList = {
      items: [...this.#of(type).values()],
      resourceVersion: String(this.#revision),
    };
    this.#staleLeft = times;
  }
  closeWatches(error?: KubeError): void {
    for (const stream of [...this.#streams]) stream.close(error);
  }
  /** Sends an event unchanged, whatever the state: duplicates and late ones. */
  inject(type: ResourceType, event: WatchEvent<KubeObject>): void {
    for (const stream of this.#streams) {
      if (stream.resource === type.resource) stream.push(event);
    }
  }
  bookmark(endsInitial?: true): void {
    const resourceVersion = String(this.#revision);
    const event = { type: 'BOOKMARK', resourceVersion, ...defined({ endsInitial }) } as const;
    for (const stream of this.#streams) stream.push(event);
  }
  /** Changes the revision abruptly, like a server restored from another backup. */
  setRevision(revision: number): void {
    this.#revision = revision;
    this.#history.length = 0;
  }
  /** Creates or replaces an object with spec and status. */
  put(type: ResourceType, seed: Seed): Raw {
    const { name, namespace, labels, annotations, spec, status } = seed;
    const known = this.#of(type).get(keyFor({ name, ...(namespace && { namespace }) }));
    const object = {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: {
        name,
        ...defined({ namespace, labels, annotations }),
        uid: known?.metadata.uid ?? `uid-${++this.#uid}`,
        generation: (known?.metadata.generation ?? 0) + 1,
        creationTimestamp: this.#time(),
        resourceVersion: '0',
      },
      ...(spec === undefined ? {} : { spec: spec as JsonObject }),
      ...(status === undefined ? {} : { status: status as JsonObject }),
    };
    return this.#commit(type, known === undefined ? 'ADDED' : 'MODIFIED', object);
  }
  remove(type: ResourceType, name: string | ObjectName): void {
    const key = typeof name === 'string' ? name : keyFor(name);
    const known = this.#of(type).get(key);
    if (known !== undefined) this.#commit(type, 'DELETED', known);
  }
  peek(type: ResourceType, name: string | ObjectName): Raw | undefined {
    return this.#of(type).get(typeof name === 'string' ? name : keyFor(name));
  }

  // ---- the port ----

  async get<T extends KubeObject>(type: ResourceType, name: ObjectName): Promise<Found<T>> {
    return this.#answer({ verb: 'get', resource: type.resource, name: name.name }, () => {
      const object = this.#of(type).get(keyFor(name));
      return object === undefined ? { kind: 'gone' } : { kind: 'found', object: as<T>(object) };
    });
  }

  async list<T extends KubeObject>(
    type: ResourceType,
    options: ListOptions & { readonly trim?: (item: T) => T } = {},
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }> {
    const { trim = (item: T) => item } = options;
    return this.#answer({ verb: 'list', resource: type.resource }, () => {
      const stale = this.#staleLeft > 0 ? this.#staleList : undefined;
      if (stale !== undefined) this.#staleLeft--;
      const items = stale?.items ?? [...this.#of(type).values()];
      const resourceVersion = stale?.resourceVersion ?? String(this.#revision);
      return { items: items.map((item) => trim(as<T>(item))), resourceVersion };
    });
  }

  async *watch<T extends KubeObject>(
    type: ResourceType,
    options: WatchStart & { readonly signal?: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>> {
    await this.#answer({ verb: 'watch', resource: type.resource }, () => {
      const isInitial = 'sendInitialEvents' in options;
      if (isInitial && this.initialEvents === 'refused') {
        throw new KubeError('Invalid', 'sendInitialEvents is forbidden for watch');
      }
    });
    const pending = this.#first(type, options);
    let wake = (): void => undefined;
    let ended: { readonly error: KubeError | undefined } | undefined;
    const stream: Stream = {
      resource: type.resource,
      push: (event) => {
        if (this.silent) return;
        pending.push(event);
        wake();
      },
      close: (error) => {
        ended = { error };
        wake();
      },
    };
    const abort = (): void => stream.close();
    if (options.signal?.aborted === true) return;
    options.signal?.addEventListener('abort', abort, { once: true });
    this.#streams.add(stream);
    try {
      for (;;) {
        const event = pending.shift();
        if (event !== undefined) {
          yield event.type === 'BOOKMARK' ? event : { ...event, object: as<T>(event.object) };
        } else if (ended !== undefined) {
          if (ended.error !== undefined) throw ended.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      this.#streams.delete(stream);
      options.signal?.removeEventListener('abort', abort);
    }
  }

  /** The events with which a watch begins. */
  #first(type: ResourceType, start: WatchStart): WatchEvent<KubeObject>[] {
    if (!('sendInitialEvents' in start)) {
      const since = Number(start.resourceVersion);
      return this.#history
        .filter(({ resource, event }) => resource === type.resource && revisionIn(event) > since)
        .map(({ event }) => event);
    }
    const added = [...this.#of(type).values()].map(
      (object): WatchEvent<KubeObject> => ({ type: 'ADDED', object }),
    );
    if (this.initialEvents !== 'served') return added;
    const resourceVersion = String(this.#revision);
    return [...added, { type: 'BOOKMARK', resourceVersion, endsInitial: true }];
  }

  async create<T extends KubeObject>(
    type: ResourceType,
    object: JsonObject,
    options: { readonly namespace?: string } = {},
  ): Promise<T> {
    const metadata = objectOr(object.metadata);
    const name = String(metadata.name);
    const at: ObjectName = { name, ...(options.namespace && { namespace: options.namespace }) };
    return this.#answer({ verb: 'create', resource: type.resource, name, body: object }, () => {
      if (this.#of(type).has(keyFor(at))) {
        throw new KubeError('AlreadyExists', `${type.resource} "${name}" already exists`);
      }
      const { status: _dropped, ...rest } = object;
      const uid = `uid-${++this.#uid}`;
      const meta = { ...metadata, ...at, uid, generation: 1, creationTimestamp: this.#time() };
      const created = { ...rest, metadata: { ...meta, resourceVersion: '0' } };
      return as<T>(this.#commit(type, 'ADDED', created as JsonObject as Raw));
    });
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    name: ObjectName,
    patch: { readonly type: string; readonly body: Json; readonly subresource?: string },
  ): Promise<Found<T>> {
    const request = { verb: 'patch', resource: type.resource, name: name.name, body: patch.body };
    return this.#answer<Found<T>>(request as Request, () => {
      const known = this.#of(type).get(keyFor(name));
      if (known === undefined) return { kind: 'gone' };
      if (patch.type === 'json') throw new KubeError('BadRequest', 'the fake knows no JSON patch');
      const body =
        patch.type === 'merge'
          ? objectOr(patch.body)
          : withConditions(objectOr(patch.body), objectOr(known.status));
      const wanted = objectOr(body.metadata).resourceVersion;
      if (wanted !== undefined && wanted !== known.metadata.resourceVersion) {
        throw new KubeError('Conflict', `${name.name} has been modified`);
      }
      const merged = objectOr(mergePatch(known, body));
      const status = patch.subresource === 'status' ? merged.status : known.status;
      const base = patch.subresource === 'status' ? known : (merged as Raw);
      const bump = JSON.stringify(base.spec) === JSON.stringify(known.spec) ? 0 : 1;
      const generation = (known.metadata.generation ?? 0) + bump;
      const metadata = { ...base.metadata, generation };
      const next = { ...base, metadata, ...defined({ status }) } as Raw;
      const same = JSON.stringify(next) === JSON.stringify(known);
      return { kind: 'found', object: as<T>(same ? known : this.#commit(type, 'MODIFIED', next)) };
    });
  }

  async delete(
    type: ResourceType,
    name: ObjectName,
  ): Promise<{ readonly kind: 'deleted' | 'gone' }> {
    return this.#answer({ verb: 'delete', resource: type.resource, name: name.name }, () => {
      const known = this.#of(type).get(keyFor(name));
      if (known === undefined) return { kind: 'gone' };
      this.#commit(type, 'DELETED', known);
      return { kind: 'deleted' };
    });
  }

  async evict(): Promise<{ readonly kind: 'evicted' | 'gone' }> {
    throw new KubeError('BadRequest', 'the fake evicts nothing');
  }

  async #answer<T>(request: Request, run: () => T): Promise<T> {
    await undefined;
    this.requests.push(request);
    const failure = this.#failures.find(
      ({ verb, left, name }) =>
        verb === request.verb && left > 0 && (name === undefined || name === request.name),
    );
    if (failure === undefined) return run();
    failure.left--;
    if (failure.landed) run();
    const { code, retryAfterSeconds } = failure;
    throw new KubeError(code, `told to fail: ${code}`, defined({ retryAfterSeconds }));
  }

  #of(type: ResourceType): Map<string, Raw> {
    const known = this.#objects.get(type.resource);
    if (known !== undefined) return known;
    const fresh = new Map<string, Raw>();
    this.#objects.set(type.resource, fresh);
    return fresh;
  }

  #commit(type: ResourceType, change: 'ADDED' | 'MODIFIED' | 'DELETED', object: Raw): Raw {
    const resourceVersion = String(++this.#revision);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion } } as Raw;
    if (change === 'DELETED') this.#of(type).delete(keyFor(object.metadata));
    else this.#of(type).set(keyFor(object.metadata), stored);
    const event: WatchEvent<KubeObject> = { type: change, object: stored };
    this.#history.push({ resource: type.resource, event });
    this.inject(type, event);
    return stored;
  }

  #time(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`;
  }
}

/** The only cast: a test requests the type that it stored. */
const as = <T extends KubeObject>(object: KubeObject): T => object as T;
const keyFor = (name: ObjectName): string =>
  name.namespace === undefined ? name.name : `${name.namespace}/${name.name}`;
const apiVersionOf = (type: ResourceType): string =>
  type.group === '' ? type.version : `${type.group}/${type.version}`;
const revisionIn = (event: WatchEvent<KubeObject>): number =>
  Number(event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion);

/** The part of strategic merge that the agent relies on: conditions merge by type. */
const withConditions = (body: JsonObject, status: JsonObject): JsonObject => {
  const { conditions, ...rest } = objectOr(body.status);
  if (!Array.isArray(conditions)) return body;
  const before = Array.isArray(status.conditions) ? status.conditions : [];
  const types = new Set(conditions.map((one: Json) => objectOr(one).type));
  const others = before.filter((one: Json) => !types.has(objectOr(one).type));
  return { ...body, status: { ...rest, conditions: [...others, ...conditions] } };
};

/** RFC 7386. */
const mergePatch = (target: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json | undefined> = { ...objectOr(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else if (value !== undefined) merged[key] = mergePatch(merged[key], value);
  }
  return merged;
};
