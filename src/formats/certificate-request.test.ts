// Requests as OpenSSL writes them.
import { describe, expect, it } from 'vitest';
import { parseCertificateRequest } from './certificate-request.ts';
import { aRequest } from './kubelet-request.ts';

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
    ['no base64', `${begin}\n!!\n${end}`, /base64/],
    ['broken base64', `${begin}\nMII\n=A\n${end}`, /not base64/],
    // Go skips the first block and signs the second.
    ['two blocks', `x${withNames}${aRequest({ commonName: 'system:node:n2' })}`, /one PEM block/],
    ['one that does not begin its line', `x${withNames}`, /one PEM block/],
    ['followed by another', withNames + withNames, /one PEM block/],
    ['of another label at its end', withNames.replace('END CERT', 'END A CERT'), /one PEM block/],
    ['of an old label', withNames.replaceAll('CERT', 'NEW CERT'), /PEM block type must be/],
    ['half of it', `${begin}\nMIIBNzCB3wIBADAw\n${end}`, /ends within an element/],
    ['an endless length', `${begin}\nMIAAAA==\n${end}`, /no definite length/],
    ['something else', `${begin}\nMAMCAQE=\n${end}`, /not a certificate request/],
  ])('that is %s is refused in words', (_, pem, message) => {
    const parsed = parseCertificateRequest(pem);
    expect(parsed).toEqual({ kind: 'error', message: expect.stringMatching(message) });
  });

  it('may have text around it, as `openssl req -text` prints it', () => {
    expect(parseCertificateRequest(`Data:\n  x\n${withNames}\nend\n`).kind).toBe('ok');
  });

  it('is read with the names of every list that it asks for', () => {
    const pem = aRequest({ commonName: 'system:node:n1', dnsNames: ['n1'], more: ['n2'] });
    const parsed = parseCertificateRequest(pem);
    expect(parsed.kind === 'ok' && parsed.request.dnsNames).toEqual(['n1', 'n2']);
  });

  it('keeps a mark of byte order in its subject: signers read one', () => {
    const parsed = parseCertificateRequest(aRequest({ commonName: '\uFEFFsystem:node:n1' }));
    expect(parsed.kind === 'ok' && parsed.request.commonName).toBe('\uFEFFsystem:node:n1');
  });
});
