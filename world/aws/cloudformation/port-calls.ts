// Calls of the stack engine that are answered outside the world: at most one per resource at a
// time, answered in a step of the world. Keeps no state for a restart: the engine repeats the call.
import { AwsError } from '../../../src/aws-wire/index.ts';
import type { Kernel } from '../../kernel/index.ts';
import type { ServiceCall, ServiceCalls } from '../calls.ts';

export type CallOutcome =
  | { readonly kind: 'answered'; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly kind: 'absent' }
  /** A retry at the next check may succeed. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused'; readonly reason: string };

export class PortCalls {
  readonly #kernel: Kernel;
  readonly #calls: ServiceCalls;
  readonly #onTheWay = new Set<string>();

  constructor(kernel: Kernel, calls: ServiceCalls) {
    this.#kernel = kernel;
    this.#calls = calls;
  }

  /** No-op if a call with that key is in flight. */
  ask(key: string, call: ServiceCall, then: (outcome: CallOutcome) => void): void {
    if (this.#onTheWay.has(key)) return;
    this.#onTheWay.add(key);
    const settle = (outcome: CallOutcome): void => {
      // Answers take effect in a step of the world, never between two steps.
      this.#kernel.after(0, () => {
        this.#onTheWay.delete(key);
        then(outcome);
      });
    };
    this.#kernel.after(0, () => {
      void this.#calls.later(call).then(
        (answer) => settle({ kind: 'answered', answer }),
        (error: unknown) => settle(outcomeOfError(error)),
      );
    });
  }
}

const outcomeOfError = (error: unknown): CallOutcome => {
  if (!(error instanceof AwsError)) {
    return { kind: 'refused', reason: error instanceof Error ? error.message : String(error) };
  }
  if (error.code === 'ResourceNotFoundException') return { kind: 'absent' };
  const isPassing = (error.httpStatus ?? 400) >= 500 || error.httpStatus === 429;
  if (isPassing && error.code !== 'NotImplemented') return { kind: 'lost' };
  return { kind: 'refused', reason: `${error.message} (${error.code})` };
};
