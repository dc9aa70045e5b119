// WATCH: replays known changes after a resourceVersion, then follows commits. An object that starts
// or stops matching a selector is ADDED or DELETED. Also bookmarks, the end at timeoutSeconds and
// WatchList's initial events.
import type { JsonObject } from '../../../src/api/json.ts';
import type { ApiResponse, WatchFrame } from '../../contracts.ts';
import { type Kernel, microsPerSecond } from '../../kernel/index.ts';
import { apiVersionOf, type ResourceDefinition } from './definition.ts';
import type { Recorded } from './history.ts';
import { candidates, nodeAsked, parseRevision, selectionFor, tooLarge } from './list.ts';
import type { Stored } from './objects.ts';
import type { Selection } from './selectors.ts';
import { type ApiError, badRequest, expired, forbiddenValue, invalid } from './status.ts';
import type { Store } from './store.ts';
import { fromStored } from './write.ts';

const bookmarkEverySeconds = 60;
/** min-request-timeout of the API server: watches without a timeout end after 30 to 60 minutes. */
const minimumTimeoutSeconds = 1800;
const initialEventsEnd = 'k8s.io/initial-events-end';

type OpenWatch = Extract<ApiResponse, { kind: 'watch' }>['open'];
type Sink = Parameters<OpenWatch>[0];

export interface WatchRequest {
  readonly definition: ResourceDefinition;
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
  /** Converts an object to the form that Accept requests. */
  readonly show: (object: JsonObject) => JsonObject;
}

interface Plan {
  readonly request: WatchRequest;
  readonly selection: Selection;
  /** Undefined: starts with the current state as ADDED. */
  readonly since: number | undefined;
  readonly bookmarks: boolean;
  readonly announceInitial: boolean;
  readonly timeoutSeconds: number;
}

const flag = (query: URLSearchParams, name: string): boolean => {
  const value = query.get(name);
  return value === 'true' || value === '1';
};

function checkOptions(query: URLSearchParams): void {
  const of = { group: 'meta.k8s.io', kind: 'ListOptions' };
  const match = query.get('resourceVersionMatch') ?? '';
  if (!query.has('sendInitialEvents')) {
    if (match === '') return;
    const message =
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    throw invalid(of, '', [forbiddenValue('resourceVersionMatch', message)]);
  }
  if (match === 'NotOlderThan') return;
  const message = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
  throw invalid(of, '', [forbiddenValue('resourceVersionMatch', message)]);
}

export class Watches {
  readonly #kernel: Kernel;
  readonly #store: Store;

  constructor(kernel: Kernel, store: Store) {
    this.#kernel = kernel;
    this.#store = store;
  }

  /** Throws for invalid options, before the stream begins. */
  open(request: WatchRequest): OpenWatch {
    const { query, definition } = request;
    checkOptions(query);
    const text = query.get('resourceVersion') ?? '';
    const revision = text === '' ? 0 : parseRevision(text);
    if (revision > this.#store.revision) tooLarge(revision, this.#store.revision);
    const initial = query.has('sendInitialEvents') ? flag(query, 'sendInitialEvents') : undefined;
    const timeout = query.get('timeoutSeconds');
    const seconds = timeout === null ? 0 : Number(timeout);
    if (!Number.isInteger(seconds) || seconds < 0) {
      throw badRequest(`timeoutSeconds: Invalid value: "${timeout}"`);
    }
    const plan: Plan = {
      request,
      selection: selectionFor(definition, query),
      since: sinceOf(initial, revision, this.#store.revision),
      bookmarks: flag(query, 'allowWatchBookmarks'),
      announceInitial: initial === true,
      timeoutSeconds: seconds > 0 ? seconds : this.#chanceTimeout(),
    };
    return (on) => new Stream(this.#kernel, this.#store, plan, on).start();
  }

  #chanceTimeout(): number {
    const random = this.#kernel.random('kube.watch');
    return minimumTimeoutSeconds + random.below(minimumTimeoutSeconds);
  }
}

/** Without a version, or with 0, a watch starts from the current state unless disabled. */
function sinceOf(
  initial: boolean | undefined,
  revision: number,
  current: number,
): number | undefined {
  if (initial === true) return undefined;
  if (revision > 0) return revision;
  return initial === false ? current : undefined;
}

class Stream {
  readonly #kernel: Kernel;
  readonly #store: Store;
  readonly #plan: Plan;
  readonly #on: Sink;
  readonly #timers = new Map<'bookmark' | 'end', number>();
  #unsubscribe: (() => void) | undefined;
  #ended = false;
  /** Revision up to which all events have been sent. */
  #seen: number;

  constructor(kernel: Kernel, store: Store, plan: Plan, on: Sink) {
    this.#kernel = kernel;
    this.#store = store;
    this.#plan = plan;
    this.#on = on;
    this.#seen = store.revision;
  }

  start(): () => void {
    const { request, selection, since } = this.#plan;
    const missed = since === undefined ? [] : this.#missed(since);
    if (missed === undefined) {
      this.#fail(expired(`too old resource version: ${since} (${this.#store.revision})`));
      return () => {};
    }
    const { storage } = request.definition;
    const follow = (change: Recorded): void => {
      if (change.revision > this.#seen) this.#change(change);
    };
    this.#unsubscribe = this.#store.subscribe(storage, follow, nodeAsked(storage, selection));
    this.#every();
    this.#timers.set(
      'end',
      this.#kernel.after(this.#plan.timeoutSeconds * microsPerSecond, () => this.#timeout()),
    );
    if (since === undefined) this.#initial();
    for (const change of missed) {
      if (!this.#ended) this.#change(change);
    }
    return () => this.#stop();
  }

  #missed(since: number): readonly Recorded[] | undefined {
    return this.#store.history(this.#plan.request.definition.storage).since(since);
  }

  #initial(): void {
    const { request, selection } = this.#plan;
    const objects = candidates(this.#store, request.definition, request.namespace, selection);
    for (const object of objects) {
      if (this.#ended) return;
      if (this.#wants(object)) this.#send('ADDED', object);
    }
    if (!this.#plan.announceInitial || !this.#plan.bookmarks) return;
    this.#bookmark({ annotations: { [initialEventsEnd]: 'true' } });
  }

  #wants(object: Stored): boolean {
    const { request, selection } = this.#plan;
    if (request.namespace !== undefined && object.metadata.namespace !== request.namespace) {
      return false;
    }
    return selection.matches === undefined || selection.matches(object);
  }

  #change(change: Recorded): void {
    this.#seen = Math.max(this.#seen, change.revision);
    const before = change.previous !== undefined && this.#wants(change.previous);
    const after = change.type !== 'DELETED' && this.#wants(change.object);
    if (after) this.#send(before ? 'MODIFIED' : 'ADDED', change.object);
    else if (before) this.#send('DELETED', leaving(change));
  }

  #send(type: WatchFrame['type'], stored: Stored): void {
    const { definition, show } = this.#plan.request;
    this.#on.frame({ type, object: show(fromStored(definition, stored)) });
  }

  #bookmark(metadata: JsonObject = {}): void {
    const { definition, show } = this.#plan.request;
    const object = {
      kind: definition.kind,
      apiVersion: apiVersionOf(definition),
      metadata: { resourceVersion: String(this.#store.revision), ...metadata },
    };
    this.#on.frame({ type: 'BOOKMARK', object: show(object) });
  }

  #every(): void {
    if (!this.#plan.bookmarks) return;
    const handle = this.#kernel.after(bookmarkEverySeconds * microsPerSecond, () => {
      this.#bookmark();
      if (!this.#ended) this.#every();
    });
    this.#timers.set('bookmark', handle);
  }

  #timeout(): void {
    if (this.#plan.bookmarks) this.#bookmark();
    this.#stop();
    this.#on.end();
  }

  #fail(error: ApiError): void {
    this.#ended = true;
    this.#on.frame({ type: 'ERROR', object: error.status });
    this.#on.end();
  }

  #stop(): void {
    this.#ended = true;
    this.#unsubscribe?.();
    for (const handle of this.#timers.values()) this.#kernel.cancel(handle);
    this.#timers.clear();
  }
}

/** The last state of a deleted object; for one that stopped matching, its last matching state. */
function leaving(change: Recorded): Stored {
  if (change.type === 'DELETED' || change.previous === undefined) return change.object;
  const { resourceVersion } = change.object.metadata;
  return {
    ...change.previous,
    metadata: { ...change.previous.metadata, resourceVersion },
  } as Stored;
}
