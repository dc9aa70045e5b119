// Records core/v1 Events as client-go's recorder does: a repeated event raises the count of the
// existing one; very frequent events are aggregated or dropped. Never fails its caller: an event
// that cannot be written is dropped.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { WorldClient } from '../../contracts.ts';
import type { Kernel, Micros } from '../../kernel/index.ts';
import { EventCorrelator, rememberIn } from './event-correlator.ts';
import { resources } from './objects.ts';
import { kubeTime } from './time.ts';

export interface EventNote {
  readonly about: KubeObject;
  readonly type?: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Part of the object that the event is about, e.g. spec.containers{nginx}. */
  readonly fieldPath?: string;
}

/** Number of distinct events per recorder whose repeats are counted, as upstream. */
const rememberedEvents = 4096;

/** Several events of one object may share a microsecond; each gets its own nanosecond of it. */
const namesPerMicro = 1000;

/**
 * Suffix of an event's name, as client-go's recorder builds it, so that names sort by time:
 * `kubectl get events` and `describe` order events of the same second by name.
 */
const nanosInHex = (now: Micros, nth: number): string =>
  (BigInt(now) * 1000n + BigInt(nth)).toString(16);

/** State of an event recorder. Thousands of kubelets share one larger instance. */
export class EventMemory {
  readonly seen = new Map<string, { readonly name: string; readonly count: number }>();
  readonly correlator: EventCorrelator;
  readonly most: number;
  /** Number of names used in the current microsecond, by object. */
  readonly names = new Map<string, number>();
  namesAt: Micros = -1;

  constructor(most = rememberedEvents) {
    this.most = most;
    this.correlator = new EventCorrelator(most);
  }
}

export class EventRecorder {
  readonly #kernel: Kernel;
  readonly #client: WorldClient;
  readonly #source: { readonly component: string; readonly host?: string };
  readonly #enabled: boolean;
  readonly #memory: EventMemory;

  constructor(options: {
    readonly kernel: Kernel;
    readonly client: WorldClient;
    readonly component: string;
    readonly host?: string;
    readonly enabled?: boolean;
    readonly memory?: EventMemory;
  }) {
    this.#kernel = options.kernel;
    this.#client = options.client;
    this.#source =
      options.host === undefined
        ? { component: options.component }
        : { component: options.component, host: options.host };
    this.#enabled = options.enabled ?? true;
    this.#memory = options.memory ?? new EventMemory();
  }

  record(note: EventNote): void {
    if (!this.#enabled) return;
    const { about } = note;
    // Events about cluster-scoped objects live in `default`.
    const namespace = about.metadata.namespace ?? 'default';
    const at = this.#kernel.now();
    const kind = [note.type ?? 'Normal', note.reason, note.fieldPath ?? ''].join('\n');
    const { uid } = about.metadata;
    const { correlator, seen: known } = this.#memory;
    const told = correlator.correlate({ about: uid, kind, message: note.message }, at);
    if (!correlator.isHeard(uid, at)) return;
    const { key, message } = told;
    const seen = known.get(key);
    if (seen !== undefined) {
      const count = seen.count + 1;
      const body = { message, count, lastTimestamp: kubeTime(at) };
      const name = { namespace, name: seen.name };
      const patched = this.#client.patch(resources.events, name, { type: 'strategic', body });
      if (patched.kind === 'ok') {
        this.#remember(key, { name: seen.name, count });
        return;
      }
    }
    this.#create({ ...note, message }, namespace, key);
  }

  #create(note: EventNote, namespace: string, key: string): void {
    const at = this.#kernel.now();
    const { name: about } = note.about.metadata;
    const memory = this.#memory;
    if (at !== memory.namesAt) memory.names.clear();
    memory.namesAt = at;
    for (let nth = memory.names.get(about) ?? 0; nth < namesPerMicro; nth++) {
      memory.names.set(about, nth + 1);
      const name = `${about}.${nanosInHex(at, nth)}`;
      const event = this.#event(note, name, kubeTime(at));
      const created = this.#client.create(resources.events, namespace, event);
      if (created.kind === 'ok') this.#remember(key, { name, count: 1 });
      if (created.kind === 'ok' || created.status.reason !== 'AlreadyExists') return;
    }
  }

  #event(note: EventNote, name: string, now: string): JsonObject {
    const { about } = note;
    const involved: JsonObject = {
      apiVersion: about.apiVersion,
      kind: about.kind,
      name: about.metadata.name,
      ...defined({ namespace: about.metadata.namespace }),
      // Kubelets set the uid to the node's name; kubectl describe node queries both values.
      uid: about.metadata.uid,
      resourceVersion: about.metadata.resourceVersion,
      ...defined({ fieldPath: note.fieldPath }),
    };
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: about.metadata.namespace ?? 'default' },
      involvedObject: involved,
      reason: note.reason,
      message: note.message,
      source: { ...this.#source },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type: note.type ?? 'Normal',
      eventTime: null,
      reportingComponent: this.#source.component,
      reportingInstance: this.#source.host ?? '',
    };
  }

  #remember(key: string, value: { readonly name: string; readonly count: number }): void {
    rememberIn(this.#memory.seen, key, value, this.#memory.most);
  }
}
