// HTTP to addresses that operators configure: health probes and webhooks of updates. Follows no
// redirects and discards the body. Never calls link-local addresses, where clouds serve their
// instances' credentials.

export const httpErrorTable = {
  /**
   * The address is not allowed: not http(s), or link-local by name or after resolution. A POST also
   * refuses loopback and plain http, unless this process was started with permission for loopback.
   */
  NotAllowed: { retry: 'never' },
  Timeout: { retry: 'backoff' },
  /**
   * No answer: the name is unknown, the connection was refused or reset, or the certificate is
   * invalid.
   */
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
  /** Default: application/json. */
  readonly contentType?: string;
  /** The same for every attempt of one call (header Idempotency-Key). */
  readonly idempotencyKey: string;
  /** Sent as `Authorization: Bearer`; never part of an error or a log. */
  readonly bearerToken?: string;
  /** PEM: CA of the server's certificate; absent = the CAs that this machine trusts. */
  readonly ca?: string;
  /**
   * Base64: signs id, time and body as Standard Webhooks does (headers webhook-id,
   * webhook-timestamp, webhook-signature). The id is `idempotencyKey`.
   */
  readonly signingKey?: string;
  /** Also refuses every address outside the public internet. */
  readonly isPublicOnly?: true;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** From the Retry-After header; a date in it is compared with the answer's own Date header. */
  readonly retryAfterSeconds?: number;
}

export interface Http {
  /** Throws HttpError; every answer is a value, whatever its status. */
  get(
    url: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<{ readonly status: number }>;
  /** Sent once. Throws HttpError; after a Timeout it is unknown whether the call arrived. */
  post(url: string, options: HttpPost): Promise<HttpAnswer>;
}
