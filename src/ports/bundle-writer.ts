// The destination of a bundle of a node's logs: an archive to which entries are added. Throws
// NodeHostError.

export interface BundleWriter {
  /** Entries keep their order. */
  add(name: string, bytes: Uint8Array): Promise<void>;
  /** Closes the archive; returns its size in bytes. */
  end(): Promise<number>;
}
