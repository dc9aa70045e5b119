// Reads the queue and turns messages into causes on NodeDisruptions. A message is deleted only when
// its content is persisted or irrelevant; until then its visibility timeout is extended. Drains no
// node and completes no hook.

import { durationMs, type InstanceId } from '../../api/brand.ts';
import type { LifecycleHook, QueueMessage } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { CauseKind, NodeDisruption } from '../../api/disruption.ts';
import type { HookNotice, Notice } from '../../api/notice.ts';
import {
  decideMessage,
  keptAsFull,
  type MessageDecision,
  type MessageFacts,
  noticesIn,
  type OwnsHook,
  ownHooks,
} from '../../core/termination/index.ts';
import { parseNotice } from '../../formats/index.ts';
import { CloudError } from '../../ports/index.ts';
import {
  allSynced,
  Backoff,
  DeadlineError,
  describeError,
  type Informer,
  linkedAbort,
  NotLeader,
  retry,
  sleepOrAbort,
  withDeadline,
} from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';
import { recordCause, withdrawCause } from '../causes.ts';
import { GroupDirectory } from '../group-directory.ts';
import { groupsNaming, nodeOfInstance } from '../informers.ts';
import { InstanceFactsReader } from '../instance-facts.ts';
import { journalDecision, outcomeOf } from './events.ts';

export interface IntakeDeps extends BaseDeps {
  readonly queueUrl: string;
  readonly disruptions: Informer<NodeDisruption>;
  /** Which hooks Drover completes; default: the two that EKS creates. */
  readonly ownsHook?: OwnsHook;
}

export interface IntakeController {
  /** Polls until `signal` aborts; messages in progress are finished or left to reappear. */
  run(signal: AbortSignal): Promise<void>;
  /** Messages by outcome since the start. */
  stats(): Readonly<Record<string, number>>;
}

/** Two long polls at a time: one waits while the other's messages are processed. */
const pollers = 2;
/** An answer holds at most ten messages: while answers are full, more readers help. */
const maxPollers = 10;
const fullAnswer = 10;
const longPollSeconds = 20;
/**
 * Short, so that a message of a crashed reader becomes visible soon; extended while the reader
 * runs.
 */
const visibilitySeconds = 60;
const extendEveryMs = (visibilitySeconds * 1000) / 3;
/** About 20 minutes of backoff; after a longer outage of the API server the queue redelivers. */
const tries = 48;
/**
 * With this many messages in progress it requests no more, so that the others stay visible to
 * another reader.
 */
const maxInHand = 200;
/** Minimum interval for a queue that answers an empty long poll at once. */
const emptyPollMs = 1_000;

/** After this time an undescribed hook is assumed to have the shortest timeouts of Auto Scaling. */
const hookTimesWithinMs = 10_000;

/** How often the cloud's clock is compared with ours. */
const measureEveryMs = 60_000;
/** A notice is recorded without the cloud's time if the answer takes longer. */
const answerWithinMs = durationMs(5_000);
/**
 * A Date header has whole seconds, and an answer takes time to arrive: a smaller difference counts
 * as none.
 */
const clocksAgreeMs = 2_000;

export const createIntakeController = (deps: IntakeDeps): IntakeController => {
  const intake = new Intake(deps);
  return { run: (signal) => intake.run(signal), stats: () => Object.fromEntries(intake.counts) };
};

class Intake {
  readonly counts = new Map<string, number>();
  readonly #deps: IntakeDeps;
  readonly #directory: GroupDirectory;
  readonly #instances: InstanceFactsReader;
  readonly #ownsHook: OwnsHook;
  /** How far the cloud's clock is ahead of ours. */
  #ahead: { readonly at: number; readonly ms: Promise<number> } | undefined;
  /** Readers beside the two permanent ones. */
  readonly #helping = new Set<Promise<void>>();
  /** Messages in progress. */
  readonly #inHand = new Set<Promise<void>>();

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.#directory = new GroupDirectory(deps);
    this.#instances = new InstanceFactsReader({ ...deps, directory: this.#directory });
    this.#ownsHook = deps.ownsHook ?? ownHooks();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodeGroups, nodes, disruptions } = this.#deps;
    if (!(await allSynced([nodeGroups, nodes, disruptions], signal))) return;
    const polling = Array.from({ length: pollers }, () => this.#poll(signal));
    await Promise.all(polling);
    await Promise.all(this.#helping);
    await Promise.all(this.#inHand);
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps;
    const backoff = new Backoff(random);
    while (!signal.aborted) {
      const since = clock.now();
      try {
        const messages = await this.#receive(longPollSeconds, signal);
        backoff.reset();
        if (messages.length >= fullAnswer) this.#getHelp(signal);
        const quick = messages.length === 0 && clock.now() - since < emptyPollMs;
        if (quick) await sleepOrAbort(clock, emptyPollMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof NotLeader) {
          await sleepOrAbort(clock, emptyPollMs, signal);
          continue;
        }
        log.warn('queue not read, trying again', { error: describeError(error) });
        await sleepOrAbort(clock, backoff.next(), signal);
      }
    }
  }

  /** Receives up to ten messages and starts to process each. Throws CloudError. */
  async #receive(waitSeconds: number, signal: AbortSignal): Promise<readonly QueueMessage[]> {
    const { cloud, queueUrl } = this.#deps;
    while (this.#inHand.size >= maxInHand) await Promise.race(this.#inHand);
    const options = { waitSeconds, visibilitySeconds, signal };
    const messages = await cloud.receiveMessages(queueUrl, options);
    // Not awaited: a message that keeps failing must not block the reading of others.
    for (const message of messages) this.#take(message, signal);
    return messages;
  }

  #getHelp(signal: AbortSignal): void {
    if (this.#helping.size + pollers >= maxPollers) return;
    const helping = this.#help(signal).finally(() => this.#helping.delete(helping));
    this.#helping.add(helping);
  }

  /** Reads while answers are full. The permanent readers report failures. */
  async #help(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    try {
      while (!signal.aborted) {
        const messages = await this.#receive(0, signal);
        if (messages.length < fullAnswer) return;
        this.#getHelp(signal);
      }
    } catch (error) {
      if (!signal.aborted) log.debug('queue not read', { error: describeError(error) });
    }
  }

  #take(message: QueueMessage, signal: AbortSignal): void {
    const handling = this.#handle(message, signal).finally(() => this.#inHand.delete(handling));
    this.#inHand.add(handling);
  }

  /** Processes one message, kept in flight until its effect is persisted. Never rejects. */
  async #handle(message: QueueMessage, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps;
    const receivedAt = clock.now();
    const link = linkedAbort(signal);
    const extending = this.#keepInFlight(message, link.signal);
    try {
      const options = { clock, random, signal, tries };
      const decisions = await retry(options, () => this.#once(message, receivedAt, signal));
      for (const decision of decisions) this.#report(message, decision);
      if (decisions.some(({ kind }) => kind === 'keep')) return;
      await retry(options, () => this.#delete(message, signal));
    } catch (error) {
      // The message becomes visible again by itself, and the leader reads it.
      if (signal.aborted || error instanceof NotLeader) return;
      this.#count('failed');
      // It becomes visible again by itself, and polling finds its instance meanwhile.
      log.error('message left in the queue', { message: message.id, error: describeError(error) });
    } finally {
      link.abort();
      link.unlink();
      await extending;
    }
  }

  async #once(
    message: QueueMessage,
    receivedAt: number,
    signal: AbortSignal,
  ): Promise<readonly MessageDecision[]> {
    const decisions: MessageDecision[] = [];
    for (const notice of noticesIn(parseNotice(message.body))) {
      const facts = await this.#observe(notice, { message, receivedAt }, signal);
      const decision = decideMessage(notice, facts);
      decisions.push(await this.#carryOut(decision, signal));
    }
    return decisions;
  }

  /** Persists the decision and returns the outcome. Throws KubeError. */
  async #carryOut(decision: MessageDecision, signal: AbortSignal): Promise<MessageDecision> {
    if (decision.kind === 'withdraw') {
      const { subject, cause } = decision;
      await recordCause(this.#deps, decision, signal);
      await withdrawCause(this.#deps, { name: subject.name, causeId: cause.id }, signal);
      return decision;
    }
    if (decision.kind !== 'record') return decision;
    const written = await recordCause(this.#deps, decision, signal);
    return written === 'refused' ? keptAsFull(decision) : decision;
  }

  /** Collects the input of the decision. Throws CloudError. */
  async #observe(
    notice: Notice,
    received: { readonly message: QueueMessage; readonly receivedAt: number },
    signal: AbortSignal,
  ): Promise<MessageFacts> {
    const { clock, nodeGroups, nodes } = this.#deps;
    const { message, receivedAt } = received;
    const plain: MessageFacts = {
      now: clock.now(),
      receiveCount: message.receiveCount,
      ...defined({ sentAt: message.sentAt }),
      instance: {},
      cloudAheadMs: 0,
      group: undefined,
      member: false,
      ownsHook: false,
      hookTimes: undefined,
      nodeName: undefined,
    };
    const claim = claimOf(notice);
    const instanceId = claim?.instanceId;
    if (claim === undefined || instanceId === undefined) return plain;
    const named = notice.kind === 'terminate' ? notice.autoScalingGroupName : undefined;
    if (named !== undefined && groupsNaming(nodeGroups, named).length === 0) {
      return plain;
    }
    const found = await this.#directory.groupOfInstance(instanceId, receivedAt, signal);
    const name = named ?? found;
    const group = name === undefined ? undefined : this.#directory.holderOf(name);
    const nodeName = nodeOfInstance(nodes, instanceId)?.metadata.name;
    const asked = { kind: claim.kind, notBefore: receivedAt };
    const isOurs = group !== undefined && found === name;
    const instance = isOurs ? await this.#instances.of(instanceId, asked, signal) : {};
    const cloudAheadMs = isOurs ? await this.#cloudAhead(signal) : 0;
    const owner = name === undefined ? undefined : this.#directory.ownerOf(name);
    const facts: MessageFacts = {
      ...plain,
      now: clock.now(),
      ...defined({ owner }),
      cloudAheadMs,
      instance,
      group,
      member: found === name,
      nodeName,
    };
    if (notice.kind !== 'terminate' || !this.#ownsHook(notice.hookName, group)) return facts;
    const hookTimes = await this.#hookTimes(notice, receivedAt, signal);
    return { ...facts, ownsHook: true, hookTimes };
  }

  /**
   * Undefined if Auto Scaling has not answered for a while, because a drain must not wait for it.
   */
  async #hookTimes(
    { autoScalingGroupName, hookName }: HookNotice,
    receivedAt: number,
    signal: AbortSignal,
  ): Promise<LifecycleHook | undefined> {
    try {
      const hooks = await this.#directory.hooks(autoScalingGroupName, signal, hookName);
      return hooks.find((hook) => hook.name === hookName);
    } catch (error) {
      const isLate = this.#deps.clock.now() - receivedAt >= hookTimesWithinMs;
      if (!isLate || !(error instanceof CloudError)) throw error;
      return undefined;
    }
  }

  #report(message: QueueMessage, decision: MessageDecision): void {
    const { clock, journal, log } = this.#deps;
    this.#count(outcomeOf(decision));
    const { id: messageId, sentAt } = message;
    const lagMs = sentAt === undefined ? undefined : Math.max(0, clock.now() - sentAt);
    const lagSeconds = lagMs === undefined ? undefined : lagMs / 1000;
    journalDecision(journal, { messageId, ...defined({ lagSeconds }) }, decision);
    if (decision.kind === 'keep' && decision.why === 'full') {
      log.error('a cause has no place among those in force', { cause: decision.detail });
    }
  }

  /**
   * One measurement per minute for all messages; the last one, or none, where the cloud does not
   * answer.
   */
  #cloudAhead(signal: AbortSignal): Promise<number> {
    const { clock, cloud } = this.#deps;
    const known = this.#ahead;
    if (known !== undefined && clock.now() - known.at < measureEveryMs) return known.ms;
    const before = clock.now();
    const options = { clock, within: answerWithinMs, signal };
    const ms = withDeadline(options, (inner) => cloud.time({ signal: inner })).then(
      (time) => {
        const apart = time + 500 - (before + clock.now()) / 2;
        return Math.abs(apart) < clocksAgreeMs ? 0 : apart;
      },
      (error: unknown) => {
        if (!(error instanceof CloudError || error instanceof DeadlineError)) throw error;
        return known?.ms ?? 0;
      },
    );
    this.#ahead = { at: before, ms };
    return ms;
  }

  async #delete(message: QueueMessage, signal: AbortSignal): Promise<void> {
    const { cloud, queueUrl } = this.#deps;
    await cloud.deleteMessage(queueUrl, message.receiptHandle, { signal });
  }

  async #keepInFlight(message: QueueMessage, signal: AbortSignal): Promise<void> {
    const { cloud, clock, log, queueUrl } = this.#deps;
    while (await sleepOrAbort(clock, extendEveryMs, signal)) {
      try {
        const { receiptHandle } = message;
        await cloud.changeVisibility(queueUrl, receiptHandle, visibilitySeconds, { signal });
      } catch (error) {
        // At worst the message is delivered twice, and the causes merge.
        if (!signal.aborted) {
          log.debug('message not kept in flight', { error: describeError(error) });
        }
      }
    }
  }

  #count(outcome: string): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1);
  }
}

/** The instance to look up, where the decision needs one, and the kind of cause of the notice. */
const claimOf = (
  notice: Notice,
): { readonly instanceId: InstanceId | undefined; readonly kind: CauseKind } | undefined => {
  switch (notice.kind) {
    case 'terminate':
      return { instanceId: notice.instanceId, kind: 'LifecycleHook' };
    case 'spotInterruption':
      return { instanceId: notice.instanceId, kind: 'SpotInterruption' };
    case 'rebalance':
      return { instanceId: notice.instanceId, kind: 'RebalanceRecommendation' };
    case 'scheduledChange':
      return { instanceId: notice.instanceIds[0], kind: 'Maintenance' };
    case 'stateChange':
      return notice.state === 'stopping'
        ? { instanceId: notice.instanceId, kind: 'StateChange' }
        : undefined;
    default:
      return undefined;
  }
};
