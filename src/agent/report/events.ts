// Writes Events about the Node in the words of EKS' agent: the condition's type as reason, the
// finding as message. Recurring findings raise the count of one Event; each reason has a budget, so
// that no log floods the cluster.
import { type EpochMs, epochMs, formatKubeTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import { type KubeApi, KubeError, type Log, type Random } from '../../ports/index.ts';
import { Backoff, describeError } from '../../runtime/index.ts';
import type { Notice } from '../engine/index.ts';

/** Rate limit per reason: a burst of this many, then one per interval. */
const burst = 10;
const perReasonMs = 600_000;
/** Minimum time between two writes of a recurring Event. */
const repeatMs = 600_000;
/** The API server keeps Events for an hour: afterwards a new one is created. */
const lifeMs = 3_600_000;
const maxKnown = 256;
const namespace = 'default';

interface Known {
  /** Undefined until it is written. */
  readonly name: string | undefined;
  readonly notice: Notice;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly count: number;
  readonly sentCount: number;
  readonly sentAt: EpochMs;
}

interface Budget {
  readonly tokens: number;
  readonly at: EpochMs;
}

export interface EventTarget {
  readonly node: string;
  readonly uid: string;
  /** Component of the reporter: `drover-agent`. */
  readonly component: string;
}

export class EventReporter {
  readonly #kube: Pick<KubeApi, 'create' | 'patch'>;
  readonly #random: Random;
  readonly #log: Log;
  readonly #backoff: Backoff;
  readonly #known = new Map<string, Known>();
  readonly #budgets = new Map<string, Budget>();
  #notBefore: EpochMs = epochMs(0);
  #dropped = 0;

  constructor(options: {
    readonly kube: Pick<KubeApi, 'create' | 'patch'>;
    readonly random: Random;
    readonly log: Log;
  }) {
    this.#kube = options.kube;
    this.#random = options.random;
    this.#log = options.log;
    this.#backoff = new Backoff(options.random, { baseMs: 1_000, capMs: 300_000 });
  }

  /** Never waits: the next pass writes the Event. */
  tell(notice: Notice, now: EpochMs): void {
    const key = `${notice.type} ${notice.condition} ${notice.reason} ${notice.message}`;
    const before = this.#known.get(key);
    if (before !== undefined && now - before.firstAt < lifeMs) {
      this.#known.set(key, { ...before, lastAt: now, count: before.count + 1 });
      return;
    }
    if (!this.#spend(notice.reason, now)) {
      this.#dropped += 1;
      return;
    }
    this.#known.delete(key);
    this.#known.set(key, {
      name: undefined,
      notice,
      firstAt: notice.at,
      lastAt: now,
      count: 1,
      sentCount: 0,
      sentAt: epochMs(0),
    });
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Number of Events over their reason's budget that were never written, since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  async pass(target: EventTarget, now: EpochMs, signal: AbortSignal): Promise<void> {
    if (now < this.#notBefore) return;
    for (const [key, known] of this.#known) {
      const isNew = known.name === undefined;
      if (!isNew && (known.sentCount === known.count || now - known.sentAt < repeatMs)) {
        if (now - known.lastAt >= lifeMs) this.#known.delete(key);
        continue;
      }
      try {
        const name = await this.#write(known, target, signal);
        const after = this.#known.get(key) ?? known;
        const sent = { ...after, name, sentCount: known.count, sentAt: now };
        this.#known.set(key, sent);
        this.#backoff.reset();
      } catch (error) {
        if (signal.aborted || !(error instanceof KubeError)) throw error;
        const wait = this.#backoff.next();
        this.#notBefore = epochMs(now + wait);
        this.#log.warn('an Event is not written', { error: describeError(error), waitMs: wait });
        return;
      }
    }
  }

  /** The Event's name; a new one when the old Event has expired. */
  async #write(known: Known, target: EventTarget, signal: AbortSignal): Promise<string> {
    if (known.name !== undefined) {
      const body = { count: known.count, lastTimestamp: formatKubeTime(known.lastAt) };
      const name = { namespace, name: known.name };
      const patch = { type: 'merge', body } as const;
      const found = await this.#kube.patch(resourceTypes.events, name, patch, { signal });
      if (found.kind === 'found') return known.name;
    }
    const name = `${target.node}.${this.#suffix()}`;
    const event = this.#event(name, known, target);
    await this.#kube.create(resourceTypes.events, event, { namespace, signal });
    return name;
  }

  #event(name: string, known: Known, { node, uid, component }: EventTarget): JsonObject {
    const { condition, reason, message, type } = known.notice;
    return {
      metadata: { name, namespace },
      involvedObject: { apiVersion: 'v1', kind: 'Node', name: node, uid },
      type,
      reason: condition,
      message: type === 'Warning' ? `${reason}: ${message}` : message,
      source: { component, host: node },
      reportingComponent: component,
      reportingInstance: node,
      firstTimestamp: formatKubeTime(known.firstAt),
      lastTimestamp: formatKubeTime(known.lastAt),
      count: known.count,
    };
  }

  #suffix(): string {
    const part = (): string => this.#random.below(0x100_0000).toString(16).padStart(6, '0');
    return `${part()}${part()}`;
  }

  #spend(reason: string, now: EpochMs): boolean {
    const before = this.#budgets.get(reason) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, before.tokens + (now - before.at) / perReasonMs);
    this.#budgets.set(reason, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
    return tokens >= 1;
  }
}
