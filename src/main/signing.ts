// Passes certificate requests that the world has approved to an external signer, and stores the
// certificates as calls at a time of the world. Decides nothing about a request.

import {
  certificateIssuer,
  certificateRequests,
  type SigningOrder,
  signingOrderOf,
  type World,
} from '../../world/index.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import type { Log } from '../ports/index.ts';
import type { Pacer } from '../serve/index.ts';

/** Returns the certificate as PEM; rejects when the request cannot be signed. */
export type Signer = (order: SigningOrder) => Promise<string>;

export interface Signing {
  readonly world: World;
  readonly pacer: Pick<Pacer, 'enter'>;
  readonly log: Log;
  readonly sign: Signer;
  readonly signal: AbortSignal;
}

/** Signs pending requests and later approvals, until `signal` aborts. */
export const startSigning = ({ world, pacer, log, sign, signal }: Signing): void => {
  const underWay = new Set<string>();
  const client = world.kube.as(certificateIssuer);

  const store = (order: SigningOrder, certificate: string): void => {
    const csr = world.kube.read(certificateRequests, { name: order.name });
    // A request that was meanwhile denied, signed or replaced is not signed.
    if (csr === undefined || signingOrderOf(csr)?.uid !== order.uid) return;
    const approved: JsonObject = csr;
    const status = { ...objectOr(approved.status), certificate: btoa(certificate) };
    client.update(certificateRequests, { ...approved, status }, 'status');
  };
  const serve = async (order: SigningOrder): Promise<void> => {
    try {
      const certificate = await sign(order);
      if (!signal.aborted) pacer.enter(() => store(order, certificate));
    } catch (error) {
      log.warn('a certificate request is not signed', { name: order.name, error: String(error) });
    } finally {
      underWay.delete(order.uid);
    }
  };
  const look = (csr: Parameters<typeof signingOrderOf>[0]): void => {
    const order = signingOrderOf(csr);
    if (order === undefined || signal.aborted || underWay.has(order.uid)) return;
    underWay.add(order.uid);
    void serve(order);
  };

  world.kube.onChange(certificateRequests, ({ type, object }) => {
    if (type !== 'DELETED') look(object);
  });
  for (const csr of world.kube.readAll(certificateRequests)) look(csr);
};
