// Whether a cluster's certificate authority is one: base64 of PEM of a DER certificate. Looks at the
// outside of the certificate only, never verifies a signature.
import { isBase64 } from '../user-data/node-config.ts';

const begin = '-----BEGIN CERTIFICATE-----';
const pem = /-----BEGIN CERTIFICATE-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----/;

/** A sentence about what is not there; undefined: it is a certificate as far as that can be seen. */
export const authorityFault = (base64: string): string | undefined => {
  const compact = base64.replaceAll(/\s/g, '');
  if (compact === '') return 'is empty';
  if (!isBase64(compact)) return 'is no base64 that decodes';
  const text = atob(compact);
  if (!text.includes(begin)) {
    const start = JSON.stringify(text.slice(0, 24).replaceAll(/[^\x20-\x7e]/g, '?'));
    return `is base64 of ${start}, not of a PEM certificate`;
  }
  const body = pem.exec(text)?.[1]?.replaceAll(/\s/g, '');
  if (body === undefined || !isBase64(body)) return 'is PEM whose certificate does not decode';
  const der = atob(body);
  const isSequence = der.charCodeAt(0) === 0x30 && der.charCodeAt(1) >= 0x80;
  return isSequence ? undefined : 'is PEM of something that is no X.509 certificate';
};
