// Valid certificate authorities are accepted, every kind of damage is reported, and no input
// throws.
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { authorityFault, publicKeyInfo } from './certificate.ts';
import { exampleAuthority, exampleAuthorityPem } from './example-authority.ts';

const frame = (body: string): string =>
  `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
const ofBytes = (...bytes: readonly number[]): string =>
  btoa(frame(btoa(String.fromCharCode(...bytes))));
const der = Uint8Array.from(atob(exampleAuthorityPem.split('\n').slice(1, -2).join('')), (char) =>
  char.charCodeAt(0),
);

describe('a certificate authority', () => {
  it('is one certificate, or several', () => {
    expect(authorityFault(exampleAuthority)).toBeUndefined();
    expect(authorityFault(btoa(exampleAuthorityPem + exampleAuthorityPem))).toBeUndefined();
    expect(authorityFault(exampleAuthority.replaceAll(/(.{76})/g, '$1\n'))).toBeUndefined();
  });

  it('is what Node’s own list of authorities holds', () => {
    expect(rootCertificates.length).toBeGreaterThan(100);
    for (const pem of rootCertificates) expect(authorityFault(btoa(pem))).toBeUndefined();
  });

  it('has the public key that its hash for kubeadm is of', () => {
    for (const pem of [exampleAuthorityPem, ...rootCertificates]) {
      const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
      expect(Buffer.from(publicKeyInfo(btoa(pem))).toString('hex')).toBe(key.toString('hex'));
    }
  });

  it.each([
    ['nothing', '', 'is empty'],
    ['no base64', '%%%', 'is no base64'],
    ['a word', btoa('certificateAuthority'), 'not of a PEM certificate'],
    ['a frame around nothing', btoa(frame('')), 'does not decode|no X.509'],
    ['a frame around no base64', btoa(frame('MII=A')), 'does not decode'],
    [
      'a frame without its end',
      btoa(exampleAuthorityPem.split('-----END')[0] ?? ''),
      'does not decode',
    ],
    ['what only begins as one does', ofBytes(0x30, 0x82, 0x01, 0x00, 0, 0), 'no X.509 certificate'],
    [
      'sequences without anything',
      ofBytes(0x30, 0x06, 0x30, 0, 0x30, 0, 0x03, 0),
      'no X.509 certificate',
    ],
    ['bytes after it', ofBytes(...der, 0x30, 0), 'no X.509 certificate'],
    ['its first half', ofBytes(...der.subarray(0, 128)), 'no X.509 certificate'],
    ['one that is none among others', btoa(exampleAuthorityPem + frame('MIIBAAAA')), 'no X.509'],
  ])('is not %s', (_what, text, fault) => {
    expect(authorityFault(text)).toMatch(new RegExp(fault));
  });

  it('cut anywhere is none', () => {
    for (let length = 0; length < der.length; length += 1) {
      expect(authorityFault(ofBytes(...der.subarray(0, length)))).toBeDefined();
    }
  });

  it('of any bytes is judged without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(authorityFault(ofBytes(...bytes))).toBeDefined();
      }),
    );
  });

  it('of a mebibyte of blanks is judged at once', () => {
    const before = performance.now();
    const text = `-----BEGIN CERTIFICATE-----${' '.repeat(1 << 20)}`;
    expect(authorityFault(btoa(text))).toBeDefined();
    expect(performance.now() - before).toBeLessThan(2000);
  });
});
