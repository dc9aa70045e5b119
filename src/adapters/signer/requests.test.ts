import 'reflect-metadata'; // x509's container needs it before anything else
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { createPki, signRequest } from './index.ts';
import { algorithm } from './pki.ts';

const now = Date.now();
const pki = await createPki(now);
const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const asked = await x509.Pkcs10CertificateRequestGenerator.create({
  name: 'CN=system:node:n1,O=system:nodes',
  keys,
  signingAlgorithm: algorithm,
  extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'n1' }])],
});
const usages = ['digital signature', 'server auth'];
const request = asked.toString('pem');

describe('a signed request', () => {
  it('is a certificate of the authority for the names, usages and time that were asked for', async () => {
    const pem = await signRequest(pki.ca, { request, usages, expirationSeconds: 3600 }, now);
    const certificate = new X509Certificate(pem);
    expect(certificate.verify(new X509Certificate(pki.ca.certificate).publicKey)).toBe(true);
    expect(certificate.subject).toBe('CN=system:node:n1\nO=system:nodes');
    expect(certificate.subjectAltName).toBe('DNS:n1');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.ca).toBe(false);
    const end = Date.parse(certificate.validTo);
    expect(Math.abs(end - now - 3_600_000)).toBeLessThan(1000);
  });

  it('lasts a year unless it says otherwise', async () => {
    const pem = await signRequest(pki.ca, { request, usages, expirationSeconds: undefined }, now);
    const days = (Date.parse(new X509Certificate(pem).validTo) - now) / 86_400_000;
    expect(Math.round(days)).toBe(365);
  });

  it('must carry the signature of its own key', async () => {
    const bytes = Buffer.from(asked.rawData);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    const forged = new x509.Pkcs10CertificateRequest(new Uint8Array(bytes)).toString('pem');
    const sign = signRequest(pki.ca, { request: forged, usages, expirationSeconds: 600 }, now);
    await expect(sign).rejects.toThrow(/not signed by its own key/);
  });
});
