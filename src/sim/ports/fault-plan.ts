// Seeded faults for one life: which calls fail, which answers are lost, how late and how broken the
// watches are. Reports every fault, so that a batch can show that each kind occurred.

import { microsPerMs, microsPerSecond } from '../../../world/kernel/index.ts';
import type { Random } from '../../ports/index.ts';
import type { CallFate, NetworkFaults } from './network.ts';

/**
 * F1 to F6 of the fault list. F3 (a kill) happens after a write, F6 (a pause) just before a call.
 */
export const networkFaultKinds = [
  'F1-stale-watch',
  'F2-broken-watch',
  'F3-crash-after-write',
  'F4-answer-lost',
  'F5-api-error',
  'F5-watch-expired',
  'F5-cloud-error',
  'F6-leader-paused',
] as const;
export type NetworkFaultKind = (typeof networkFaultKinds)[number];

export interface FaultRates {
  /** Probability that a watch frame is late, by up to `staleSeconds`. */
  readonly stale: number;
  readonly staleSeconds: number;
  readonly broken: number;
  readonly crash: number;
  readonly lost: number;
  readonly apiError: number;
  readonly expired: number;
  readonly cloudError: number;
  /**
   * Probability that the process pauses before a write or cloud call that it has decided to make.
   */
  readonly pause: number;
}

export const noRates: FaultRates = {
  stale: 0,
  staleSeconds: 0,
  broken: 0,
  crash: 0,
  lost: 0,
  apiError: 0,
  expired: 0,
  cloudError: 0,
  pause: 0,
};

/** Each life draws its own mix: some kinds often, some never. */
export const drawRates = (random: Random): FaultRates => {
  const some = (most: number): number => (random.next() < 0.4 ? 0 : random.next() * most);
  return {
    stale: some(0.05),
    staleSeconds: 1 + random.next() * 20,
    broken: some(0.06),
    crash: some(0.06),
    lost: some(0.05),
    apiError: some(0.15),
    expired: some(0.5),
    cloudError: some(0.2),
    pause: some(0.15),
  };
};

/**
 * More than three lease durations, so the other replica takes over. Shorter than the minute that
 * the oracles allow a blind process.
 */
const maxPauseSeconds = 55;

const kubeErrors = ['Conflict', 'TooManyRequests', 'ServerError', 'Timeout'] as const;
const cloudErrors = ['Throttled', 'ServerError'] as const;

export class FaultPlan implements NetworkFaults {
  #rates: FaultRates = noRates;
  readonly #random: Random;
  readonly #fired: (kind: NetworkFaultKind) => void;
  readonly #crash: () => void;
  readonly #pause: (seconds: number) => boolean;
  constructor(options: {
    readonly random: Random;
    readonly fired: (kind: NetworkFaultKind) => void;
    /** Kills the process that made the call. */
    readonly crash: () => void;
    /** Pauses the process; pending calls leave afterwards. Returns false if it does not pause. */
    readonly pause: (seconds: number) => boolean;
  }) {
    this.#random = options.random;
    this.#fired = options.fired;
    this.#crash = options.crash;
    this.#pause = options.pause;
  }

  set rates(rates: FaultRates) {
    this.#rates = rates;
  }

  kubeCall(call: { readonly verb: string; readonly resource: string }): CallFate<string> {
    // Leases are renewed every two seconds and would take most of the faults.
    if (call.resource === 'leases') return { kind: 'ok' };
    this.#maybePause(call.verb);
    if (this.#roll(this.#rates.apiError)) {
      this.#fired('F5-api-error');
      const code = kubeErrors[this.#random.below(kubeErrors.length)] ?? 'ServerError';
      // Reads cannot conflict.
      const isRead = call.verb === 'get' || call.verb === 'list' || call.verb === 'watch';
      return { kind: 'refused', code: isRead && code === 'Conflict' ? 'ServerError' : code };
    }
    return this.#maybeLost();
  }

  cloudCall(operation: string): CallFate<string> {
    this.#maybePause(operation);
    if (this.#roll(this.#rates.cloudError)) {
      this.#fired('F5-cloud-error');
      return { kind: 'refused', code: cloudErrors[this.#random.below(2)] ?? 'ServerError' };
    }
    return operation === 'ReceiveMessage' ? { kind: 'ok' } : this.#maybeLost();
  }

  watchFrame(_resource: string): { readonly lagMicros: number; readonly breaks: boolean } {
    const breaks = this.#roll(this.#rates.broken);
    if (breaks) this.#fired('F2-broken-watch');
    if (!this.#roll(this.#rates.stale)) return { lagMicros: 0, breaks };
    this.#fired('F1-stale-watch');
    const lag = this.#random.next() * this.#rates.staleSeconds * microsPerSecond;
    return { lagMicros: Math.max(microsPerMs, lag), breaks };
  }

  watchExpired(_resource: string): boolean {
    const expired = this.#roll(this.#rates.expired);
    if (expired) this.#fired('F5-watch-expired');
    return expired;
  }

  afterWrite(call: { readonly verb: string; readonly resource: string }): void {
    if (call.resource === 'leases') return;
    if (!this.#roll(this.#rates.crash)) return;
    this.#fired('F3-crash-after-write');
    this.#crash();
  }

  /** A pause matters between the leadership check and a write; reads are not delayed. */
  #maybePause(operation: string): void {
    if (/^(?:get|list|watch|Describe|Receive)/.test(operation)) return;
    if (!this.#roll(this.#rates.pause)) return;
    if (this.#pause(this.#random.next() * maxPauseSeconds)) this.#fired('F6-leader-paused');
  }

  #maybeLost(): CallFate<string> {
    if (!this.#roll(this.#rates.lost)) return { kind: 'ok' };
    this.#fired('F4-answer-lost');
    return { kind: 'lost' };
  }

  #roll(chance: number): boolean {
    return chance > 0 && this.#random.next() < chance;
  }
}
