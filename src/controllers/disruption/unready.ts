// Looks up why a budget's pods are not Ready, once a drain has waited for them for a while: lists
// the budget's pods, the events of one of them, and its instance. Runs in the background: nothing
// waits for it or fails because of it.
import { type EpochMs, epochMs, instanceIdOfProviderId } from '../../api/brand.ts';
import type { UnreadyPod, WaitingOn } from '../../api/disruption.ts';
import { type Pod, type PodDisruptionBudget, resourceTypes } from '../../api/kube.ts';
import {
  type BudgetIndex,
  isAwaited,
  type PodEvent,
  selectorText,
  unreadyOf,
  waitsForReady,
} from '../../core/drain/index.ts';
import { describeError } from '../../runtime/index.ts';
import type { DisruptionDeps } from './deps.ts';

/** A replacement usually starts within seconds; shorter waits are not examined. */
const firstLookMs = 10_000;
const lookAgainMs = 60_000;
/** Maximum number of budgets examined per minute; the others wait for their turn. */
const maxBudgets = 20;

interface Blocked {
  readonly since: EpochMs;
  lookedAt?: EpochMs;
  found?: UnreadyPod;
}

const trim = ({ apiVersion, kind, metadata, spec, status }: Pod): Pod => ({
  apiVersion,
  kind,
  metadata,
  spec: spec.nodeName === undefined ? {} : { nodeName: spec.nodeName },
  status,
});

export class UnreadyPods {
  readonly #deps: DisruptionDeps;
  readonly #budgets: BudgetIndex;
  /** Called when a lookup has a result. */
  readonly #again: () => void;
  readonly #blocked = new Map<string, Blocked>();
  readonly #looking = new Set<Promise<void>>();

  constructor(deps: DisruptionDeps, budgets: BudgetIndex, again: () => void) {
    this.#deps = deps;
    this.#budgets = budgets;
    this.#again = again;
  }

  /** The same blockers with the known reasons added; `nextAt`: when to read again. */
  explain(
    all: ReadonlyMap<string, readonly WaitingOn[]>,
    signal: AbortSignal,
  ): {
    readonly blockers: ReadonlyMap<string, readonly WaitingOn[]>;
    readonly nextAt?: EpochMs;
  } {
    const now = this.#deps.clock.now();
    const awaited = new Set(
      [...all.values()].flat().flatMap((one) => (waitsForReady(one) ? one.budgets : [])),
    );
    for (const key of this.#blocked.keys()) if (!awaited.has(key)) this.#blocked.delete(key);
    const due = [...awaited].slice(0, maxBudgets).map((key) => this.#look(key, now, signal));
    const blockers = new Map(
      [...all].map(([id, some]) => [id, some.map((one) => this.#with(one))]),
    );
    return due.length === 0 ? { blockers } : { blockers, nextAt: epochMs(Math.min(...due)) };
  }

  async settled(): Promise<void> {
    await Promise.all(this.#looking);
  }

  #with(waiting: WaitingOn): WaitingOn {
    if (!waitsForReady(waiting)) return waiting;
    const unready = waiting.budgets.map((key) => this.#blocked.get(key)?.found).find(Boolean);
    return unready === undefined ? waiting : { ...waiting, unready };
  }

  /** When the next lookup is due. */
  #look(key: string, now: EpochMs, signal: AbortSignal): EpochMs {
    const known = this.#blocked.get(key);
    const blocked = known ?? { since: now };
    if (known === undefined) this.#blocked.set(key, blocked);
    const { since, lookedAt } = blocked;
    const dueAt = lookedAt === undefined ? since + firstLookMs : lookedAt + lookAgainMs;
    const budget = this.#budgets.get(key);
    if (now < dueAt) return epochMs(dueAt);
    if (budget === undefined) return epochMs(now + firstLookMs);
    blocked.lookedAt = now;
    const looking = this.#find(budget, signal)
      .then(
        (found) => {
          if (found === undefined) delete blocked.found;
          else blocked.found = found;
          if (!signal.aborted) this.#again();
        },
        (error: unknown) => {
          const { log } = this.#deps;
          if (!signal.aborted) log.debug('unready pods not read', { error: describeError(error) });
        },
      )
      .finally(() => this.#looking.delete(looking));
    this.#looking.add(looking);
    return epochMs(now + lookAgainMs);
  }

  async #find(
    { metadata, spec }: PodDisruptionBudget,
    signal: AbortSignal,
  ): Promise<UnreadyPod | undefined> {
    const { kube } = this.#deps;
    const { namespace = '' } = metadata;
    if (spec.selector === undefined) return undefined;
    const labelSelector = selectorText(spec.selector);
    const asked = { namespace, trim, signal, ...(labelSelector === '' ? {} : { labelSelector }) };
    const { items } = await kube.list<Pod>(resourceTypes.pods, asked);
    const awaited = items.filter(isAwaited).toSorted((a, b) => this.#order(a, b));
    const [pod] = awaited;
    if (pod === undefined) return undefined;
    const subnet = await this.#subnetOf(pod.spec.nodeName, signal);
    const events = await this.#eventsOf(pod, signal);
    return unreadyOf({ pod, events, subnet, others: awaited.length - 1 });
  }

  #order(a: Pod, b: Pod): number {
    return (
      a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp) ||
      a.metadata.name.localeCompare(b.metadata.name)
    );
  }

  /** Without permission to read events, the pod's own status has to suffice. */
  async #eventsOf({ metadata }: Pod, signal: AbortSignal): Promise<readonly PodEvent[]> {
    const { namespace = '', uid } = metadata;
    const fieldSelector = `involvedObject.uid=${uid}`;
    try {
      const asked = { namespace, fieldSelector, signal };
      return (await this.#deps.kube.list<PodEvent>(resourceTypes.events, asked)).items;
    } catch (error) {
      if (signal.aborted) throw error;
      return [];
    }
  }

  async #subnetOf(node: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { cloud, nodes } = this.#deps;
    const found = node === undefined ? undefined : nodes.get(node);
    const id = instanceIdOfProviderId(found?.spec.providerID);
    if (cloud === undefined || id === undefined) return undefined;
    try {
      const [instance] = await cloud.describeInstances([id], { signal });
      return instance?.network?.subnetId;
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  }
}
