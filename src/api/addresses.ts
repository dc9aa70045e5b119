// IP addresses and networks (CIDR): parsed from text like Go's netip, which nodeadm and the kubelet
// use (no leading zeros, no zone), and as numbers. Never calls a resolver.

export interface Address {
  readonly version: 4 | 6;
  readonly bits: bigint;
}

export interface Network extends Address {
  /** Length of the prefix, bits. */
  readonly length: number;
}

const ipv4Part = /^(?:0|[1-9]\d{0,2})$/;

/** The address as a number below 2^32; undefined for a text that is not an IPv4 address. */
export const ipv4Number = (text: string): number | undefined => {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let number = 0;
  for (const part of parts) {
    if (!ipv4Part.test(part) || Number(part) > 255) return undefined;
    number = number * 256 + Number(part);
  }
  return number;
};

export const ipv4Text = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

/** The 16-bit groups on one side of `::`; undefined if one of them is not valid. */
const groupsIn = (side: string, mayEndAsIpv4: boolean): readonly bigint[] | undefined => {
  if (side === '') return [];
  const groups: bigint[] = [];
  const parts = side.split(':');
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else {
      const isLast = mayEndAsIpv4 && index === parts.length - 1;
      const ipv4 = isLast ? ipv4Number(part) : undefined;
      if (ipv4 === undefined) return undefined;
      groups.push(BigInt(Math.floor(ipv4 / 65_536)), BigInt(ipv4 % 65_536));
    }
  }
  return groups;
};

const ipv6Bits = (text: string): bigint | undefined => {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0 || !text.includes(':')) return undefined;
  const left = groupsIn(head, tail === undefined);
  const right = groupsIn(tail ?? '', true);
  if (left === undefined || right === undefined) return undefined;
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...left, ...Array<bigint>(missing).fill(0n), ...right];
  return groups.reduce((bits, group) => bits * 65_536n + group, 0n);
};

/** The longest text of an address has 45 characters. */
const longestText = 60;

/** Undefined for a text that is not an address. */
export const parseAddress = (text: string): Address | undefined => {
  if (text.length > longestText) return undefined;
  const ipv4 = ipv4Number(text);
  if (ipv4 !== undefined) return { version: 4, bits: BigInt(ipv4) };
  const bits = ipv6Bits(text);
  return bits === undefined ? undefined : { version: 6, bits };
};

const widthOf = ({ version }: Pick<Address, 'version'>): number => (version === 4 ? 32 : 128);

/** `10.0.0.0/8`; undefined for a text that is not a network. */
export const parseNetwork = (text: string): Network | undefined => {
  const [, first = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseAddress(first);
  if (address === undefined || Number(bits) > widthOf(address)) return undefined;
  return { ...address, length: Number(bits) };
};

/** The first bits of an address, equal for all addresses of one network of that length. */
export const networkBits = (address: Address, length: number): bigint =>
  address.bits >> BigInt(widthOf(address) - length);

export const isIn = (network: Network, address: Address): boolean =>
  network.version === address.version &&
  networkBits(address, network.length) === networkBits(network, network.length);

export const isAddress = (text: string): boolean => parseAddress(text) !== undefined;

/** The prefix length must not have leading zeros either. */
export const isCidr = (text: string): boolean =>
  parseNetwork(text) !== undefined && !/\/0\d/.test(text);

/** Whether an IPv4 address is in the block; false for any other text. */
export const hasAddress = (cidr: string, address: string): boolean => {
  const [network, asked] = [parseNetwork(cidr), parseAddress(address)];
  if (network === undefined || asked?.version !== 4) return false;
  return isCidr(cidr) && isIn(network, asked);
};

/** First address as written, and number of addresses, of an IPv4 block. */
export const ipv4Block = (cidr: string): { readonly first: number; readonly size: number } => {
  const [address = '', bits = '32'] = cidr.split('/');
  return { first: ipv4Number(address) ?? 0, size: 2 ** (32 - Number(bits)) };
};

/** An IPv4 network with a prefix length in that range. */
export const isIpv4Block = (
  text: string,
  { shortest, longest }: { readonly shortest: number; readonly longest: number },
): boolean => {
  const network = isCidr(text) ? parseNetwork(text) : undefined;
  if (network?.version !== 4) return false;
  return network.length >= shortest && network.length <= longest;
};
