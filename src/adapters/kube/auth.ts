// Credentials for an API server, requested before each request: a fixed token, a token file that is
// re-read as it rotates, or an exec plugin. Never logs a secret, never sends anything.

import { readFile } from 'node:fs/promises';
import { defined } from '../../api/defined.ts';

export interface ClientCertificate {
  /** PEM. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

export interface Authorization {
  /** Value of the Authorization header. */
  readonly header?: string;
  /** Client certificate to connect with. */
  readonly certificate?: ClientCertificate;
}

export interface Authenticator {
  current(): Promise<Authorization>;
  /** Call after a 401: drops cached credentials. False when a retry cannot help. */
  renew(): boolean;
}

export const fixedAuthenticator = (authorization: Authorization): Authenticator => ({
  current: () => Promise.resolve(authorization),
  renew: () => false,
});

/** Bound tokens live an hour or more and are rotated at 80 %; client-go re-reads each minute. */
const rereadAfterMs = 60_000;

/** Bearer token from a file that is rotated externally (in-cluster service accounts). */
export const tokenFileAuthenticator = (
  path: string,
  certificate?: ClientCertificate,
): Authenticator => {
  let cached: { readonly authorization: Authorization; readonly readAt: number } | undefined;
  return {
    current: async () => {
      const now = performance.now();
      if (cached !== undefined && now - cached.readAt < rereadAfterMs) return cached.authorization;
      const token = (await readFile(path, 'utf8')).trim();
      const authorization: Authorization = {
        header: `Bearer ${token}`,
        ...defined({ certificate }),
      };
      cached = { authorization, readAt: now };
      return authorization;
    },
    renew: () => {
      cached = undefined;
      return true;
    },
  };
};
