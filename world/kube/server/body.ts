// Decodes a request body to JSON by its Content-Type: JSON with every patch type, and the protobuf
// messages of Go clients. The listener decodes YAML (the world has no YAML parser).
import type { Json } from '../../../src/api/json.ts';
import { isTooDeep, parseJson, tooDeepMessage } from '../../../src/api/parse-json.ts';
import type { ApiStatus, SentBody } from '../../contracts.ts';
import { decodeProtobuf } from '../schema/index.ts';
import { duplicateMembers } from './duplicate-members.ts';
import { badRequest, unsupportedMediaType } from './status.ts';

export type DecodedBody =
  | { readonly kind: 'ok'; readonly body: Json | undefined; readonly sent?: SentBody }
  | { readonly kind: 'error'; readonly status: ApiStatus };

const jsonTypes: ReadonlySet<string> = new Set([
  '',
  'application/json',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
]);
const protobuf = 'application/vnd.kubernetes.protobuf';
const accepted = ['application/json', 'application/yaml', protobuf];

/** An empty body is `undefined`. Errors are complete Status objects: 400, 415. */
export function decodeBody(contentType: string, bytes: Uint8Array): DecodedBody {
  const media = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (media === protobuf) {
    if (bytes.length === 0) return { kind: 'ok', body: undefined };
    const decoded = decodeProtobuf(bytes);
    if (decoded.kind === 'ok' && isTooDeep(decoded.object)) {
      return { kind: 'error', status: badRequest(`the request body is ${tooDeepMessage}`).status };
    }
    return decoded.kind === 'ok'
      ? { kind: 'ok', body: decoded.object, sent: { form: 'json', duplicates: [] } }
      : decoded;
  }
  if (bytes.length === 0) return { kind: 'ok', body: undefined };
  if (!jsonTypes.has(media))
    return { kind: 'error', status: unsupportedMediaType(accepted).status };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const body = parseJson(text);
    return { kind: 'ok', body, sent: { form: 'json', duplicates: duplicateMembers(text) } };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'error', status: badRequest(`invalid JSON in the request body: ${why}`).status };
  }
}
