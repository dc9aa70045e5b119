// Plain HTTP to addresses that people name: health probes and webhooks of updates. No redirects,
// the body thrown away; never to link-local addresses, where clouds keep their instances'
// credentials.

export const httpErrorTable = {
  /**
   * No address that may be called: not http(s), or link-local by name or by what the name resolves
   * to; for a POST also loopback, and what is not https, unless this process was told that it may.
   */
  NotAllowed: { retry: 'never' },
  Timeout: { retry: 'backoff' },
  /** No answer: no such name, refused, reset, a certificate that does not hold. */
  Unreachable: { retry: 'backoff' },
} as const;
export type HttpErrorCode = keyof typeof httpErrorTable;

export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  constructor(code: HttpErrorCode, message: string, more: { readonly cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
  }
}

export interface HttpPost {
  /** JSON text. */
  readonly body: string;
  /** The same for every try of one thing (header Idempotency-Key). */
  readonly idempotencyKey: string;
  /** Sent as `Authorization: Bearer`; in no error and no log. */
  readonly bearerToken?: string;
  /** PEM: who signs the server's certificate; absent = whom this machine trusts. */
  readonly ca?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Of Retry-After, a date counted from the server's own. */
  readonly retryAfterSeconds?: number;
}

export interface Http {
  /** Throws HttpError; every answer is a value, whatever its status. */
  get(
    url: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<{ readonly status: number }>;
  /** Sent once. Throws HttpError; after a Timeout nobody knows whether it arrived. */
  post(url: string, options: HttpPost): Promise<HttpAnswer>;
}
