// Encodes deterministic certificate requests for simulated kubelets and tests. Key and signature
// are not real; only a real API server verifies them. Never used by the product.

const element = (tag: number, ...parts: readonly Uint8Array[]): Uint8Array => {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  const bytes = new Uint8Array(head.length + length);
  bytes.set(head);
  let at = head.length;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

const hex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const oid = (text: string): Uint8Array => element(0x06, hex(text));
const sequence = (...parts: readonly Uint8Array[]): Uint8Array => element(0x30, ...parts);
const attribute = (type: string, value: string): Uint8Array =>
  element(0x31, sequence(oid(type), element(0x0c, utf8(value))));

export interface WantedRequest {
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  /** IPv4. */
  readonly ipAddresses?: readonly string[];
  /** DNS names in a second list after the first, which no kubelet creates. */
  readonly more?: readonly string[];
}

/** For organization system:nodes, with a P-256 key; as PEM. */
export const aRequest = ({
  commonName,
  dnsNames = [],
  ipAddresses = [],
  more = [],
}: WantedRequest): string => {
  const subject = sequence(attribute('55040a', 'system:nodes'), attribute('550403', commonName));
  const algorithm = sequence(oid('2a8648ce3d0201'), oid('2a8648ce3d030107'));
  const bits = element(0x03, new Uint8Array(66).fill(4, 1, 2));
  const names = sequence(
    ...dnsNames.map((name) => element(0x82, utf8(name))),
    ...ipAddresses.map((one) => element(0x87, Uint8Array.from(one.split('.'), Number))),
  );
  const list = (value: Uint8Array) => sequence(oid('551d11'), element(0x04, value));
  const second = sequence(...more.map((name) => element(0x82, utf8(name))));
  const extensions = sequence(list(names), ...(more.length === 0 ? [] : [list(second)]));
  const asked = sequence(oid('2a864886f70d01090e'), element(0x31, extensions));
  const info = sequence(
    element(0x02, Uint8Array.of(0)),
    subject,
    sequence(algorithm, bits),
    element(0xa0, ...(dnsNames.length + ipAddresses.length === 0 ? [] : [asked])),
  );
  const whole = sequence(info, sequence(oid('2a8648ce3d040302')), element(0x03, new Uint8Array(9)));
  const lines = btoa(String.fromCharCode(...whole)).match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
};
