// Names and fingerprints of SSH key pairs. Stores no keys.
import { hexString, type Table } from '../../kernel/index.ts';
import type { Scope } from '../scope.ts';

export type KeyPairRow = {
  readonly id: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly createdAt: number;
};

const component = 'aws.ec2.key-pairs';

export class KeyPairs {
  readonly #scope: Scope;
  readonly #rows: Table<KeyPairRow>;

  constructor(scope: Scope) {
    this.#scope = scope;
    this.#rows = scope.kernel.tables.open<KeyPairRow>('aws/ec2/key-pairs');
  }

  all(): readonly KeyPairRow[] {
    return [...this.#rows.values()];
  }

  remove(name: string): void {
    this.#rows.delete(name);
  }

  add(name: string): KeyPairRow {
    const random = this.#scope.kernel.random(component);
    const fingerprint = Array.from({ length: 16 }, () => hexString(random, 2)).join(':');
    const id = this.#scope.id(component, 'key');
    const row = { id, name, fingerprint, createdAt: this.#scope.now() };
    this.#rows.put(name, row);
    return row;
  }
}
