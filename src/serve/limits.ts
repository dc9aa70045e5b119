// How long and how much a listener waits for one connection: slow or silent clients are cut off,
// whatever they hold open. Answers that stream (watches) have no limit of time.

export interface ListenerLimits {
  /** From the connection, or the end of the request before, to the last header. */
  readonly headersTimeout: number;
  /** From there to the last byte of the body, at most 3 MiB. */
  readonly requestTimeout: number;
  /** Of a connection between two requests. */
  readonly keepAliveTimeout: number;
  /** Of TLS. */
  readonly handshakeTimeout: number;
  /** How often the first two are looked at. */
  readonly connectionsCheckingInterval: number;
  /** Headers in all, in bytes. */
  readonly maxHeaderSize: number;
}

/**
 * In milliseconds. client-go keeps an idle connection for 90 s: the server must not end it first.
 */
export const listenerLimits: ListenerLimits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 120_000,
  handshakeTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 32 * 1024,
};

/** Open connections; the next one is refused. Far above what clients of one laptop hold. */
export const maxConnections = 4096;
