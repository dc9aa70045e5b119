// Certificates of an embedded world: one authority, one server certificate for loopback names,
// client certificates for the administrator and for an external controller. Keys are ECDSA P-256.
// Never reads or writes files.
import 'reflect-metadata'; // x509's container needs it before anything else
import type { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface KeyPair {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}
export interface Pki {
  readonly ca: KeyPair;
  readonly server: KeyPair;
  readonly admin: KeyPair;
  /** For `drover controller`: EKS' node manager. */
  readonly controller: KeyPair;
}

const nodeManager = 'CN=eks:node-manager';

export const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const validForMs = 10 * 365 * 24 * 3600 * 1000;
/** Clients with a slightly slow clock must accept a new certificate. */
const backdatedMs = 3600 * 1000;

const pem = (bytes: ArrayBuffer): string => {
  const base64 = Buffer.from(bytes).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
};

const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const exportKey = async (keys: webcrypto.CryptoKeyPair): Promise<string> =>
  pem(await crypto.subtle.exportKey('pkcs8', keys.privateKey));

const validityAt = (nowMs: number) => ({
  notBefore: new Date(nowMs - backdatedMs),
  notAfter: new Date(nowMs + validForMs),
});

/** The authority, ready to sign. */
export const authorityOf = async (
  ca: KeyPair,
): Promise<{
  readonly authority: x509.X509Certificate;
  readonly signingKey: webcrypto.CryptoKey;
}> => {
  x509.cryptoProvider.set(crypto);
  const authority = new x509.X509Certificate(ca.certificate);
  const [der] = x509.PemConverter.decode(ca.key);
  if (der === undefined) throw new TypeError('the authority has no key');
  const signingKey = await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  return { authority, signingKey };
};

/** Adds the certificate of an external controller, which worlds of earlier versions lack. */
export const addController = async (pki: Omit<Pki, 'controller'>, nowMs: number): Promise<Pki> => {
  const { authority, signingKey } = await authorityOf(pki.ca);
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    subject: nodeManager,
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    ...validityAt(nowMs),
    extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
  });
  const controller = {
    certificate: `${certificate.toString('pem')}\n`,
    key: await exportKey(keys),
  };
  return { ...pki, controller };
};

/** A new authority with all its certificates. `nowMs` is wall time. */
export const createPki = async (nowMs: number): Promise<Pki> => {
  x509.cryptoProvider.set(crypto);
  const [caKeys, serverKeys, adminKeys] = await Promise.all([
    generateKeys(),
    generateKeys(),
    generateKeys(),
  ]);
  const validity = validityAt(nowMs);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=drover-world-ca',
    keys: caKeys,
    signingAlgorithm: algorithm,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
    ],
  });
  const issue = (
    subject: string,
    keys: webcrypto.CryptoKeyPair,
    extensions: x509.Extension[],
  ): Promise<x509.X509Certificate> =>
    x509.X509CertificateGenerator.create({
      subject,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: algorithm,
      ...validity,
      extensions,
    });
  const server = await issue('CN=kube-apiserver', serverKeys, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension([
      { type: 'dns', value: 'localhost' },
      { type: 'dns', value: 'kubernetes' },
      { type: 'ip', value: '127.0.0.1' },
      { type: 'ip', value: '::1' },
    ]),
  ]);
  const admin = await issue('CN=kubernetes-admin,O=system:masters', adminKeys, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
  ]);
  const pki = {
    ca: { certificate: `${ca.toString('pem')}\n`, key: await exportKey(caKeys) },
    server: { certificate: `${server.toString('pem')}\n`, key: await exportKey(serverKeys) },
    admin: { certificate: `${admin.toString('pem')}\n`, key: await exportKey(adminKeys) },
  };
  return addController(pki, nowMs);
};
