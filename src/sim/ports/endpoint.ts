// An endpoint for webhooks and probes in world time: for each call it answers, fails, is slow,
// hangs or refuses the connection. Opens no socket.

import type { World } from '../../../world/index.ts';
import { microsPerMs } from '../../../world/kernel/index.ts';
import { shownAddress } from '../../api/update-hooks.ts';
import {
  type Http,
  type HttpAnswer,
  HttpError,
  type HttpErrorCode,
  type HttpPost,
  type Random,
} from '../../ports/index.ts';

/** How one call is answered. */
export type EndpointReply =
  | { readonly status: number; readonly retryAfterSeconds?: number; readonly afterMs?: number }
  /** No answer ever comes. */
  | 'hangs'
  /** The connection is refused. */
  | 'refuses'
  /** The adapter would not call the address. */
  | 'not-allowed';

export interface EndpointCall {
  readonly url: string;
  readonly idempotencyKey: string;
  readonly bearerToken: string | undefined;
  readonly ca: string | undefined;
  readonly body: string;
}

const usualMs = 20;

/**
 * A reply of an unreliable endpoint: usually immediate success, otherwise slow, busy, wrong or
 * unavailable.
 */
export const drawReply = (random: Random): EndpointReply => {
  const roll = random.next();
  if (roll < 0.7) return { status: 200 };
  if (roll < 0.78) return { status: 200, afterMs: 3_000 };
  if (roll < 0.86) return { status: 202, retryAfterSeconds: 15 };
  if (roll < 0.91) return { status: 503 };
  if (roll < 0.95) return { status: 400 };
  return roll < 0.98 ? 'refuses' : 'hangs';
};

export class SimulatedEndpoint implements Http {
  /** Every POST, including unanswered ones. */
  readonly calls: EndpointCall[] = [];
  readonly #reply: (call: EndpointCall) => EndpointReply;
  #world: World | undefined;

  constructor(reply: (call: EndpointCall) => EndpointReply) {
    this.#reply = reply;
  }

  /** Its answers then take time in that world. */
  runIn(world: World): void {
    this.#world = world;
  }

  get(
    url: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<HttpAnswer> {
    const nothing = { idempotencyKey: '', bearerToken: undefined, ca: undefined, body: '' };
    return this.#answer(url, this.#reply({ url, ...nothing }), options);
  }

  post(url: string, options: HttpPost): Promise<HttpAnswer> {
    const { idempotencyKey, bearerToken, ca, body } = options;
    const call = { url, idempotencyKey, bearerToken, ca, body };
    this.calls.push(call);
    return this.#answer(url, this.#reply(call), options);
  }

  #answer(
    url: string,
    reply: EndpointReply,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<HttpAnswer> {
    const failed = (code: HttpErrorCode, why: string) =>
      new HttpError(code, `${shownAddress(url)}: ${why}`);
    return new Promise((resolve, reject) => {
      const kernel = this.#world?.kernel;
      if (kernel === undefined) return reject(new Error('the endpoint runs in no world'));
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      const after = (ms: number, run: () => void) => kernel.after(ms * microsPerMs, run);
      if (reply === 'not-allowed') return reject(failed('NotAllowed', 'it is not public'));
      if (reply === 'refuses') {
        after(usualMs, () => reject(failed('Unreachable', 'connection refused')));
        return;
      }
      const afterMs = reply === 'hangs' ? timeoutMs : (reply.afterMs ?? usualMs);
      if (reply === 'hangs' || afterMs >= timeoutMs) {
        after(timeoutMs, () => reject(failed('Timeout', 'no answer in time')));
        return;
      }
      const { status, retryAfterSeconds } = reply;
      const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
      after(afterMs, () => resolve({ status, ...more }));
    });
  }
}
