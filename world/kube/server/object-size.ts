// etcd's limits on one write, with the messages of kube-apiserver 1.36 (measured). Counts an
// object's JSON; the protobuf in which built-in kinds are stored is slightly shorter.
import type { JsonObject } from '../../../src/api/json.ts';
import { failure } from './status.ts';

/** etcd's --max-request-bytes. */
const maxRequestBytes = 1.5 * 1024 * 1024;
/** Maximum that the API server's etcd client sends. */
const maxSentBytes = 2 * 1024 * 1024;

/** Throws a 500 without a reason, as upstream, for an object that etcd would refuse. */
export const refuseTooLarge = (object: JsonObject): void => {
  const text = JSON.stringify(object);
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 < maxRequestBytes) return;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= maxRequestBytes) return;
  if (bytes <= maxSentBytes) throw failure(500, undefined, 'etcdserver: request is too large');
  const limit = `larger than max (${bytes} vs. ${maxSentBytes})`;
  const what = `rpc error: code = ResourceExhausted desc = trying to send message ${limit}`;
  throw failure(500, undefined, what);
};
