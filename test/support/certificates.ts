// Certificates for a test cluster: one authority and the certificates that it issues. For tests
// only: keys are unprotected and valid for a day.
import 'reflect-metadata'; // x509's container needs it before anything else
import { generateKeyPairSync, type webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface Pem {
  readonly certificate: string;
  readonly key: string;
}

export interface Authority {
  /** PEM. */
  readonly certificate: string;
  server(commonName: string, names: readonly string[]): Promise<Pem>;
  client(subject: string): Promise<Pem>;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 24 * 3600 * 1000;

const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const keyPem = async (keys: webcrypto.CryptoKeyPair): Promise<string> => {
  const bytes = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
};

const alternativeName = (name: string): { type: 'ip' | 'dns'; value: string } => ({
  type: /^[\d.]+$/.test(name) ? 'ip' : 'dns',
  value: name,
});

/** A request as made by clients of the cluster's signers, and its key. */
export const requestCertificate = async (
  subject: string,
  names: readonly string[] = [],
): Promise<{ readonly request: string; readonly key: string }> => {
  x509.cryptoProvider.set(crypto);
  const keys = await generateKeys();
  const wanted = new x509.SubjectAlternativeNameExtension(names.map(alternativeName));
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: algorithm,
    extensions: names.length === 0 ? [] : [wanted],
  });
  return { request: `${request.toString('pem')}\n`, key: await keyPem(keys) };
};

export const createAuthority = async (): Promise<Authority> => {
  x509.cryptoProvider.set(crypto);
  const caKeys = await generateKeys();
  const now = Date.now();
  const validity = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + dayMs) };
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=test-cluster-ca',
    keys: caKeys,
    signingAlgorithm: algorithm,
    ...validity,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const issue = async (subject: string, extensions: x509.Extension[]): Promise<Pem> => {
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: algorithm,
      ...validity,
      extensions,
    });
    return { certificate: `${certificate.toString('pem')}\n`, key: await keyPem(keys) };
  };
  return {
    certificate: `${ca.toString('pem')}\n`,
    server: (commonName, names) =>
      issue(`CN=${commonName}`, [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names.map(alternativeName)),
      ]),
    client: (subject) =>
      issue(subject, [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])]),
  };
};

/** The key pair that signs and verifies service account tokens. */
export const serviceAccountKeys = (): { readonly publicKey: string; readonly privateKey: string } =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
