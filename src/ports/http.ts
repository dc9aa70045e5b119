// Plain HTTP to addresses that people name (health probes). One GET, no redirects, the body thrown away; never
// to link-local addresses, where clouds keep their instances' credentials.

export const httpErrorTable = {
  /** No address that may be called: not http(s), or link-local by name or by what the name resolves to. */
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

export interface Http {
  /** Throws HttpError; every answer is a value, whatever its status. */
  get(
    url: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<{ readonly status: number }>;
}
