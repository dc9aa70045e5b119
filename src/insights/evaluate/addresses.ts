// IP addresses and subnets as numbers, for the language's functions about them.
import type { Value } from './values.ts';

export interface Address {
  readonly version: 4 | 6;
  readonly bits: bigint;
}

const parseV4 = (text: string): bigint | undefined => {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    if (!/^(?:0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = bits * 256n + BigInt(part);
  }
  return bits;
};

/** Groups of a half of an IPv6 address; undefined when one is none. */
const groupsOf = (text: string): readonly bigint[] | undefined => {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const v4 = index === parts.length - 1 && part.includes('.') ? parseV4(part) : undefined;
    if (v4 !== undefined) groups.push(v4 >> 16n, v4 & 0xffffn);
    else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
};

const parseV6 = (text: string): bigint | undefined => {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return undefined;
  const head = groupsOf(halves[0] ?? '');
  const tail = halves[1] === undefined ? [] : groupsOf(halves[1]);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array<bigint>(missing).fill(0n), ...tail];
  return groups.reduce((bits, group) => bits * 65_536n + group, 0n);
};

export const parseAddress = (value: Value): Address | undefined => {
  if (typeof value !== 'string' || value.length > 60) return undefined;
  const v4 = parseV4(value);
  if (v4 !== undefined) return { version: 4, bits: v4 };
  const v6 = parseV6(value);
  return v6 === undefined ? undefined : { version: 6, bits: v6 };
};

export interface Network extends Address {
  /** Of the prefix, bits. */
  readonly length: number;
}

/** `10.0.0.0/8`; undefined for a text that is no network. */
export const parseNetwork = (value: Value): Network | undefined => {
  const match = /^([^/]+)\/([0-9]{1,3})$/.exec(typeof value === 'string' ? value : '');
  const address = parseAddress(match?.[1]);
  const length = Number(match?.[2]);
  if (address === undefined || length > widthOf(address)) return undefined;
  return { ...address, length };
};

const widthOf = ({ version }: Address): number => (version === 4 ? 32 : 128);

/** The first bits of an address: equal for all in one network of that length. */
export const networkBits = (address: Address, length: number): bigint =>
  address.bits >> BigInt(widthOf(address) - length);

export const isInSubnet = (value: Value, subnet: Value): boolean => {
  const address = parseAddress(value);
  const network = parseNetwork(subnet);
  if (address === undefined || network === undefined || address.version !== network.version) {
    return false;
  }
  return networkBits(address, network.length) === networkBits(network, network.length);
};

const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];

/**
 * IANA's special-purpose registries, multicast and what is kept for later use, without the private
 * networks.
 */
const reservedNetworks = [
  ...['0.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '::/128', '::1/128', '::ffff:0:0/96', '64:ff9b:1::/48'],
  ...['100::/64', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16'],
  ...['fc00::/7', 'fe80::/10', 'ff00::/8'],
];

/**
 * Private by RFC 1918, reserved for other special purposes, or routable; undefined for no address.
 */
export const addressKind = (value: Value): 'private' | 'reserved' | 'public' | undefined => {
  if (parseAddress(value) === undefined) return undefined;
  if (privateNetworks.some((network) => isInSubnet(value, network))) return 'private';
  return reservedNetworks.some((network) => isInSubnet(value, network)) ? 'reserved' : 'public';
};
