// Where a bundle of a node's logs goes: an archive that grows entry by entry. Throws NodeHostError.

export interface BundleWriter {
  /** Entries keep their order. */
  add(name: string, bytes: Uint8Array): Promise<void>;
  /** Closes the archive; the number of bytes that it takes. */
  end(): Promise<number>;
}
