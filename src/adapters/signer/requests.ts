// Signs certificate requests with the world's authority, as kube-controller-manager's signers do:
// with the requested subject and names, and the usages in the request object. Another component
// approves requests; this one verifies only the request's own signature.
import 'reflect-metadata'; // x509's container needs it before anything else
import * as x509 from '@peculiar/x509';
import { algorithm, authorityOf, type KeyPair } from './pki.ts';

const subjectAltName = '2.5.29.17';
/** `--cluster-signing-duration` of kube-controller-manager. */
const standardSeconds = 365 * 24 * 3600;
/** As upstream: clients with a slightly slow clock must accept it. */
const backdatedMs = 5 * 60_000;

const keyUsages: Readonly<Record<string, number>> = {
  'digital signature': x509.KeyUsageFlags.digitalSignature,
  'key encipherment': x509.KeyUsageFlags.keyEncipherment,
};
const extendedUsages: Readonly<Record<string, x509.ExtendedKeyUsage>> = {
  'client auth': x509.ExtendedKeyUsage.clientAuth,
  'server auth': x509.ExtendedKeyUsage.serverAuth,
};

export interface RequestToSign {
  /** PEM, PKCS #10. */
  readonly request: string;
  /** Usages of certificates.k8s.io. */
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
}

/**
 * PEM of the certificate. `nowMs` is wall time. Throws when the request is not signed by its key.
 */
export const signRequest = async (
  ca: KeyPair,
  { request, usages, expirationSeconds }: RequestToSign,
  nowMs: number,
): Promise<string> => {
  const { authority, signingKey } = await authorityOf(ca);
  const asked = new x509.Pkcs10CertificateRequest(request);
  if (!(await asked.verify())) throw new TypeError('the request is not signed by its own key');
  const names = asked.getExtension(subjectAltName);
  const flags = usages.reduce((sum, usage) => sum | (keyUsages[usage] ?? 0), 0);
  const wantedEnd = nowMs + (expirationSeconds ?? standardSeconds) * 1000;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: asked.subject,
    issuer: authority.subject,
    publicKey: asked.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(Math.min(wantedEnd, authority.notAfter.getTime())),
    extensions: [
      ...(flags === 0 ? [] : [new x509.KeyUsagesExtension(flags, true)]),
      new x509.ExtendedKeyUsageExtension(usages.flatMap((usage) => extendedUsages[usage] ?? [])),
      new x509.BasicConstraintsExtension(false, undefined, true),
      ...(names === null ? [] : [names]),
    ],
  });
  return `${certificate.toString('pem')}\n`;
};
