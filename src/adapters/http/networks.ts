// Networks that a call may have to avoid, as IANA's registries list them, and the IPv4 addresses
// that an IPv6 address stands for. Makes no calls and decides nothing.
import {
  type Address,
  isIn,
  type Network,
  parseAddress,
  parseNetwork,
} from '../../api/addresses.ts';

const networks = (...texts: readonly string[]): readonly Network[] =>
  texts.map((text) => {
    const network = parseNetwork(text);
    if (network === undefined) throw new Error(`${text} is not a network`);
    return network;
  });

const isInOne = (list: readonly Network[], address: Address): boolean =>
  list.some((network) => isIn(network, address));

/** Instance metadata of every cloud, in both families. */
export const linkLocal = networks('169.254.0.0/16', 'fe80::/10');

/**
 * IPv6 addresses of EC2's metadata service and of EKS Pod Identity; Alibaba Cloud's metadata
 * service.
 */
export const metadata = networks('fd00:ec2::/32', '100.100.100.200/32');

/** The unspecified address also reaches this machine. */
export const loopback = networks('127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128');

/**
 * Not on the internet: https://www.iana.org/assignments/iana-ipv4-special-registry, all rows, and
 * multicast. Anycast services of the registry that are reachable (AS112, AMT) take no webhooks.
 */
const specialIpv4 = networks(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
);

/** All global unicast addresses that IANA has allocated so far. */
const globalIpv6 = networks('2000::/3');
/** https://www.iana.org/assignments/iana-ipv6-special-registry: its rows within 2000::/3. */
const specialIpv6 = networks(
  ...['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'],
);

/** NAT64 prefixes: the well-known one (RFC 6052) and the one for local use (RFC 8215). */
const nat64 = networks('64:ff9b::/96');
const localNat64 = networks('64:ff9b:1::/48');
const mapped = networks('::ffff:0:0/96');
/** IPv4-compatible (deprecated), and IPv4-translated (SIIT, RFC 2765). */
const compatible = networks('::/96', '::ffff:0:0:0/96');
const sixToFour = networks('2002::/16');

const bitsOf = (bits: bigint, from: number, count: number): bigint =>
  (bits >> BigInt(128 - from - count)) & ((1n << BigInt(count)) - 1n);

/** RFC 6052, 2.2: where the IPv4 address stands; bits 64 to 71 are zero. */
const nat64Layouts: readonly (readonly (readonly [from: number, count: number])[])[] = [
  [[96, 32]],
  [
    [48, 16],
    [72, 16],
  ],
  [
    [56, 8],
    [72, 24],
  ],
  [[72, 32]],
];

const ipv4 = (bits: bigint): Address => ({ version: 4, bits });

/** The IPv4 addresses at which a packet for this IPv6 address may arrive. */
const embeddedIpv4 = (address: Address): readonly Address[] => {
  const { version, bits } = address;
  if (version === 4) return [];
  if (isInOne([...mapped, ...compatible, ...nat64], address)) return [ipv4(bitsOf(bits, 96, 32))];
  if (isInOne(sixToFour, address)) return [ipv4(bitsOf(bits, 16, 32))];
  if (!isInOne(localNat64, address)) return [];
  return nat64Layouts.map((parts) =>
    ipv4(
      parts.reduce((sum, [from, count]) => (sum << BigInt(count)) | bitsOf(bits, from, count), 0n),
    ),
  );
};

/**
 * Whether a call to the address may reach one of the networks. An address with a zone
 * (`fe80::1%eth0`) counts as inside every network.
 */
export const reaches = (list: readonly Network[], text: string): boolean => {
  const address = parseAddress(text);
  if (address === undefined) return true;
  return [address, ...embeddedIpv4(address)].some((one) => isInOne(list, one));
};

/** Whether the address is one of the public internet. */
export const isPublic = (text: string): boolean => {
  const address = parseAddress(text);
  if (address === undefined) return false;
  if (address.version === 4) return !isInOne(specialIpv4, address);
  if (isInOne([...nat64, ...mapped], address)) {
    return embeddedIpv4(address).every((one) => !isInOne(specialIpv4, one));
  }
  return isInOne(globalIpv6, address) && !isInOne(specialIpv6, address);
};
