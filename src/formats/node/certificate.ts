// Checks a cluster's certificate authority: base64 of PEM whose blocks are X.509 certificates, part
// by part. Never verifies signatures or validity periods.
import { type Element, elementsOf, encoded, MalformedDer } from '../der.ts';
import { isBase64 } from '../user-data/node-config.ts';

const begin = '-----BEGIN CERTIFICATE-----';
const block = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

const tags = { integer: 0x02, bits: 0x03, oid: 0x06, sequence: 0x30, version: 0xa0 } as const;
const times: ReadonlySet<number> = new Set([0x17, 0x18]);

const within = (element: Element | undefined): readonly Element[] =>
  element?.tag === tags.sequence ? elementsOf(element.value) : [];

const hasAlgorithm = (element: Element | undefined): boolean =>
  within(element)[0]?.tag === tags.oid;

const isName = (element: Element | undefined): boolean =>
  element?.tag === tags.sequence && elementsOf(element.value).every(({ tag }) => tag === 0x31);

const isKey = (element: Element | undefined): boolean => {
  const [algorithm, key, ...rest] = within(element);
  return hasAlgorithm(algorithm) && key?.tag === tags.bits && rest.length === 0;
};

/** TBSCertificate without its optional version. */
const signedParts = (whole: Element | undefined): readonly Element[] => {
  const parts = within(within(whole)[0]);
  return parts.slice(parts[0]?.tag === tags.version ? 1 : 0);
};

/** RFC 5280, 4.1: Certificate and TBSCertificate, in order. */
const isCertificate = (der: Uint8Array): boolean => {
  const [whole, ...after] = elementsOf(der);
  const [, algorithm, signature, ...more] = within(whole);
  if (after.length > 0 || more.length > 0) return false;
  if (!hasAlgorithm(algorithm) || signature?.tag !== tags.bits) return false;
  const [serial, inner, issuer, validity, subject, key] = signedParts(whole);
  const dates = within(validity);
  return (
    serial?.tag === tags.integer &&
    hasAlgorithm(inner) &&
    isName(issuer) &&
    dates.length === 2 &&
    dates.every(({ tag }) => times.has(tag)) &&
    isName(subject) &&
    isKey(key)
  );
};

const derOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

const faultOf = (base64: string): string | undefined => {
  if (!isBase64(base64)) return 'is PEM whose certificate does not decode';
  try {
    if (isCertificate(derOf(base64))) return undefined;
  } catch (error) {
    if (!(error instanceof MalformedDer)) throw error;
  }
  return 'is PEM of something that is no X.509 certificate';
};

/** A sentence about what is missing; undefined for one or more certificates. */
export const authorityFault = (base64: string): string | undefined => {
  const compact = base64.replaceAll(/\s/g, '');
  if (compact === '') return 'is empty';
  if (!isBase64(compact)) return 'is no base64 that decodes';
  const text = atob(compact);
  const wanted = text.split(begin).length - 1;
  if (wanted === 0) {
    const start = JSON.stringify(text.slice(0, 24).replaceAll(/[^\x20-\x7e]/g, '?'));
    return `is base64 of ${start}, not of a PEM certificate`;
  }
  const bodies = [...text.matchAll(block)].map(([, body = '']) => body.replaceAll(/\s/g, ''));
  if (bodies.length < wanted) return 'is PEM whose certificate does not decode';
  // A kubelet accepts all certificates of the file or none.
  return bodies.map(faultOf).find((fault) => fault !== undefined);
};

/**
 * The DER of the first certificate's SubjectPublicKeyInfo, of which kubeadm's
 * --discovery-token-ca-cert-hash is the SHA-256. `base64` must be a certificate authority without
 * an `authorityFault`.
 */
export const publicKeyInfo = (base64: string): Uint8Array => {
  const text = atob(base64.replaceAll(/\s/g, ''));
  const [, body = ''] = text.match(new RegExp(block.source)) ?? [];
  const key = signedParts(elementsOf(derOf(body.replaceAll(/\s/g, '')))[0])[5];
  if (key === undefined) throw new MalformedDer('no certificate is there');
  return encoded(key);
};
