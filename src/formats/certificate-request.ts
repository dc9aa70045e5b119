// Parses a PKCS #10 certificate request: its subject and the names it requests. Never verifies the
// signature, which the signer does.
import { type Element, elementsOf, hexOf, MalformedDer } from './der.ts';

export interface CertificateRequest {
  readonly commonName: string;
  readonly organisations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly key: RequestKey;
}

/** `other` has the algorithm's object identifier as hexadecimal text. */
export type RequestKey =
  | { readonly kind: 'rsa'; readonly bits: number }
  | { readonly kind: 'ec'; readonly bits: number }
  | { readonly kind: 'ed25519' }
  | { readonly kind: 'other'; readonly algorithm: string };

const tags = { sequence: 0x30, oid: 0x06, attributes: 0xa0, octets: 0x04 } as const;
/** Object identifiers, as the hexadecimal of their encoding. */
const oids = {
  commonName: '550403',
  organisation: '55040a',
  extensionRequest: '2a864886f70d01090e',
  subjectAltName: '551d11',
  rsa: '2a864886f70d010101',
  ec: '2a8648ce3d0201',
  ed25519: '2b6570',
} as const;
/** Tags of GeneralName's alternatives, context-specific and primitive. */
const generalNames = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const;

const text = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const valuesOf = (subject: Uint8Array, oid: string): readonly string[] =>
  elementsOf(subject)
    .flatMap((set) => elementsOf(set.value))
    .flatMap((pair) => {
      const [type, value] = elementsOf(pair.value);
      return type !== undefined && value !== undefined && hexOf(type.value) === oid
        ? [text(value.value)]
        : [];
    });

/**
 * All values of the requested extension, even if it occurs several times: readers differ in which
 * one they use.
 */
const extensionsOf = (attributes: Uint8Array, oid: string): readonly Uint8Array[] =>
  elementsOf(attributes)
    .map(({ value }) => elementsOf(value))
    .filter(([type]) => type !== undefined && hexOf(type.value) === oids.extensionRequest)
    .flatMap(([, set]) => elementsOf(set?.value ?? new Uint8Array()))
    .flatMap(({ value }) => elementsOf(value))
    .flatMap(({ value }) => {
      const parts = elementsOf(value);
      const isWanted = parts[0]?.tag === tags.oid && hexOf(parts[0].value) === oid;
      return isWanted ? parts.filter(({ tag }) => tag === tags.octets) : [];
    })
    .map(({ value }) => value);

const address = (bytes: Uint8Array): string => {
  if (bytes.length === 4) return [...bytes].join('.');
  const groups = hexOf(bytes).match(/.{4}/g) ?? [];
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
};

/** Key sizes of named curves, by identifier. */
const curves: Readonly<Record<string, number>> = {
  '2a8648ce3d030107': 256,
  '2b81040022': 384,
  '2b81040023': 521,
};

const keyOf = (publicKey: Element | undefined): RequestKey => {
  const [algorithm, bits] = elementsOf(publicKey?.value ?? new Uint8Array());
  const [type, parameter] = elementsOf(algorithm?.value ?? new Uint8Array());
  const name = hexOf(type?.value ?? new Uint8Array());
  if (name === oids.ed25519) return { kind: 'ed25519' };
  if (name === oids.ec) {
    return { kind: 'ec', bits: curves[hexOf(parameter?.value ?? new Uint8Array())] ?? 0 };
  }
  if (name !== oids.rsa) return { kind: 'other', algorithm: name };
  // A bit string starts with its number of unused bits; an integer that would read as negative
  // starts with a zero byte.
  const [numbers] = elementsOf(bits?.value.subarray(1) ?? new Uint8Array());
  const [modulus] = elementsOf(numbers?.value ?? new Uint8Array());
  const digits = hexOf(modulus?.value ?? new Uint8Array()).replace(/^(?:00)+/, '');
  return { kind: 'rsa', bits: digits.length * 4 };
};

/**
 * One PEM block at the start of a line; other text may surround it. Go's decoder, which signers
 * use, skips a block that does not start a line and takes the next one. The block that is checked
 * must be the one that is signed.
 */
const pemPattern =
  /^-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]*)-----END CERTIFICATE REQUEST-----[ \t\r]*$/m;

const derOf = (pem: string): Uint8Array => {
  if (!pem.includes('-----BEGIN CERTIFICATE REQUEST-----')) {
    throw new MalformedDer('PEM block type must be CERTIFICATE REQUEST');
  }
  const block = pem.split('-----BEGIN').length === 2 ? pemPattern.exec(pem) : null;
  if (block?.[1] === undefined) {
    throw new MalformedDer('it is not one PEM block of base64');
  }
  try {
    return Uint8Array.from(atob(block[1].replaceAll(/\s/g, '')), (char) => char.charCodeAt(0));
  } catch {
    throw new MalformedDer('the PEM block is not base64');
  }
};

export type ParsedRequest =
  | { readonly kind: 'ok'; readonly request: CertificateRequest }
  | { readonly kind: 'error'; readonly message: string };

/** `pem` as in spec.request, with its outer base64 decoded. */
export const parseCertificateRequest = (pem: string): ParsedRequest => {
  try {
    const [whole, ...rest] = elementsOf(derOf(pem));
    if (rest.length > 0) throw new MalformedDer('something follows the request');
    const [info] = elementsOf(whole?.value ?? new Uint8Array());
    const parts = info?.tag === tags.sequence ? elementsOf(info.value) : [];
    const [, subject, publicKey, attributes] = parts;
    if (subject?.tag !== tags.sequence) {
      throw new MalformedDer('it is not a certificate request');
    }
    const wanted =
      attributes?.tag === tags.attributes
        ? extensionsOf(attributes.value, oids.subjectAltName)
        : [];
    const names = wanted.flatMap((one) => elementsOf(elementsOf(one)[0]?.value ?? one));
    const named = (tag: number): readonly Uint8Array[] =>
      names.filter((name) => name.tag === tag).map(({ value }) => value);
    return {
      kind: 'ok',
      request: {
        commonName: valuesOf(subject.value, oids.commonName).at(-1) ?? '',
        organisations: valuesOf(subject.value, oids.organisation),
        dnsNames: named(generalNames.dns).map(text),
        ipAddresses: named(generalNames.ip).map(address),
        emailAddresses: named(generalNames.email).map(text),
        uris: named(generalNames.uri).map(text),
        key: keyOf(publicKey),
      },
    };
  } catch (error) {
    if (!(error instanceof MalformedDer)) throw error;
    return { kind: 'error', message: error.message };
  }
};
