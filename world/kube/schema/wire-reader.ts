// Reads protobuf's wire format: tags, varints, fixed numbers, length-delimited bytes. Independent
// of message types. Refuses truncated input; never reads past its bytes.

export class MalformedProtobuf extends Error {}

export type WireValue =
  | { readonly kind: 'varint'; readonly value: bigint }
  | { readonly kind: 'fixed64'; readonly value: DataView }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'fixed32'; readonly value: DataView };

export interface WireField {
  readonly number: number;
  readonly value: WireValue;
}

class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new MalformedProtobuf('unexpected EOF');
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new MalformedProtobuf('integer overflow');
  }

  take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw new MalformedProtobuf('unexpected EOF');
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }
}

const view = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function readValue(cursor: Cursor, wireType: number): WireValue {
  switch (wireType) {
    case 0:
      return { kind: 'varint', value: cursor.varint() };
    case 1:
      return { kind: 'fixed64', value: view(cursor.take(8)) };
    case 2:
      return { kind: 'bytes', value: cursor.take(Number(cursor.varint())) };
    case 5:
      return { kind: 'fixed32', value: view(cursor.take(4)) };
    default:
      throw new MalformedProtobuf(`illegal wireType ${wireType}`);
  }
}

export function readFields(bytes: Uint8Array): readonly WireField[] {
  const cursor = new Cursor(bytes);
  const fields: WireField[] = [];
  while (!cursor.done) {
    const tag = cursor.varint();
    fields.push({ number: Number(tag >> 3n), value: readValue(cursor, Number(tag & 7n)) });
  }
  return fields;
}

/** The varints of a packed repeated field. */
export function readPacked(bytes: Uint8Array): readonly bigint[] {
  const cursor = new Cursor(bytes);
  const values: bigint[] = [];
  while (!cursor.done) values.push(cursor.varint());
  return values;
}
