// Leaves authentication with a token endpoint (`auth-provider`, OIDC) to @kubernetes/client-node,
// loaded only on demand: its import costs 0.4 s and 78 MB. Never used for exec plugins,
// certificates and tokens.
import { defined } from '../../api/defined.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import type { Authenticator, Authorization } from './auth.ts';

const text = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString('utf8') : undefined;
};

const authorizationFrom = (options: {
  readonly headers: unknown;
  readonly cert: unknown;
  readonly key: unknown;
}): Authorization => {
  const header = text(objectOr(options.headers).Authorization);
  const certificate = text(options.cert);
  const key = text(options.key);
  return {
    ...defined({ header }),
    ...(certificate === undefined || key === undefined
      ? {}
      : { certificate: { certificate, key } }),
  };
};

/** `user`: the kubeconfig's entry with absolute paths. */
export const externalAuthenticator = (entries: {
  readonly server: string;
  readonly user: JsonObject;
}): Authenticator => {
  const load = async () => {
    const { KubeConfig } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    config.loadFromString(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'cluster', cluster: { server: entries.server } }],
        users: [{ name: 'user', user: entries.user }],
        contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
        'current-context': 'context',
      }),
    );
    return config;
  };
  let loading: ReturnType<typeof load> | undefined;
  return {
    current: async () => {
      loading ??= load();
      const config = await loading;
      // Caches the answer until it expires.
      const options: { headers?: unknown; cert?: unknown; key?: unknown } = {};
      await config.applyToHTTPSOptions(options as Parameters<typeof config.applyToHTTPSOptions>[0]);
      return authorizationFrom({
        headers: options.headers,
        cert: options.cert,
        key: options.key,
      });
    },
    renew: () => {
      loading = undefined;
      return true;
    },
  };
};
