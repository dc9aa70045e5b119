// etcd's limits on one write, in the words that reach a client of kube-apiserver 1.36 (measured).
// An object counts by its JSON: protobuf, in which built-in kinds are stored, is a little shorter.
import type { JsonObject } from '../../../src/api/json.ts';
import { failure } from './status.ts';

/** etcd's --max-request-bytes. */
const maxRequestBytes = 1.5 * 1024 * 1024;
/** What the API server's etcd client sends at most. */
const maxSentBytes = 2 * 1024 * 1024;

/** Throws a 500 without a reason, as upstream, for an object that etcd would not take. */
export const refuseTooLarge = (object: JsonObject): void => {
  const text = JSON.stringify(object);
  // No character takes more than three bytes for each unit of its length.
  if (text.length * 3 < maxRequestBytes) return;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= maxRequestBytes) return;
  if (bytes <= maxSentBytes) throw failure(500, undefined, 'etcdserver: request is too large');
  const limit = `larger than max (${bytes} vs. ${maxSentBytes})`;
  const what = `rpc error: code = ResourceExhausted desc = trying to send message ${limit}`;
  throw failure(500, undefined, what);
};
