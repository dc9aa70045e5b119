// Which addresses may be called: link-local ones, where clouds keep instance metadata and credentials, never;
// loopback for a webhook only where this process was told so. Calls nobody.
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { HttpError } from '../../ports/index.ts';

/** Instance metadata of every cloud, in both families, and what maps to them. */
const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');
// EC2's own over IPv6: metadata, and EKS' credentials of pods.
linkLocal.addSubnet('fd00:ec2::', 32, 'ipv6');

/** The unspecified address reaches this machine, too. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addSubnet('0.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Why an address may not be called; undefined = it may. */
export type AddressRule = (address: string) => string | undefined;

export const notLinkLocal: AddressRule = (address) =>
  isIn(linkLocal, address) ? `${address} is link-local` : undefined;

/** For a webhook: with `http:` loopback alone, and that only where it is allowed. */
export const webhookRule =
  (options: { readonly allowLoopback: boolean; readonly isPlain: boolean }): AddressRule =>
  (address) => {
    const isLoopback = isIn(loopback, address);
    if (isLoopback && !options.allowLoopback) {
      return `${address} is loopback (allowed by --allow-loopback-webhooks)`;
    }
    if (options.isPlain && !isLoopback) return `it is not https, and ${address} is not loopback`;
    return notLinkLocal(address);
  };

export const notAllowed = (url: string, why: string): HttpError =>
  new HttpError('NotAllowed', `${url} may not be called: ${why}`);

type Answer = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** As dns.lookup, refusing a name that leads to an address that may not be called. */
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

/** The URL, where it may be called as far as it says itself. Throws HttpError. */
export const targetOf = (url: string, ruleFor: (target: URL) => AddressRule): URL => {
  let target: URL;
  try {
    target = new URL(url);
  } catch {
    throw notAllowed(url, 'it is no URL');
  }
  const { protocol, hostname } = target;
  if (protocol !== 'http:' && protocol !== 'https:') throw notAllowed(url, 'only http and https');
  // The connection looks up names alone: an address is looked at here.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const why = isIP(host) === 0 ? undefined : ruleFor(target)(host);
  if (why !== undefined) throw notAllowed(url, why);
  return target;
};
