// Parses `ip -j rule` and `ip -j route show table all`, as far as checks of the VPC CNI's routing
// need it.
import { isObject, type Json, objectOr } from '../../api/json.ts';
import { parseJson } from '../../api/parse-json.ts';

export interface RouteRule {
  readonly priority: number;
  readonly source: string;
  /** `all` when the rule has no destination. */
  readonly destination: string;
  /** `main`, `2` */
  readonly table: string;
}

export interface Route {
  readonly destination: string;
  readonly table: string;
}

const list = (text: string): readonly Json[] | undefined => {
  try {
    const value = parseJson(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise;

/** Undefined when the text is not the JSON of ip. */
export const parseRouteRules = (text: string): readonly RouteRule[] | undefined =>
  list(text)?.flatMap((one) => {
    const { priority, src, dst, table } = objectOr(one);
    if (!isObject(one) || typeof priority !== 'number') return [];
    const source = textOr(src, 'all');
    return [{ priority, source, destination: textOr(dst, 'all'), table: textOr(table, 'main') }];
  });

/** Undefined when the text is not the JSON of ip. */
export const parseRoutes = (text: string): readonly Route[] | undefined =>
  list(text)?.flatMap((one) => {
    const { dst, table } = objectOr(one);
    return typeof dst === 'string' ? [{ destination: dst, table: textOr(table, 'main') }] : [];
  });

/** Pod addresses in the checkpoint file of the VPC CNI's IPAM daemon. */
export const parsePodAddresses = (text: string): readonly string[] => {
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    return [];
  }
  const { allocations } = objectOr(value);
  if (!Array.isArray(allocations)) return [];
  return allocations.flatMap((one) => {
    const { ipv4, ipv6 } = objectOr(one);
    const address = textOr(ipv4, '') || textOr(ipv6, '');
    return address === '' ? [] : [address];
  });
};
