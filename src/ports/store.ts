// Durable rows for the world's state: named tables of JSON rows, written in atomic batches.
import type { Json } from '../api/json.ts';

export interface RowChange {
  readonly table: string;
  readonly key: string;
  /** Undefined deletes the row. */
  readonly value: Json | undefined;
}

export interface Store {
  /** Every row, in no particular order. Throws StoreError. */
  load(): Iterable<{ readonly table: string; readonly key: string; readonly value: Json }>;
  /** Atomic: after a crash either all changes are stored or none. Throws StoreError. */
  commit(changes: readonly RowChange[]): void;
  close(): void;
}

/**
 * `code`: why the store cannot be used. `full`: the disk is full; `foreign`: not Drover's file;
 * `newer`: written by a newer Drover; `unencodable`: a row is not JSON, whatever the disk's state.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'full' | 'unwritable' | 'foreign' | 'newer' | 'locked' | 'corrupt' | 'unencodable';
  constructor(code: StoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
