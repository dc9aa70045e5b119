// Small helpers around AbortSignal: a linked signal, a call with a deadline in the clock's time.
// Never starts a timer of its own: time comes from the Clock port.
import { type DurationMs, durationMs } from '../api/brand.ts';
import type { Clock } from '../ports/index.ts';

export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Detaches from the parent, so that a long-lived parent does not collect listeners. */
  unlink(): void;
}

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `run` once when `signal` aborts, unless the returned function is called first. All callers
 * share one listener: an EventTarget is slow at adding and removing thousands of them.
 */
export const onAbort = (signal: AbortSignal, run: () => void): (() => void) => {
  let all = waiting.get(signal);
  if (all === undefined) {
    const fresh = new Set<() => void>();
    all = fresh;
    waiting.set(signal, fresh);
    const tell = (): void => {
      waiting.delete(signal);
      for (const one of fresh) one();
    };
    signal.addEventListener('abort', tell, { once: true });
  }
  const own = (): void => run();
  all.add(own);
  return () => all.delete(own);
};

/** Without an explicit reason every abort would create a DOMException with a stack trace. */
const ended = new Error('ended');

/** A signal that aborts with `parent`, or by itself. */
export const linkedAbort = (parent: AbortSignal): LinkedAbort => {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  const unlink = parent.aborted ? (): void => {} : onAbort(parent, follow);
  return {
    signal: controller.signal,
    abort: (reason = ended) => controller.abort(reason),
    unlink,
  };
};

/** Resolves when `signal` aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });

/** Sleeps; false when the signal ended the sleep. */
export const sleepOrAbort = async (
  clock: Clock,
  duration: number,
  signal: AbortSignal,
): Promise<boolean> => {
  if (signal.aborted) return false;
  try {
    await clock.sleep(durationMs(Math.max(0, duration)), signal);
    return !signal.aborted;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
};

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Runs `call` with a signal that aborts after `within`. Throws DeadlineError then, even if the call
 * ignores its signal; a later result of the call is dropped.
 */
export const withDeadline = <T>(
  options: { readonly clock: Clock; readonly within: DurationMs; readonly signal: AbortSignal },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { clock, within, signal } = options;
  const link = linkedAbort(signal);
  return new Promise<T>((resolve, reject) => {
    const finish = (settle: () => void): void => {
      settle();
      link.unlink();
      link.abort();
    };
    if (signal.aborted) return finish(() => reject(signal.reason));
    link.signal.addEventListener('abort', () => reject(link.signal.reason), { once: true });
    clock.sleep(within, link.signal).then(
      () => finish(() => reject(new DeadlineError(`no answer within ${within} ms`))),
      () => undefined,
    );
    call(link.signal).then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    );
  });
};
