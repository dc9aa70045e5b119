// Kinds of IP addresses, for the language's address functions.
import { isIn, parseAddress, parseNetwork } from '../../api/addresses.ts';
import type { Value } from './values.ts';

/** The value as an address; undefined when it is not one. */
export const addressOf = (value: Value): ReturnType<typeof parseAddress> =>
  typeof value === 'string' ? parseAddress(value) : undefined;

/** The value as a network; undefined when it is not one. */
export const networkOf = (value: Value): ReturnType<typeof parseNetwork> =>
  typeof value === 'string' ? parseNetwork(value) : undefined;

export const isInSubnet = (value: Value, subnet: Value): boolean => {
  const address = addressOf(value);
  const network = networkOf(subnet);
  return address !== undefined && network !== undefined && isIn(network, address);
};

const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];

/**
 * IANA's special-purpose registries, multicast and reserved ranges, without the private networks.
 */
const reservedNetworks = [
  ...['0.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '::/128', '::1/128', '::ffff:0:0/96', '64:ff9b:1::/48'],
  ...['100::/64', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16'],
  ...['fc00::/7', 'fe80::/10', 'ff00::/8'],
];

/**
 * Private by RFC 1918, reserved for other special purposes, or routable; undefined when not an
 * address.
 */
export const addressKind = (value: Value): 'private' | 'reserved' | 'public' | undefined => {
  if (addressOf(value) === undefined) return undefined;
  if (privateNetworks.some((network) => isInSubnet(value, network))) return 'private';
  return reservedNetworks.some((network) => isInSubnet(value, network)) ? 'reserved' : 'public';
};
