// Calls to the cloud about lifecycle hooks, each with a deadline, and the record of their results.
// Heartbeats run beside the passes, so a cloud that does not answer delays nothing else. Never
// throws because of the cloud: a failure is recorded and sets the time of the next try.
import { durationMs } from '../../api/brand.ts';
import type { HookCall } from '../../api/cloud.ts';
import type { Step } from '../../api/plan.ts';
import { hookKey } from '../../core/termination/index.ts';
import { type CloudApi, CloudError } from '../../ports/index.ts';
import { DeadlineError, describeError, NotLeader, withDeadline } from '../../runtime/index.ts';
import type { DisruptionDeps } from './deps.ts';
import { journalStep } from './events.ts';
import { noteHook, type Recollection } from './recollection.ts';

export type HookStep = Extract<Step, { kind: 'HeartbeatHook' | 'CompleteHook' }>;

/** The shortest heartbeat timeout is 30 s, which leaves room for six calls without an answer. */
const answerWithinMs = durationMs(5_000);

interface HookPass {
  readonly disruption: { readonly metadata: { readonly name: string } };
  readonly recollection: Recollection;
  readonly signal: AbortSignal;
}

/**
 * Limits a call to 5 s; after that it fails as Unreachable. Only for calls that may be repeated.
 */
export const callCloud = async <T>(
  { cloud, clock }: Pick<DisruptionDeps, 'cloud' | 'clock'>,
  signal: AbortSignal,
  call: (cloud: CloudApi, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (cloud === undefined) throw new CloudError('Unsupported', 'no cloud is configured');
  try {
    const options = { clock, within: answerWithinMs, signal };
    return await withDeadline(options, (inner) => call(cloud, inner));
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
    throw new CloudError('Unreachable', `the cloud: ${error.message}`, { cause: error });
  }
};

/** Makes one call and records its result. */
export const serveHook = async (
  deps: DisruptionDeps,
  step: HookStep,
  pass: HookPass,
): Promise<void> => {
  const { clock, log, journal } = deps;
  const { recollection, signal } = pass;
  const at = clock.now();
  try {
    await callCloud(deps, signal, (cloud, inner) => sendHook(cloud, step, inner));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CloudError)) throw error;
    const known = recollection.memory.hooks.get(keyOf(step));
    // A heartbeat that the completion has overtaken must not change the recorded result.
    if (known?.result !== undefined) return;
    if (error.code === 'NoActiveLifecycleAction') {
      noteHook(recollection, step, { result: 'Gone', lastAttemptAt: at });
      return;
    }
    const failures = (known?.failures ?? 0) + 1;
    noteHook(recollection, step, { failures, lastAttemptAt: at, message: error.message });
    const facts = { hook: step.hookName, code: error.code, failures };
    log.warn('hook call failed, trying again', facts);
    return;
  }
  const done = { failures: 0, lastAttemptAt: at } as const;
  if (step.kind === 'CompleteHook') noteHook(recollection, step, { ...done, result: 'Completed' });
  else noteHook(recollection, step, { ...done, lastHeartbeatAt: at });
  journalStep(journal, pass.disruption.metadata.name, step);
};

const sendHook = (cloud: CloudApi, step: HookStep, signal: AbortSignal): Promise<void> => {
  const { autoScalingGroupName, hookName, instanceId } = step;
  const call: HookCall = { autoScalingGroupName, hookName, instanceId };
  if (step.kind === 'HeartbeatHook') return cloud.heartbeatHook(call, { signal });
  return cloud.completeHook({ ...call, result: step.result ?? 'CONTINUE' }, { signal });
};

const keyOf = ({ autoScalingGroupName, hookName }: HookStep): string =>
  hookKey({ autoScalingGroupName, name: hookName });

/** Heartbeats in flight: at most one per hook and instance. */
export class Heartbeats {
  readonly #deps: DisruptionDeps;
  readonly #onAnswer: (disruption: string) => void;
  readonly #sending = new Map<string, Promise<void>>();

  constructor(deps: DisruptionDeps, onAnswer: (disruption: string) => void) {
    this.#deps = deps;
    this.#onAnswer = onAnswer;
  }

  /** Sends and returns; calls `onAnswer` when the result is known. */
  send(step: HookStep, pass: HookPass): void {
    const key = `${step.instanceId}/${keyOf(step)}`;
    if (this.#sending.has(key)) return;
    const sending = serveHook(this.#deps, step, pass)
      .catch((error: unknown) => this.#noteBug(error, step, pass))
      .finally(() => {
        this.#sending.delete(key);
        this.#onAnswer(pass.disruption.metadata.name);
      });
    this.#sending.set(key, sending);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  /**
   * An error that is not a port error counts as a failure too, so that it is not retried
   * immediately.
   */
  #noteBug(error: unknown, step: HookStep, { recollection, signal }: HookPass): void {
    if (signal.aborted) return;
    const { clock, log } = this.#deps;
    const message = describeError(error);
    if (!(error instanceof NotLeader)) {
      log.error('heartbeat failed on a programmer’s error', {
        hook: step.hookName,
        error: message,
      });
    }
    const failures = (recollection.memory.hooks.get(keyOf(step))?.failures ?? 0) + 1;
    noteHook(recollection, step, { failures, lastAttemptAt: clock.now(), message });
  }
}
