// What was sent and is not observed yet: evictions in flight, the budget tokens (allowed
// disruptions) that they hold, failures and their backoff. A plain record without clock or client,
// changed only by external events. After a restart it is empty, and tokens are counted from the
// budgets' status, which is safe.

import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts';
import type { PodRef } from '../../api/plan.ts';
import { fnv1a } from '../fnv.ts';
import { keyOfObject } from './budgets.ts';
import { isTerminating } from './pods.ts';

export interface InFlight {
  readonly drain: string;
  readonly pod: PodRef;
  readonly how: 'evict' | 'delete';
  /** `answered` = done, but not yet in the watch; `lost` = the result is unknown. */
  readonly state: 'sending' | 'answered' | 'lost';
  readonly at: EpochMs;
  /** Budgets of the eviction; it counts towards the in-flight limit of each. */
  readonly sentOn: readonly string[];
  /** Budgets whose token it still holds: their watch has not shown the pod in disruptedPods. */
  readonly budgets: readonly string[];
  /** True until the pod watch shows the pod terminating or gone. */
  readonly unseen: boolean;
  /** Two budgets emulated by a deletion: both statuses must change before the next one. */
  readonly emulated: boolean;
  /** A request to an application that moves its own pod; such requests have their own limit. */
  readonly isSignal: boolean;
}

export interface Failure {
  readonly drain: string;
  readonly pod: PodRef;
  /**
   * The kind of call that failed. An emulated eviction counts as `evict`, although it is sent as a
   * deletion.
   */
  readonly how: 'evict' | 'delete';
  /** Failures of this kind in a row. */
  readonly attempts: number;
  readonly firstAt: EpochMs;
  readonly at: EpochMs;
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number;
  /** The budgets' versions when it was sent; a refusal is retried once they change. */
  readonly budgetVersions: Readonly<Record<string, string>>;
}

/** A budget of which a refused eviction used up a disruption (409 after the budget was updated). */
export interface HeldBudget {
  readonly budget: string;
  readonly until: EpochMs;
}

export interface LedgerView {
  readonly inFlight: ReadonlyMap<string, InFlight>;
  readonly failures: ReadonlyMap<string, Failure>;
  readonly held: ReadonlyMap<string, HeldBudget>;
}

/**
 * A 409 on the uid leaves the pod's name in disruptedPods for two minutes (measured 120.2 s), so
 * that the budget counts one disruption too many.
 */
export const burntTokenMs = 120_000;
/**
 * A successful eviction appears in its budget's status within milliseconds; after this time the
 * status is trusted without it.
 */
const unseenTokenMs = 5_000;
/** An evicted pod that does not terminate within this time is evicted again. */
const unseenPodMs = 30_000;
/** First backoff after a failure, doubled each time up to the cap. */
const firstRetryMs = 1_000;
const maxRetryMs = 30_000;
const retryJitter = 0.2;

/** Deterministic jitter: the same text gives the same value, different pods spread out. */
const spread = (text: string): number => fnv1a(text) / 0x100000000;

/** When a failed eviction is retried even if no change was observed. */
export const retryAt = (failure: Failure): EpochMs => {
  const doubled = firstRetryMs * 2 ** Math.min(failure.attempts - 1, 10);
  const jitter = 1 - retryJitter * spread(`${failure.pod.uid}/${failure.attempts}`);
  const wait = Math.max(Math.min(maxRetryMs, doubled) * jitter, failure.retryAfterMs);
  return epochMs(Math.ceil(failure.at + wait));
};

export interface Sent {
  readonly drain: string;
  readonly pod: PodRef;
  readonly how: 'evict' | 'delete';
  readonly budgets: readonly string[];
  readonly emulated: boolean;
  readonly isSignal?: boolean;
  readonly budgetVersions: Readonly<Record<string, string>>;
}

export interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number;
}

export class Ledger implements LedgerView {
  readonly inFlight = new Map<string, InFlight>();
  readonly failures = new Map<string, Failure>();
  readonly held = new Map<string, HeldBudget>();
  /** Budget -> pod name -> when the API server added it, as last observed. */
  readonly #disrupted = new Map<string, Readonly<Record<string, string>>>();
  /** Pod uid -> budget -> the entry of its name that existed before this eviction was sent. */
  readonly #before = new Map<string, Readonly<Record<string, string | undefined>>>();
  readonly #versions = new Map<string, Readonly<Record<string, string>>>();

  sent(sent: Sent, at: EpochMs): void {
    const { drain, pod, how, budgets, emulated, isSignal = false } = sent;
    const entry: InFlight = {
      drain,
      pod,
      how,
      sentOn: budgets,
      budgets,
      emulated,
      isSignal,
      state: 'sending',
      at,
      unseen: true,
    };
    this.inFlight.set(pod.uid, entry);
    this.#versions.set(pod.uid, sent.budgetVersions);
    this.#before.set(
      pod.uid,
      Object.fromEntries(budgets.map((key) => [key, this.#disrupted.get(key)?.[pod.name]])),
    );
  }

  /** The call succeeded. `gone` = the pod did not exist, so no token was taken. */
  succeeded(uid: string, at: EpochMs, outcome: 'done' | 'gone'): void {
    this.failures.delete(uid);
    const budgets = outcome === 'gone' ? { budgets: [] } : {};
    this.#update(uid, { state: 'answered', at, ...budgets });
  }

  failed(uid: string, at: EpochMs, report: FailureReport): void {
    const entry = this.inFlight.get(uid);
    if (entry === undefined) return;
    const before = this.failures.get(uid);
    const how = entry.emulated ? 'evict' : entry.how;
    this.failures.set(uid, {
      ...report,
      how,
      drain: entry.drain,
      pod: entry.pod,
      at,
      attempts: before?.how === how ? before.attempts + 1 : 1,
      firstAt: before?.firstAt ?? at,
      budgetVersions: this.#versions.get(uid) ?? {},
    });
    if (report.code === 'PreconditionFailed' && entry.how === 'evict') {
      const until = epochMs(at + burntTokenMs);
      for (const budget of entry.sentOn) this.held.set(budget, { budget, until });
    }
    // The result of a lost call is unknown: its token stays taken until the watch shows it.
    if (report.code === 'Unreachable') this.#update(uid, { state: 'lost', at });
    else this.#forget(uid);
  }

  /**
   * A budget's watch event: its status counts the evictions that it shows, so they hold no token
   * here. It names pods without their uid, so an entry that existed before the send belongs to an
   * earlier pod of that name.
   */
  observeBudget(budget: PodDisruptionBudget): void {
    const key = keyOfObject(budget);
    const disrupted = budget.status.disruptedPods ?? {};
    if (Object.keys(disrupted).length === 0) this.#disrupted.delete(key);
    else this.#disrupted.set(key, disrupted);
    for (const [uid, entry] of this.inFlight) {
      if (!entry.budgets.includes(key)) continue;
      const shown = entry.emulated
        ? entry.state !== 'sending' && !entry.unseen
        : Object.hasOwn(disrupted, entry.pod.name) &&
          disrupted[entry.pod.name] !== this.#before.get(uid)?.[key];
      if (shown) this.#update(uid, { budgets: entry.budgets.filter((other) => other !== key) });
    }
  }

  /** A pod's watch event: a terminating or deleted pod needs no further call. */
  observePod(pod: Pod, gone: boolean): void {
    const { uid } = pod.metadata;
    if (gone) this.failures.delete(uid);
    if (gone || isTerminating(pod)) this.#update(uid, { unseen: false });
  }

  /** Drops entries whose time to be observed has passed. */
  settle(now: EpochMs): void {
    for (const [uid, entry] of this.inFlight) {
      if (entry.state === 'sending') continue;
      const age = now - entry.at;
      if (age >= unseenPodMs || (entry.state === 'lost' && age >= unseenTokenMs)) {
        this.#forget(uid);
      } else if (entry.budgets.length > 0 && age >= unseenTokenMs) {
        this.#update(uid, { budgets: [] });
      }
    }
    for (const [budget, { until }] of this.held) if (until <= now) this.held.delete(budget);
  }

  /** Forgets the failures of a drain that has ended; calls in flight keep their tokens. */
  drop(drain: string): void {
    for (const [uid, failure] of this.failures) {
      if (failure.drain === drain) this.failures.delete(uid);
    }
  }

  #update(uid: string, change: Partial<InFlight>): void {
    const entry = this.inFlight.get(uid);
    if (entry === undefined) return;
    const next = { ...entry, ...change };
    const settled = next.state !== 'sending' && !next.unseen && next.budgets.length === 0;
    if (settled) this.#forget(uid);
    else this.inFlight.set(uid, next);
  }

  #forget(uid: string): void {
    this.inFlight.delete(uid);
    this.#versions.delete(uid);
    this.#before.delete(uid);
  }
}

/** When `settle` next has something to drop. */
export const settlesAt = (view: LedgerView): EpochMs | undefined => {
  let next = Number.POSITIVE_INFINITY;
  for (const entry of view.inFlight.values()) {
    if (entry.state === 'sending') continue;
    const quick = entry.budgets.length > 0 || entry.state === 'lost';
    next = Math.min(next, entry.at + (quick ? unseenTokenMs : unseenPodMs));
  }
  return Number.isFinite(next) ? epochMs(next) : undefined;
};
