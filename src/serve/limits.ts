// Time and size limits of a listener per connection: slow or silent clients are disconnected.
// Streaming answers (watches) have no time limit.

export interface ListenerLimits {
  /** From the connection, or the end of the previous request, to the last header. */
  readonly headersTimeout: number;
  /** From then to the last byte of the body, at most 3 MiB. */
  readonly requestTimeout: number;
  /** For a connection between two requests. */
  readonly keepAliveTimeout: number;
  /** For the TLS handshake. */
  readonly handshakeTimeout: number;
  /** How often the first two limits are checked. */
  readonly connectionsCheckingInterval: number;
  /** Total size of headers, in bytes. */
  readonly maxHeaderSize: number;
}

/**
 * In milliseconds. client-go keeps an idle connection for 90 s: the server must not close it first.
 */
export const listenerLimits: ListenerLimits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 120_000,
  handshakeTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 32 * 1024,
};

/** Open connections; further ones are refused. Far above what the clients of a laptop open. */
export const maxConnections = 4096;
