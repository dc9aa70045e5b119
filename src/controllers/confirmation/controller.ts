// Asks the cloud about every unconfirmed notice, and repeatedly whether a confirmed one still
// holds: many instances per call. Writes the answer into the cause; drains nothing.
import { durationMs, type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import { isInForce, isPending, isRefuted, needsConfirmation } from '../../api/confirmation.ts';
import {
  type CauseKind,
  causeKinds,
  type DisruptionCause,
  type HookRef,
  type NodeDisruption,
} from '../../api/disruption.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { terminateHookName } from '../../core/nodegroup/index.ts';
import { confirmCause, nextLookAt, phaseOf } from '../../core/termination/index.ts';
import { CloudError, KubeError } from '../../ports/index.ts';
import {
  allSynced,
  DeadlineError,
  describeError,
  type Informer,
  WorkQueue,
  withDeadline,
} from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';
import { replaceCauses } from '../causes.ts';
import { GroupDirectory } from '../group-directory.ts';
import { nodeOfInstance } from '../informers.ts';
import { InstanceFactsReader } from '../instance-facts.ts';
import { journalAnswer, unconfirmedEvent } from './events.ts';

export interface ConfirmationDeps extends BaseDeps {
  readonly disruptions: Informer<NodeDisruption>;
}

export interface ConfirmationController {
  /** Runs until `signal` aborts. Never rejects because of a port's error. */
  run(signal: AbortSignal): Promise<void>;
}

/** Notices come in bursts: the controller asks once for all within this interval. */
const gatherMs = 50;
/** Maximum time between two requests. */
const idleMs = 60_000;
/**
 * A heartbeat call fails after this, in time to repeat it: the shortest heartbeat timeout is 30 s.
 */
const heartbeatWithinMs = durationMs(5_000);
/** A cause that is not confirmed after this time is reported. */
const reportAfterMs = 10_000;
/** Refusals older than this are not reported: an earlier process has reported them. */
const reportWithinMs = 600_000;

export const createConfirmationController = (deps: ConfirmationDeps): ConfirmationController => {
  const confirmation = new Confirmation(deps);
  return { run: (signal) => confirmation.run(signal) };
};

interface Question {
  readonly disruption: NodeDisruption;
  readonly instanceId: string;
  readonly cause: DisruptionCause;
}

/** One key per kind of notice: a slow service delays only its own kind. */
type Look = CauseKind | 'report';

const askedKinds = causeKinds.filter((kind) => needsConfirmation[kind]);

class Confirmation {
  readonly #deps: ConfirmationDeps;
  readonly #facts: InstanceFactsReader;
  readonly #queue: WorkQueue<Look>;
  /** When to ask about a cause next, by `keyOf`. */
  readonly #dueAt = new Map<CauseKind, Map<string, EpochMs>>();
  readonly #reported = new Map<string, Set<string>>();

  constructor(deps: ConfirmationDeps) {
    this.#deps = deps;
    this.#facts = new InstanceFactsReader({ ...deps, directory: new GroupDirectory(deps) });
    const concurrency = askedKinds.length + 1;
    this.#queue = new WorkQueue({ ...deps, name: 'confirmation', concurrency });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, disruptions, nodeGroups, nodes } = this.#deps;
    if (!(await allSynced([nodeGroups, nodes, disruptions], signal))) return;
    const stop = disruptions.onChange(({ kind, object }) => {
      if (kind === 'removed') {
        this.#reported.delete(object.metadata.name);
        return;
      }
      for (const cause of object.spec.causes) {
        const key = isPending(cause) ? cause.kind : isRefuted(cause) ? 'report' : undefined;
        if (key !== undefined) this.#queue.addAfter(key, epochMs(clock.now() + gatherMs));
      }
    });
    for (const kind of askedKinds) this.#queue.add(kind);
    this.#queue.add('report');
    await this.#queue.run(
      (key, inner) => (key === 'report' ? this.#report(inner) : this.#look(key, inner)),
      signal,
    );
    stop();
  }

  async #look(kind: CauseKind, signal: AbortSignal): Promise<{ readonly nextAt: EpochMs }> {
    const { clock } = this.#deps;
    const now = clock.now();
    const due = this.#questions(kind, now);
    const answers = await Promise.all(due.map((each) => this.#ask(each, now, signal)));
    const byDisruption = new Map<
      NodeDisruption,
      { before: DisruptionCause; after: DisruptionCause }[]
    >();
    for (const [i, after] of answers.entries()) {
      const question = due[i];
      if (question === undefined) continue;
      const { disruption, cause: before } = question;
      this.#setDue(disruption, after, clock.now());
      if (after === before) continue;
      const changes = byDisruption.get(disruption) ?? [];
      byDisruption.set(disruption, [...changes, { before, after }]);
    }
    await Promise.all(
      [...byDisruption].map(([disruption, changes]) => this.#write(disruption, changes, signal)),
    );
    if (due.length > 0) this.#queue.add('report');
    return { nextAt: this.#nextAt(kind, clock.now()) };
  }

  async #ask({ instanceId, cause }: Question, now: EpochMs, signal: AbortSignal) {
    const asked = { kind: cause.kind, notBefore: now };
    const facts = await this.#facts.of(instanceId, asked, signal);
    const { hook } = cause;
    const isWaiting =
      facts.failure !== undefined &&
      hook !== undefined &&
      isPending(cause) &&
      (await this.#isWaiting(instanceId, hook, signal));
    const known = isWaiting ? { lifecycleState: 'Terminating:Wait' } : facts;
    return confirmCause(cause, known, this.#deps.clock.now());
  }

  /**
   * For an instance that Auto Scaling does not describe: whether a heartbeat of the terminate hook
   * succeeds. It succeeds only while the instance waits in the hook, and keeps the hook from timing
   * out before the cause is confirmed.
   */
  async #isWaiting(instanceId: string, hook: HookRef, signal: AbortSignal): Promise<boolean> {
    const { cloud, clock } = this.#deps;
    const { autoScalingGroupName, name: hookName } = hook;
    if (hookName !== terminateHookName) return false;
    const call = { autoScalingGroupName, hookName, instanceId };
    const options = { clock, within: heartbeatWithinMs, signal };
    try {
      await withDeadline(options, (inner) => cloud.heartbeatHook(call, { signal: inner }));
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CloudError || error instanceof DeadlineError)) throw error;
      return false;
    }
  }

  /** Causes that are due. Keeps the times of the others, and forgets causes that have ended. */
  #questions(kind: CauseKind, now: EpochMs): readonly Question[] {
    const known = this.#dueAt.get(kind);
    const times = new Map<string, EpochMs>();
    this.#dueAt.set(kind, times);
    return this.#open(kind).filter(({ disruption, cause }) => {
      const key = keyOf(disruption, cause);
      // A cause recorded by an older version has no confirmation, so the cloud was never asked.
      const first = cause.confirmation === undefined ? now : nextLookAt(cause, now);
      const at = known?.get(key) ?? first;
      if (at === undefined) return false;
      times.set(key, at);
      return at <= now;
    });
  }

  /** Causes to ask about. A disruption that ended together with its node is skipped. */
  #open(kind: CauseKind): readonly Question[] {
    const { disruptions, nodes } = this.#deps;
    return disruptions.list().flatMap((disruption): readonly Question[] => {
      const { instanceId, causes } = disruption.spec;
      if (instanceId === undefined) return [];
      const asked = causes.filter(
        (cause) => cause.kind === kind && (isPending(cause) || isInForce(cause)),
      );
      if (asked.length === 0) return [];
      const isOver =
        phaseOf(disruption) === 'Ended' && nodeOfInstance(nodes, instanceId) === undefined;
      return asked
        .filter((cause) => isPending(cause) || !isOver)
        .map((cause) => ({ disruption, instanceId, cause }));
    });
  }

  #setDue(disruption: NodeDisruption, cause: DisruptionCause, now: EpochMs): void {
    const at = nextLookAt(cause, now);
    const times = this.#dueAt.get(cause.kind);
    if (at === undefined) times?.delete(keyOf(disruption, cause));
    else times?.set(keyOf(disruption, cause), at);
  }

  #nextAt(kind: CauseKind, now: EpochMs): EpochMs {
    let next = now + idleMs;
    for (const at of this.#dueAt.get(kind)?.values() ?? []) next = Math.min(next, at);
    return epochMs(Math.max(next, now + gatherMs));
  }

  /** After a write conflict the next pass decides again. */
  async #write(
    disruption: NodeDisruption,
    changes: readonly { readonly before: DisruptionCause; readonly after: DisruptionCause }[],
    signal: AbortSignal,
  ): Promise<void> {
    const { log, journal } = this.#deps;
    const { name } = disruption.metadata;
    const causes = changes.map(({ after }) => after);
    try {
      if (!(await replaceCauses(this.#deps, { disruption, causes }, signal))) return;
      for (const change of changes) journalAnswer(journal, name, change);
    } catch (error) {
      if (signal.aborted || !(error instanceof KubeError)) throw error;
      for (const { before } of changes) this.#setDue(disruption, before, this.#deps.clock.now());
      log.debug('answer of the cloud not written, asking again', { error: describeError(error) });
    }
  }

  /** Writes one event on the node for each cause that has no effect. */
  async #report(signal: AbortSignal): Promise<undefined> {
    const { clock, disruptions, nodes } = this.#deps;
    const now = clock.now();
    for (const disruption of disruptions.list()) {
      const { metadata, spec } = disruption;
      const doubtful = spec.causes.filter((cause) => isReportable(cause, now));
      if (doubtful.length === 0) continue;
      const node = nodeOfInstance(nodes, spec.instanceId ?? '');
      if (node === undefined) continue;
      const reported = this.#reported.get(metadata.name) ?? new Set();
      this.#reported.set(metadata.name, reported);
      for (const cause of doubtful) {
        const key = `${cause.id} ${cause.confirmation?.state}`;
        if (reported.has(key)) continue;
        await this.#tell(metadata.name, { cause, node, now }, signal);
        reported.add(key);
      }
    }
  }

  /** Events are informative: a failed write delays nothing. */
  async #tell(
    name: string,
    told: { readonly cause: DisruptionCause; readonly node: Node; readonly now: EpochMs },
    signal: AbortSignal,
  ): Promise<void> {
    const { kube, log } = this.#deps;
    const event = unconfirmedEvent(name, told);
    try {
      await kube.create(resourceTypes.events, event, { namespace: 'default', signal });
    } catch (error) {
      if (signal.aborted || !(error instanceof KubeError)) throw error;
      if (error.code === 'AlreadyExists') return;
      log.warn('event not written', { error: describeError(error) });
    }
  }
}

const keyOf = ({ metadata }: NodeDisruption, { id }: DisruptionCause): string =>
  `${metadata.name} ${id}`;

const isReportable = (cause: DisruptionCause, now: EpochMs): boolean => {
  const age = now - (parseTime(cause.confirmation?.at ?? cause.receivedAt) ?? now);
  if (cause.cancelledAt !== undefined) return false;
  if (isPending(cause)) return age >= reportAfterMs;
  return isRefuted(cause) && age < reportWithinMs;
};
