// Which addresses may be called: never those of cloud metadata and credentials (link-local, and a
// few others); loopback for a webhook only if this process was configured so. Makes no calls.
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { shownAddress } from '../../api/update-hooks.ts';
import { HttpError } from '../../ports/index.ts';

/**
 * Instance metadata of every cloud, in both families, and addresses that map to them (BlockList
 * handles ::ffff:0:0/96 itself).
 */
const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');
// The same through NAT64 (RFC 6052): with the well-known prefix, and with the local one (RFC 8215)
// as /96 and /48.
linkLocal.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
linkLocal.addSubnet('64:ff9b:1::a9fe:0', 112, 'ipv6');
linkLocal.addSubnet('64:ff9b:1:a9fe::', 64, 'ipv6');

/** Metadata addresses that are not link-local. */
const metadata = new BlockList();
// EC2's over IPv6: metadata, and EKS' credentials of pods.
metadata.addSubnet('fd00:ec2::', 32, 'ipv6');
// Alibaba Cloud's, with its NAT64 forms as above.
metadata.addAddress('100.100.100.200', 'ipv4');
metadata.addAddress('64:ff9b::6464:64c8', 'ipv6');
metadata.addAddress('64:ff9b:1::6464:64c8', 'ipv6');
metadata.addSubnet('64:ff9b:1:6464:64:c800::', 88, 'ipv6');

/** The unspecified address also reaches this machine. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addSubnet('0.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Networks that are not on the internet: RFC 1918, RFC 6598, RFC 4193, and their NAT64 forms. */
const privateNetworks = new BlockList();
for (const [network, bits, embedded] of [
  ['10.0.0.0', 8, '0a00'],
  ['172.16.0.0', 12, 'ac10'],
  ['192.168.0.0', 16, 'c0a8'],
  ['100.64.0.0', 10, '6440'],
] as const) {
  privateNetworks.addSubnet(network, bits, 'ipv4');
  privateNetworks.addSubnet(`64:ff9b::${embedded}:0`, 96 + bits, 'ipv6');
  privateNetworks.addSubnet(`64:ff9b:1::${embedded}:0`, 96 + bits, 'ipv6');
  privateNetworks.addSubnet(`64:ff9b:1:${embedded}::`, 48 + bits, 'ipv6');
}
privateNetworks.addSubnet('fc00::', 7, 'ipv6');

/** Why an address may not be called; undefined when it may. */
export type AddressRule = (address: string) => string | undefined;

/** For all callers: these addresses return the machine's credentials. */
export const notMetadata: AddressRule = (address) => {
  if (isIn(linkLocal, address)) return `${address} is link-local`;
  return isIn(metadata, address) ? `${address} is a cloud’s instance metadata` : undefined;
};

/** For a webhook: `http:` only to loopback, and loopback only if allowed. */
export const webhookRule =
  (options: {
    readonly allowLoopback: boolean;
    readonly isPlain: boolean;
    readonly isPublicOnly: boolean;
  }): AddressRule =>
  (address) => {
    const isLoopback = isIn(loopback, address);
    if (isLoopback && !options.allowLoopback) {
      return `${address} is loopback (allowed by --allow-loopback-webhooks)`;
    }
    if (options.isPlain && !isLoopback) return `it is not https, and ${address} is not loopback`;
    const isPrivate = options.isPublicOnly && isIn(privateNetworks, address);
    return isPrivate ? `${address} is private` : notMetadata(address);
  };

export const notAllowed = (url: string, why: string): HttpError =>
  new HttpError('NotAllowed', `${url} may not be called: ${why}`);

type Answer = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Like dns.lookup, but refuses a name that resolves to a forbidden address. */
export const guardedLookup =
  (rule: AddressRule) =>
  (name: string, options: object, answer: Answer): void => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return answer(error, []);
      for (const { address } of addresses) {
        const why = rule(address);
        if (why !== undefined) return answer(notAllowed(name, why), []);
      }
      const isAll = 'all' in options && options.all === true;
      const [first] = addresses;
      if (isAll || first === undefined) return answer(null, addresses);
      answer(null, first.address, first.family);
    });
  };

/** The parsed URL, if its own text allows the call. Throws HttpError. */
export const targetOf = (url: string, ruleFor: (target: URL) => AddressRule): URL => {
  let target: URL;
  try {
    target = new URL(url);
  } catch {
    throw notAllowed('the address', 'it is not a URL');
  }
  const { protocol, hostname } = target;
  const address = shownAddress(url);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw notAllowed(address, 'only http and https');
  }
  // The connection checks only names it looks up; a literal address is checked here.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const why = isIP(host) === 0 ? undefined : ruleFor(target)(host);
  if (why !== undefined) throw notAllowed(address, why);
  return target;
};
