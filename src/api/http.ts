// The two HTTP shapes that listeners and pure request handlers share. Nothing here touches a
// socket: src/serve converts between these and node:http.

/** One request as a handler sees it. Header names are lower-case; `path` is still URL-encoded. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** Raw query string without the leading `?`; empty when there is none. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Peer address, for audit and CloudTrail records. */
  readonly remoteAddress: string;
}

/** A complete, non-streaming answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}
