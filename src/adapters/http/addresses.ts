// Which addresses may be called: never those of cloud metadata and credentials (link-local, and a
// few others); loopback for a webhook only if this process was configured so. Makes no calls.
import { type LookupAddress, lookup } from 'node:dns';
import { isIP } from 'node:net';
import { shownAddress } from '../../api/update-hooks.ts';
import { HttpError } from '../../ports/index.ts';
import { isPublic, linkLocal, loopback, metadata, reaches } from './networks.ts';

/** Why an address may not be called; undefined when it may. */
export type AddressRule = (address: string) => string | undefined;

/** Refuses, for every caller, the addresses that return the machine's credentials. */
export const notMetadata: AddressRule = (address) => {
  if (reaches(linkLocal, address)) return `${address} is link-local`;
  return reaches(metadata, address) ? `${address} is a cloud’s instance metadata` : undefined;
};

/** For a webhook: `http:` only to loopback, and loopback only if allowed. */
export const webhookRule =
  (options: {
    readonly allowLoopback: boolean;
    readonly isPlain: boolean;
    readonly isPublicOnly: boolean;
  }): AddressRule =>
  (address) => {
    const isLoopback = reaches(loopback, address);
    if (isLoopback && !options.allowLoopback) {
      return `${address} is loopback (allowed by --allow-loopback-webhooks)`;
    }
    if (options.isPlain && !isLoopback) return `it is not https, and ${address} is not loopback`;
    const why = notMetadata(address);
    if (why !== undefined || isLoopback) return why;
    return options.isPublicOnly && !isPublic(address) ? `${address} is not public` : undefined;
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
