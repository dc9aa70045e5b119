// Leader election on one Lease of a fixed name, like client-go (15 s lease, 10 s to renew, a try
// every 2 s): who leads, since which takeover, and whether that is still certain at this moment.
// Narrows the window in which a paused leader still writes. In a cluster deploy/fence.yaml, a
// ValidatingAdmissionPolicy that reads this Lease, closes it. Calls to the cloud have no fence.
import { durationMs, type EpochMs } from '../api/brand.ts';
import type { JsonObject } from '../api/json.ts';
import { type KubeObject, resourceTypes } from '../api/kube.ts';
import { type Clock, type KubeApi, KubeError, type Log, type Random } from '../ports/index.ts';
import { linkedAbort, sleepOrAbort, withDeadline } from './abort.ts';
import { describeError } from './errors.ts';

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

const leaseDurationMs = 15_000;
const renewDeadlineMs = 10_000;
const retryPeriodMs = 2_000;
const releaseWithinMs = durationMs(3_000);

export interface Term {
  /** Increases with every takeover, even after the Lease was deleted and created again. */
  readonly epoch: number;
}

export interface LeaderElectorOptions {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process. */
  readonly identity: string;
}

/** metav1.MicroTime wants exactly six digits after the point. */
const microTime = (at: EpochMs): string => `${new Date(at).toISOString().slice(0, 23)}000Z`;

/** 2020-01-01T00:00:00Z: seconds since then fit an int32 until 2088. */
const countedFrom = 1_577_836_800_000;

/**
 * The transitions of a new Lease. Records keep the epoch of their last leader and refuse an earlier
 * one, so a recreated Lease must not start at 1 again.
 */
const firstTransitions = (now: EpochMs): number =>
  Math.max(1, Math.floor((now - countedFrom) / 1000));

export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  /** The lease as last read, and when (our clock) it last changed. */
  #observed: { readonly lease: Lease; readonly since: EpochMs } | undefined;
  #held: { readonly epoch: number; readonly renewedAt: EpochMs } | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
  }

  /**
   * Whether this process leads, checked against the clock. A process that was paused past its
   * renewal, or whose clock went back, does not lead even before it notices. Call it just before
   * each effect.
   */
  isLeader(): boolean {
    if (this.#held === undefined) return false;
    const gap = this.#options.clock.now() - this.#held.renewedAt;
    return gap >= 0 && gap < renewDeadlineMs;
  }

  /**
   * Runs `lead` whenever this process holds the lease, with a signal that aborts when it is lost;
   * then tries to acquire it again. Ends when `signal` aborts, or when `lead` ends by itself; then
   * it releases the lease. Rejects with `lead`'s error.
   */
  async run(
    lead: (term: Term, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      if (!(await this.#try(signal))) {
        await this.#pause(signal);
        continue;
      }
      const { log, identity } = this.#options;
      const term: Term = { epoch: this.#held?.epoch ?? 0 };
      log.info('leading', { identity, epoch: term.epoch });
      const link = linkedAbort(signal);
      const renewing = this.#renew(link);
      try {
        await lead(term, link.signal);
        // `lead` ended because the lease was lost: try again. Otherwise the process stops leading
        // for good.
        if (!link.signal.aborted) return;
      } catch (error) {
        if (!link.signal.aborted) throw error;
        if (error !== link.signal.reason) throw error;
      } finally {
        link.abort(new Error('no longer leading'));
        await renewing;
        link.unlink();
        if (this.isLeader()) await this.#release();
        this.#held = undefined;
        log.info('not leading any more', { identity, epoch: term.epoch });
      }
    }
  }

  /** Renews every retry period; aborts `link` when the deadline passes without a renewal. */
  async #renew(link: {
    readonly signal: AbortSignal;
    abort(reason: unknown): void;
  }): Promise<void> {
    for (;;) {
      await this.#pause(link.signal);
      if (link.signal.aborted) return;
      await this.#try(link.signal);
      if (!link.signal.aborted && !this.isLeader()) {
        return link.abort(new Error('the leader lease was lost'));
      }
    }
  }

  #pause(signal: AbortSignal): Promise<boolean> {
    const { clock, random } = this.#options;
    return sleepOrAbort(clock, retryPeriodMs * (1 + random.next() * 0.2), signal);
  }

  /** One attempt to take or renew the lease. Never rejects; false when it is not ours. */
  async #try(signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#options;
    // The lease counts from the time before the request, since its answer may arrive late.
    const sentAt = clock.now();
    const leftMs =
      this.#held === undefined
        ? retryPeriodMs * 2
        : this.#held.renewedAt + renewDeadlineMs - sentAt;
    try {
      const options = { clock, within: durationMs(Math.max(1, leftMs)), signal };
      const lease = await withDeadline(options, (inner) => this.#takeOrRenew(sentAt, inner));
      if (lease === undefined) {
        this.#held = undefined;
        return false;
      }
      this.#held = { epoch: lease.spec?.leaseTransitions ?? 0, renewedAt: sentAt };
      return true;
    } catch (error) {
      if (!signal.aborted) log.warn('leader lease not reached', { error: describeError(error) });
      return false;
    }
  }

  /** The lease if this process holds it after the call, undefined if another one does. */
  async #takeOrRenew(now: EpochMs, signal: AbortSignal): Promise<Lease | undefined> {
    const { kube, namespace, name, identity } = this.#options;
    const found = await kube.get<Lease>(resourceTypes.leases, { namespace, name }, { signal });
    if (found.kind === 'gone') return this.#create(now, signal);
    const lease = found.object;
    if (this.#observed?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) {
      this.#observed = { lease, since: now };
    }
    const holder = lease.spec?.holderIdentity ?? '';
    const lifeMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000;
    const ours = holder === identity;
    if (!ours && holder !== '' && now < this.#observed.since + lifeMs) return undefined;
    const transitions = lease.spec?.leaseTransitions ?? 0;
    const spec: JsonObject = {
      holderIdentity: identity,
      leaseDurationSeconds: leaseDurationMs / 1000,
      renewTime: microTime(now),
      ...(ours ? {} : { acquireTime: microTime(now), leaseTransitions: transitions + 1 }),
    };
    return this.#patch(lease, spec, signal);
  }

  async #create(now: EpochMs, signal: AbortSignal): Promise<Lease | undefined> {
    const { kube, namespace, name, identity } = this.#options;
    const body: JsonObject = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: leaseDurationMs / 1000,
        acquireTime: microTime(now),
        renewTime: microTime(now),
        leaseTransitions: firstTransitions(now),
      },
    };
    try {
      const options = { namespace, signal };
      const lease = await kube.create<Lease>(resourceTypes.leases, body, options);
      this.#observed = { lease, since: now };
      return lease;
    } catch (error) {
      if (error instanceof KubeError && error.code === 'AlreadyExists') return undefined;
      throw error;
    }
  }

  async #patch(lease: Lease, spec: JsonObject, signal: AbortSignal): Promise<Lease | undefined> {
    const { kube, namespace, name } = this.#options;
    const { resourceVersion } = lease.metadata;
    const body: JsonObject = { metadata: { resourceVersion }, spec };
    try {
      const patched = await kube.patch<Lease>(
        resourceTypes.leases,
        { namespace, name },
        { type: 'merge', body },
        { signal },
      );
      if (patched.kind === 'gone') return undefined;
      this.#observed = { lease: patched.object, since: this.#options.clock.now() };
      return patched.object;
    } catch (error) {
      if (error instanceof KubeError && error.code === 'Conflict') return undefined;
      throw error;
    }
  }

  /** Releases the lease, so that the next leader does not have to wait for it to expire. */
  async #release(): Promise<void> {
    const { clock, log } = this.#options;
    const lease = this.#observed?.lease;
    if (lease === undefined) return;
    const spec: JsonObject = { holderIdentity: '', leaseDurationSeconds: 1 };
    const signal = new AbortController().signal;
    try {
      await withDeadline({ clock, within: releaseWithinMs, signal }, (inner) =>
        this.#patch(lease, spec, inner),
      );
    } catch (error) {
      log.warn('leader lease not released', { error: describeError(error) });
    }
  }
}
