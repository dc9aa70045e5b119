// Decodes protobuf request bodies (`application/vnd.kubernetes.protobuf`), which Go's typed clients
// send, to plain JSON objects: the k8s envelope and every kind in the facts. Never writes protobuf;
// answers are JSON, which these clients accept.
import type { JsonObject } from '../../../src/api/json.ts';
import { tooDeepMessage } from '../../../src/api/parse-json.ts';
import type { ApiStatus } from '../../contracts.ts';
import { findSchema, type KindSchema } from './facts.ts';
import { decodeMessage } from './protobuf-message.ts';
import { MalformedProtobuf, readFields } from './wire-reader.ts';

export type ProtobufBody =
  | { readonly kind: 'ok'; readonly object: JsonObject }
  /** 415 for an unsupported kind, 400 for bytes that are not such a message. */
  | { readonly kind: 'error'; readonly status: ApiStatus };

/** `k8s` and a zero byte precede the envelope (apimachinery's serializer/protobuf). */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

const utf8 = new TextDecoder();

function failure(code: 400 | 415, message: string): ProtobufBody {
  const reason = code === 400 ? 'BadRequest' : 'UnsupportedMediaType';
  return {
    kind: 'error',
    status: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      code,
    },
  };
}

function readEnvelope(bytes: Uint8Array): Envelope {
  let typeMeta = { apiVersion: '', kind: '' };
  let raw: Uint8Array = new Uint8Array();
  for (const { number, value } of readFields(bytes)) {
    if (value.kind !== 'bytes') continue;
    if (number === 2) raw = value.value;
    if (number !== 1) continue;
    for (const part of readFields(value.value)) {
      if (part.value.kind !== 'bytes') continue;
      const text = utf8.decode(part.value.value);
      if (part.number === 1) typeMeta = { ...typeMeta, apiVersion: text };
      if (part.number === 2) typeMeta = { ...typeMeta, kind: text };
    }
  }
  return { ...typeMeta, raw };
}

/** Old versions that clients still send, with the version whose message they share. */
const sameMessage: Readonly<Record<string, string>> = {
  // Sent by cluster-autoscaler to evict.
  'policy/v1beta1 Eviction': 'policy/v1',
};

/** DeleteOptions and other meta kinds are sent with the group of the object they apply to. */
function schemaOf({ apiVersion, kind }: Envelope): KindSchema | undefined {
  const asked = sameMessage[`${apiVersion} ${kind}`] ?? apiVersion;
  const [version = '', group = ''] = asked.split('/').reverse();
  return (
    findSchema({ group, version, kind }) ??
    findSchema({ group: 'meta.k8s.io', version: 'v1', kind })
  );
}

export function decodeProtobuf(body: Uint8Array): ProtobufBody {
  if (!MAGIC.every((byte, index) => body[index] === byte)) {
    return failure(
      400,
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  try {
    const envelope = readEnvelope(body.subarray(MAGIC.length));
    const schema = schemaOf(envelope);
    const { apiVersion, kind } = envelope;
    if (schema === undefined) {
      const what = `${apiVersion || 'unknown'} ${kind || 'object'}`;
      return failure(
        415,
        `a protobuf body of ${what} is not decoded by this server - ` +
          'accepted media types include: application/json, application/yaml',
      );
    }
    return {
      kind: 'ok',
      object: { apiVersion, kind, ...decodeMessage(schema.type, envelope.raw) },
    };
  } catch (error) {
    if (error instanceof MalformedProtobuf) {
      return failure(400, `unable to decode the protobuf body: ${error.message}`);
    }
    // Millions of nested messages exhaust the stack before the depth limit can be checked.
    if (error instanceof RangeError) {
      return failure(400, `unable to decode the protobuf body: ${tooDeepMessage}`);
    }
    throw error;
  }
}
