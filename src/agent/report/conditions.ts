// Writes the agent's conditions to the Node: only its own types, by a strategic merge patch, which
// keeps every other condition. Immediately when a condition turns False, batched otherwise, and
// periodically as a heartbeat.
import {
  type DurationMs,
  durationMs,
  type EpochMs,
  epochMs,
  formatKubeTime,
} from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import { type KubeApi, KubeError, type Log, type Random } from '../../ports/index.ts';
import { Backoff, describeError } from '../../runtime/index.ts';
import type { ConditionState } from '../engine/index.ts';
import type { ConditionType } from '../rules/rule.ts';

/** Changes within this time are sent in one patch. */
const coalesceMs = 10_000;
const heartbeatMs = 300_000;
/** Jitter of the heartbeat as a share, so that nodes do not write together. */
const jitter = 0.1;
const backoff = { baseMs: 1_000, capMs: 300_000 } as const;

type Conditions = ReadonlyMap<ConditionType, ConditionState>;

const isSame = (a: ConditionState | undefined, b: ConditionState): boolean =>
  a?.status === b.status && a.reason === b.reason && a.message === b.message && a.since === b.since;

export class ConditionReporter {
  readonly #kube: Pick<KubeApi, 'patch'>;
  readonly #node: string;
  readonly #random: Random;
  readonly #log: Log;
  readonly #backoff: Backoff;
  #sent: Conditions = new Map();
  #dirtyAt: EpochMs | undefined;
  #heartbeatAt: EpochMs = epochMs(0);
  #notBefore: EpochMs = epochMs(0);

  constructor(options: {
    readonly kube: Pick<KubeApi, 'patch'>;
    readonly node: string;
    readonly random: Random;
    readonly log: Log;
  }) {
    this.#kube = options.kube;
    this.#node = options.node;
    this.#random = options.random;
    this.#log = options.log;
    this.#backoff = new Backoff(options.random, backoff);
  }

  /** Sends what is due. `gone`: the Node does not exist. */
  async pass(
    conditions: Conditions,
    now: EpochMs,
    signal: AbortSignal,
  ): Promise<'idle' | 'sent' | 'failed' | 'gone'> {
    if (conditions.size === 0) return 'idle';
    const changed = [...conditions.values()].filter(
      (one) => !isSame(this.#sent.get(one.type), one),
    );
    if (changed.length > 0) this.#dirtyAt ??= now;
    if (now < this.#notBefore || !this.#isDue(changed, now)) return 'idle';
    try {
      const body = { status: { conditions: this.#list(conditions, now) } };
      const patch = { type: 'strategic', subresource: 'status', body } as const;
      const name = { name: this.#node };
      const found = await this.#kube.patch(resourceTypes.nodes, name, patch, { signal });
      if (found.kind === 'gone') return this.#failed('gone', 'the Node does not exist', now);
      this.#sent = conditions;
      this.#dirtyAt = undefined;
      this.#backoff.reset();
      this.#heartbeatAt = epochMs(now + this.#nextHeartbeat());
      return 'sent';
    } catch (error) {
      if (signal.aborted || !(error instanceof KubeError)) throw error;
      return this.#failed('failed', describeError(error), now);
    }
  }

  #isDue(changed: readonly ConditionState[], now: EpochMs): boolean {
    if (now >= this.#heartbeatAt) return true;
    // A new fault is sent at once; additions to it are batched.
    const isNewFault = ({ type, status }: ConditionState): boolean =>
      status === 'False' && this.#sent.get(type)?.status !== 'False';
    if (changed.some(isNewFault)) return true;
    return this.#dirtyAt !== undefined && now - this.#dirtyAt >= coalesceMs;
  }

  #list(conditions: Conditions, now: EpochMs): readonly JsonObject[] {
    return [...conditions.values()].map(({ type, status, reason, message, since }) => ({
      type,
      status,
      reason,
      message,
      lastTransitionTime: formatKubeTime(since),
      lastHeartbeatTime: formatKubeTime(now),
    }));
  }

  #nextHeartbeat(): DurationMs {
    return durationMs(heartbeatMs * (1 - jitter + 2 * jitter * this.#random.next()));
  }

  #failed(outcome: 'failed' | 'gone', error: string, now: EpochMs): 'failed' | 'gone' {
    const wait = this.#backoff.next();
    this.#notBefore = epochMs(now + wait);
    this.#log.warn('conditions are not written, trying again', { error, waitMs: wait });
    return outcome;
  }
}
