// Pages of a list with an opaque token. The token names the next item, so that items added or
// removed meanwhile never repeat or hide another. Keeps no state of a caller.
import type { AwsError } from '../../src/aws-wire/index.ts';
import { refuse } from './scope.ts';

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken?: string;
}

const tokenPrefix = 'drover:';

/** `keyOf` is unique per item; throws `invalid` for an unknown token. */
export const pageOf = <T>(
  all: readonly T[],
  request: {
    readonly max: number;
    readonly token: string | undefined;
    readonly keyOf: (item: T) => string;
    readonly invalid: () => AwsError;
  },
): Page<T> => {
  const start = request.token === undefined ? 0 : startOf(all, request.token, request);
  const items = all.slice(start, start + request.max);
  const next = all[start + request.max];
  if (next === undefined) return { items };
  return { items, nextToken: encodeToken(`${start + request.max}:${request.keyOf(next)}`) };
};

const encodeToken = (text: string): string => btoa(encodeURIComponent(tokenPrefix + text));

const startOf = <T>(
  all: readonly T[],
  token: string,
  request: { readonly keyOf: (item: T) => string; readonly invalid: () => AwsError },
): number => {
  let text: string;
  try {
    text = decodeURIComponent(atob(token));
  } catch {
    throw request.invalid();
  }
  const match = /^drover:(\d+):(.*)$/s.exec(text);
  if (match === null) throw request.invalid();
  const found = all.findIndex((item) => request.keyOf(item) === match[2]);
  return found === -1 ? Math.min(Number(match[1]), all.length) : found;
};

/** The error code of Auto Scaling and SSM for an invalid token. */
export const invalidNextToken = (): AwsError =>
  refuse('InvalidNextToken', 'The specified token is invalid');
