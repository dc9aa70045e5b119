// Contract cases: tokens of accounts, certificate requests, and pods that no API server lets in.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import { requestCertificate } from '../support/certificates.ts';
import type { RawAnswer } from '../support/kube-raw.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

const account = async (env: ContractEnv): Promise<{ namespace: string; path: string }> => {
  const namespace = await env.namespace();
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await env.raw('POST', path, { body: { metadata: { name: 'robot' } } });
  return { namespace, path: `${path}/robot` };
};

const tokenFor = (env: ContractEnv, path: string, spec: JsonObject): Promise<RawAnswer> =>
  env.raw('POST', `${path}/token`, { body: { spec } });

const tokenOf = ({ body }: RawAnswer): string =>
  String((body.status as { readonly token?: string } | undefined)?.token);

const whoami = (env: ContractEnv, token: string): Promise<RawAnswer> =>
  env.raw('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { token, body: {} });

const csrOf = (env: ContractEnv, request: string, more: JsonObject = {}): Promise<RawAnswer> =>
  env.raw('POST', csrs, {
    body: {
      metadata: { name: env.unique('csr') },
      spec: {
        request: btoa(request),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
        ...more,
      },
    },
  });

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'gives an account a token that says whose it is, and lets it in while the account is there':
    async (env) => {
      const { namespace, path } = await account(env);
      const made = await tokenFor(env, path, { expirationSeconds: 600 });
      assert.equal(made.code, 201);
      const token = tokenOf(made);
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      assert.equal(claims.sub, `system:serviceaccount:${namespace}:robot`);
      assert.equal(claims.exp - claims.iat, 600);
      assert.equal(claims['kubernetes.io'].serviceaccount.name, 'robot');
      const { userInfo } = (await whoami(env, token)).body.status as { userInfo: JsonObject };
      assert.equal(userInfo.username, `system:serviceaccount:${namespace}:robot`);
      assert.deepEqual(userInfo.groups, [
        'system:serviceaccounts',
        `system:serviceaccounts:${namespace}`,
        'system:authenticated',
      ]);
      const changed = `${token.slice(0, -8)}${token.endsWith('AAAAAAAA') ? 'B' : 'A'.repeat(8)}`;
      assert.equal((await whoami(env, changed)).code, 401);
      await env.raw('DELETE', path);
      await eventually('the token to be refused', async () =>
        (await whoami(env, token)).code === 401 ? true : undefined,
      );
    },

  'refuses tokens that are too short, for nobody, or for somebody else': async (env) => {
    const { path } = await account(env);
    const short = await tokenFor(env, path, { expirationSeconds: 300 });
    assert.equal(short.code, 422);
    assert.equal(
      short.body.message,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: ' +
        'Invalid value: 300: may not specify a duration less than 10 minutes',
    );
    assert.equal((await tokenFor(env, `${path}-twin`, {})).code, 404);
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'nowhere' };
    const bound = await tokenFor(env, path, { boundObjectRef });
    assert.equal(bound.body.message, 'pods "nowhere" not found');
    const vault = await tokenFor(env, path, { audiences: ['vault'] });
    assert.equal((await whoami(env, tokenOf(vault))).code, 401);
  },

  'refuses certificate requests that no signer of the cluster may serve': async (env) => {
    const { request } = await requestCertificate('CN=jane');
    const short = await csrOf(env, request, { expirationSeconds: 60 });
    assert.match(
      String(short.body.message),
      /spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 600 seconds/,
    );
    const junk = await csrOf(env, 'junk');
    assert.match(String(junk.body.message), /PEM block type must be CERTIFICATE REQUEST/);
    assert.equal((await csrOf(env, request, { usages: [] })).code, 422);
    assert.equal((await csrOf(env, request, { signerName: 'mine' })).code, 422);
    const masters = await requestCertificate('CN=root,O=system:masters');
    const refused = await csrOf(env, masters.request);
    assert.equal(refused.code, 403);
    assert.match(
      String(refused.body.message),
      /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed$/,
    );
  },

  'gives one port of the host to one container of a pod': async (env) => {
    const namespace = await env.namespace();
    const port = { containerPort: 80, hostPort: 8080 };
    const container = (name: string, ...ports: readonly JsonObject[]): JsonObject => ({
      name,
      image: 'x',
      ports,
    });
    const asked = (spec: JsonObject): Promise<RawAnswer> =>
      env.raw('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, {
        body: { metadata: { name: 'p' }, spec },
      });
    await eventually('pods to be let in', async () =>
      (await asked({ containers: [container('a', port)] })).code === 201 ? true : undefined,
    );
    const both = await asked({ containers: [container('a', port), container('b', port)] });
    assert.equal(
      both.body.message,
      'Pod "p" is invalid: spec.containers[1].ports[0].hostPort: ' + 'Duplicate value: "TCP//8080"',
    );
    const others = [
      { ...port, protocol: 'UDP' },
      { ...port, hostIP: '10.0.0.1' },
    ];
    const apart = await asked({ containers: [container('a', port), container('b', ...others)] });
    assert.equal(apart.code, 201, String(apart.body.message));
    const containers = [container('a', port)];
    const after = await asked({ containers, initContainers: [container('i', port)] });
    assert.equal(after.code, 201, String(after.body.message));
    const twice = await asked({ containers, initContainers: [container('i', port, port)] });
    assert.match(
      String(twice.body.message),
      /spec.initContainers\[0\].ports\[1\].hostPort: Duplicate value: "TCP\/\/8080"/,
    );
  },
};

export const accessCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
