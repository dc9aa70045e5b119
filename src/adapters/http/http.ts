// The Http port on undici. What a name resolves to is looked at when the connection is made, so that a name that
// changes its address between two looks gains nothing. Follows no redirect and keeps no connection.
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { Agent, request } from 'undici';
import { type Http, HttpError } from '../../ports/index.ts';

/** Instance metadata of every cloud, in both families, and what maps to them. */
const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');
linkLocal.addAddress('fd00:ec2::254', 'ipv6');

/** A probe wants the status; more than this of a body is not even received. */
const maxBodyBytes = 64 * 1024;

const mayCall = (address: string): boolean => {
  const family = isIP(address);
  return !linkLocal.check(address, family === 6 ? 'ipv6' : 'ipv4');
};

const notAllowed = (url: string, why: string): HttpError =>
  new HttpError('NotAllowed', `${url} may not be called: ${why}`);

type Answer = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** As dns.lookup, without the addresses that nobody may call. */
const guardedLookup = (name: string, options: object, answer: Answer): void => {
  lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return answer(error, []);
    const refused = addresses.find(({ address }) => !mayCall(address));
    if (refused !== undefined) {
      return answer(notAllowed(name, `${refused.address} is link-local`), []);
    }
    const isAll = 'all' in options && options.all === true;
    const [first] = addresses;
    if (isAll || first === undefined) return answer(null, addresses);
    answer(null, first.address, first.family);
  });
};

const targetOf = (url: string): URL => {
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
  if (isIP(host) !== 0 && !mayCall(host)) throw notAllowed(url, `${host} is link-local`);
  return target;
};

const errorOf = (error: unknown, url: string): HttpError => {
  if (error instanceof HttpError) return error;
  const { name, code, message } =
    error instanceof Error
      ? { code: undefined, ...error, name: error.name, message: error.message }
      : { name: '', code: undefined, message: String(error) };
  const isLate = /Timeout/.test(name) || String(code).includes('TIMEOUT');
  if (isLate) return new HttpError('Timeout', `no answer from ${url} in time`, { cause: error });
  return new HttpError('Unreachable', `no answer from ${url}: ${message}`, { cause: error });
};

export const createHttp = (): Http => ({
  async get(url, { timeoutMs, signal }) {
    const target = targetOf(url);
    const agent = new Agent({
      connect: { lookup: guardedLookup, timeout: timeoutMs },
      maxResponseSize: maxBodyBytes,
      pipelining: 0,
    });
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode, body } = await request(target, {
        dispatcher: agent,
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
        headers: { 'user-agent': 'drover' },
      });
      // Its end, or its being too long, says nothing about health.
      body.on('error', () => {});
      body.destroy();
      return { status: statusCode };
    } catch (error) {
      throw errorOf(error, url);
    } finally {
      void agent.destroy().catch(() => {});
    }
  },
});
