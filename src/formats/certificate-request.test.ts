// Requests as OpenSSL writes them.
import { describe, expect, it } from 'vitest';
import { parseCertificateRequest } from './certificate-request.ts';

const withNames = `-----BEGIN CERTIFICATE REQUEST-----
MIIBNzCB3wIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECIY6YkZ3212e
DlCg31yUVy9WgNzTXIHYupYervC+WMN8aXFCe6QSaIvWBrdRwr38zlL/o5wpVDp/
58gTzDAge6BNMEsGCSqGSIb3DQEJDjE+MDwwOgYDVR0RBDMwMYICbjGHBMCoAQqB
BWFAYi5jhgxzcGlmZmU6Ly94L3mHEP0AAAAAAAAAAAAAAAAAAAEwCgYIKoZIzj0E
AwIDRwAwRAIgCwwPX9qPWDf5S8t0iWXBedwn7rTqc/35y8HczV0yY1cCICUfZ0xy
lhvJetVo2Z9WOa9e1b/MNJ04pd6h4D9gRNmF
-----END CERTIFICATE REQUEST-----
`;

describe('a certificate request', () => {
  it('is read with its subject and every kind of name', () => {
    expect(parseCertificateRequest(withNames)).toEqual({
      kind: 'ok',
      request: {
        commonName: 'system:node:n1',
        organisations: ['system:nodes'],
        dnsNames: ['n1'],
        ipAddresses: ['192.168.1.10', 'fd00:0:0:0:0:0:0:1'],
        emailAddresses: ['a@b.c'],
        uris: ['spiffe://x/y'],
        key: { kind: 'ec', bits: 256 },
      },
    });
  });

  const begin = '-----BEGIN CERTIFICATE REQUEST-----';
  const end = '-----END CERTIFICATE REQUEST-----';
  it.each([
    ['nothing', '', 'PEM block type must be CERTIFICATE REQUEST'],
    ['another block', withNames.replaceAll(' REQUEST', ''), /PEM block type must be/],
    ['no base64', `${begin}\n!!\n${end}`, /not base64/],
    ['half of it', `${begin}\nMIIBNzCB3wIBADAw\n${end}`, /ends within an element/],
    ['an endless length', `${begin}\nMIAAAA==\n${end}`, /no definite length/],
    ['something else', `${begin}\nMAMCAQE=\n${end}`, /not a certificate request/],
  ])('that is %s is refused in words', (_, pem, message) => {
    const parsed = parseCertificateRequest(pem);
    expect(parsed).toEqual({ kind: 'error', message: expect.stringMatching(message) });
  });
});
