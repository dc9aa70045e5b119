// What the cloud reports about instances, for the confirmation of notices: many instances per call.
// Decides nothing.

import { durationMs } from '../api/brand.ts';
import type { CloudInstance } from '../api/cloud.ts';
import { type InstanceFacts, type ScheduledFact, unknownToCloud } from '../api/confirmation.ts';
import { defined } from '../api/defined.ts';
import type { CauseKind } from '../api/disruption.ts';
import { isTerminating } from '../core/termination/index.ts';
import { type Clock, type CloudApi, CloudError } from '../ports/index.ts';
import { DeadlineError, describeError, withDeadline } from '../runtime/index.ts';
import type { GroupDirectory } from './group-directory.ts';

/** The facts that a kind of cause requires. */
export const factsNeeded: Readonly<
  Record<CauseKind, readonly ('group' | 'instance' | 'events')[]>
> = {
  LifecycleHook: ['group'],
  SpotInterruption: ['instance'],
  RebalanceRecommendation: ['instance'],
  Maintenance: ['events', 'instance'],
  StateChange: ['instance'],
  ScaleIn: [],
  Update: [],
  Repair: [],
  Manual: [],
};

/** How long EC2's list of scheduled events is reused for a burst of messages about one event. */
const eventsKeptMs = 2_000;
/** If the answer takes longer, the cause is recorded without it and the cloud is asked again. */
const answerWithinMs = durationMs(10_000);

type Found = ReadonlyMap<string, CloudInstance>;
type Events = ReadonlyMap<string, readonly ScheduledFact[]>;

/** One call for all callers that arrive while the previous call is in flight. */
class Instances {
  readonly #cloud: CloudApi;
  #waiting = new Set<string>();
  #next: Promise<Found> | undefined;
  #current: Promise<unknown> = Promise.resolve();

  constructor(cloud: CloudApi) {
    this.#cloud = cloud;
  }

  async of(instanceId: string, signal: AbortSignal): Promise<CloudInstance | undefined> {
    this.#waiting.add(instanceId);
    this.#next ??= this.#current.then(() => this.#ask(signal));
    return (await this.#next).get(instanceId);
  }

  async #ask(signal: AbortSignal): Promise<Found> {
    const ids = [...this.#waiting];
    this.#waiting = new Set();
    this.#next = undefined;
    const asking = this.#cloud.describeInstances(ids, { signal });
    // Only the callers of this call get its failure; the next call is made regardless.
    this.#current = asking.catch(() => undefined);
    return new Map((await asking).map((instance) => [instance.instanceId, instance]));
  }
}

export class InstanceFactsReader {
  readonly #cloud: CloudApi;
  readonly #clock: Clock;
  readonly #directory: GroupDirectory;
  readonly #instances: Instances;
  #events: { readonly askedAt: number; readonly answer: Promise<Events> } | undefined;

  constructor(deps: {
    readonly cloud: CloudApi;
    readonly clock: Clock;
    readonly directory: GroupDirectory;
  }) {
    this.#cloud = deps.cloud;
    this.#clock = deps.clock;
    this.#directory = deps.directory;
    this.#instances = new Instances(deps.cloud);
  }

  /**
   * The facts that confirm a cause of this kind, as of `notBefore` (epoch ms) or later. Facts that
   * the cloud does not return within 10 s are absent, and `failure` says why. Never throws because
   * of the cloud.
   */
  async of(
    instanceId: string,
    what: { readonly kind: CauseKind; readonly notBefore: number },
    signal: AbortSignal,
  ): Promise<InstanceFacts> {
    const needed = factsNeeded[what.kind];
    const asked = needed.map((need) => {
      if (need === 'group') return this.#group(instanceId, what.notBefore, signal);
      return need === 'instance'
        ? this.#instance(instanceId, signal)
        : this.#scheduled(instanceId, what.notBefore, signal);
    });
    const options = { clock: this.#clock, within: answerWithinMs, signal };
    const facts = await Promise.all(
      asked.map((each) =>
        orFailure(
          withDeadline(options, () => each),
          signal,
        ),
      ),
    );
    return Object.assign({}, ...facts) as InstanceFacts;
  }

  async #group(id: string, notBefore: number, signal: AbortSignal): Promise<InstanceFacts> {
    const state = await this.#directory.stateOf(id, { notBefore, suffices: isTerminating }, signal);
    return { lifecycleState: state ?? unknownToCloud };
  }

  async #instance(id: string, signal: AbortSignal): Promise<InstanceFacts> {
    const found = await this.#instances.of(id, signal);
    if (found === undefined) return { state: unknownToCloud };
    const { state, isSpot } = found;
    return {
      state,
      ...(isSpot === undefined ? {} : { market: isSpot ? 'spot' : 'on-demand' }),
    };
  }

  async #scheduled(id: string, notBefore: number, signal: AbortSignal): Promise<InstanceFacts> {
    const known = this.#events;
    const isNew =
      known !== undefined &&
      (known.askedAt >= notBefore || this.#clock.now() - known.askedAt < eventsKeptMs);
    const answer = isNew ? known.answer : this.#askForEvents(signal);
    return { scheduled: (await answer).get(id) ?? [] };
  }

  #askForEvents(signal: AbortSignal): Promise<Events> {
    const answer = this.#cloud.describeScheduledEvents({ signal }).then((events) => {
      const byInstance = new Map<string, ScheduledFact[]>();
      for (const { instanceId, code, notBefore, isOver } of events) {
        const fact = { code, isOver, ...defined({ notBefore }) };
        const others = byInstance.get(instanceId);
        if (others === undefined) byInstance.set(instanceId, [fact]);
        else others.push(fact);
      }
      return byInstance;
    });
    const entry = { askedAt: this.#clock.now(), answer };
    this.#events = entry;
    answer.catch(() => {
      if (this.#events === entry) this.#events = undefined;
    });
    return answer;
  }
}

const orFailure = async (
  asked: Promise<InstanceFacts>,
  signal: AbortSignal,
): Promise<InstanceFacts> => {
  try {
    return await asked;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CloudError || error instanceof DeadlineError)) throw error;
    return { failure: describeError(error) };
  }
};
