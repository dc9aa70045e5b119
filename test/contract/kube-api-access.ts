// Contract cases: service account tokens, certificate requests, and pods that every API server
// refuses.

import assert from 'node:assert/strict';
import { fence, leaderIdentity } from '../../src/api/controller-fence.ts';
import { controllerRules } from '../../src/api/controller-rights.ts';
import { defined } from '../../src/api/defined.ts';
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
  'mounts the token of its account in every container of a pod, unless it is told not to': async (
    env,
  ) => {
    const namespace = await env.namespace();
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
    const own = { name: 'x', mountPath: '/x' };
    const containers = [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'x', volumeMounts: [own] },
    ];
    const volumes = [{ name: 'x', emptyDir: {} }];
    const create = (more: JsonObject): Promise<RawAnswer> =>
      env.raw('POST', `${path}?dryRun=All`, {
        body: { metadata: { name: 'p' }, spec: { containers, volumes, ...more } },
      });
    const made = await eventually('the account', async () => {
      const answer = await create({ initContainers: [{ name: 'i', image: 'x' }] });
      return answer.code === 201 ? answer : undefined;
    });
    const spec = made.body.spec as JsonObject;
    const [, volume] = spec.volumes as readonly JsonObject[];
    assert.match(String(volume?.name), /^kube-api-access-[a-z0-9]{5}$/);
    assert.deepEqual(volume?.projected, {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [
              {
                path: 'namespace',
                fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
              },
            ],
          },
        },
      ],
    });
    const mount = { mountPath, name: volume?.name, readOnly: true };
    const all = [...(spec.initContainers as JsonObject[]), ...(spec.containers as JsonObject[])];
    assert.deepEqual(
      all.map(({ volumeMounts }) => volumeMounts),
      [[mount], [mount], [own, mount]],
    );
    const none = (await create({ automountServiceAccountToken: false })).body.spec as JsonObject;
    assert.deepEqual(none.volumes, volumes);
    await env.raw('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
      body: { metadata: { name: 'quiet' }, automountServiceAccountToken: false },
    });
    const quiet = await eventually('the account quiet', async () => {
      const answer = await create({ serviceAccountName: 'quiet' });
      return answer.code === 201 ? (answer.body.spec as JsonObject) : undefined;
    });
    assert.deepEqual(quiet.volumes, volumes);
    assert.equal(
      (await create({ serviceAccountName: 'nobody' })).body.message,
      `pods "p" is forbidden: error looking up service account ${namespace}/nobody: ` +
        'serviceaccount "nobody" not found',
    );
  },

  'lets the active deadline of a pod come nearer only': async (env) => {
    const namespace = await env.namespace();
    await env.pod(namespace, 'p', 'pending');
    const path = `/api/v1/namespaces/${namespace}/pods/p`;
    const set = async (activeDeadlineSeconds: number | null): Promise<unknown> => {
      const body = { spec: { activeDeadlineSeconds } };
      const contentType = 'application/merge-patch+json';
      const answer = await env.raw('PATCH', path, { body, contentType });
      return answer.code === 200 ? 200 : answer.body.message;
    };
    const words = 'Pod "p" is invalid: spec.activeDeadlineSeconds: Invalid value: ';
    assert.match(String(await set(0)), /^Pod "p" is invalid: .*must be between 1 and 2147483647/);
    assert.equal(await set(60), 200);
    assert.equal(await set(30), 200);
    assert.equal(await set(31), `${words}31: must be less than or equal to previous value`);
    assert.match(String(await set(null)), /must not update from a positive integer to nil value/);
  },

  'reviews a token: whose it is and for whom it is meant': async (env) => {
    const { namespace, path } = await account(env);
    const review = (spec: JsonObject): Promise<RawAnswer> =>
      env.raw('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: { spec } });
    const token = tokenOf(await tokenFor(env, path, { audiences: ['vault', 'other'] }));
    const found = await review({ token, audiences: ['vault', 'unknown'] });
    assert.equal(found.code, 201);
    const { user, audiences, authenticated } = found.body.status as JsonObject;
    const { username, groups } = user as JsonObject;
    assert.deepEqual([authenticated, audiences], [true, ['vault']]);
    assert.equal(username, `system:serviceaccount:${namespace}:robot`);
    assert.deepEqual(groups, [
      'system:serviceaccounts',
      `system:serviceaccounts:${namespace}`,
      'system:authenticated',
    ]);
    const elsewhere = (await review({ token, audiences: ['unknown'] })).body.status as JsonObject;
    assert.equal(elsewhere.authenticated, undefined);
    assert.match(String(elsewhere.error), /is invalid for the target audiences \["unknown"\]/);
    const { status } = (await review({ token: 'nonsense' })).body;
    assert.deepEqual(status, { user: {}, error: 'invalid bearer token' });
    const none = await review({});
    assert.equal(none.code, 400);
    assert.equal(none.body.message, 'token is required for TokenReview in authentication');
  },

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

  'a leader that was paused writes nothing after a takeover: the fence of deploy/ refuses it':
    async (env) => {
      const namespace = await env.namespace();
      const name = env.unique('fence');
      const own = { namespace, name: 'robot' };
      const lease = { namespace, name: 'leader' };
      const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
      const make = async (path: string, body: JsonObject): Promise<JsonObject> => {
        const made = await env.raw('POST', path, { body });
        assert.equal(made.code, 201, JSON.stringify(made.body));
        return made.body;
      };
      await make(accounts, { metadata: { name: own.name } });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
      const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrole';
      await make(`${bindings}s`, { metadata: { name }, rules: controllerRules });
      const subjects = [{ kind: 'ServiceAccount', ...own }];
      await make(`${bindings}bindings`, { metadata: { name }, roleRef, subjects });
      const tokenOfPod = async (pod: string): Promise<string> => {
        const spec = { serviceAccountName: own.name, containers: [{ name: 'c', image: 'x' }] };
        await make(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name: pod }, spec });
        const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: pod };
        return tokenOf(await tokenFor(env, `${accounts}/${own.name}`, { boundObjectRef }));
      };
      const [first, second] = [await tokenOfPod('a'), await tokenOfPod('a-b')];
      const unbound = tokenOf(await tokenFor(env, `${accounts}/${own.name}`, {}));
      const led = (pod: string): JsonObject => ({
        metadata: { name: lease.name },
        spec: { holderIdentity: leaderIdentity(pod, '1'), leaseDurationSeconds: 15 },
      });
      await make(leases, led('a'));
      const [policy, binding] = fence({ name, account: own, lease });
      const registration = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
      await make(`${registration}ies`, policy ?? {});
      await make(`${registration}ybindings`, binding ?? {});

      const node = env.unique('fenced');
      await make('/api/v1/nodes', { metadata: { name: node } });
      await env.pod(namespace, 'victim');
      const evict = (token?: string): Promise<RawAnswer> =>
        env.raw('POST', `/api/v1/namespaces/${namespace}/pods/victim/eviction?dryRun=All`, {
          body: { metadata: { name: 'victim' } },
          ...defined({ token }),
        });
      const mark = (token: string): Promise<RawAnswer> =>
        env.raw('PATCH', `/api/v1/nodes/${node}`, {
          contentType: 'application/merge-patch+json',
          body: { spec: { unschedulable: true } },
          token,
        });
      const refusal = (pod: string, holder: string): string =>
        `denied request: pod ${pod} does not lead: Lease ${namespace}/leader is held by '${holder}_1'`;
      const until = (what: string, is: (answer: RawAnswer) => boolean, token: string) =>
        eventually(what, async () => {
          const answer = await evict(token);
          return is(answer) ? answer : undefined;
        });
      // The policy is in force once it refuses a pod that is not the leader's; it also refuses a
      // token without a pod.
      const stranger = await until('the fence to be in force', ({ code }) => code === 403, second);
      assert.ok(
        String(stranger.body.message).endsWith(refusal('a-b', 'a')),
        String(stranger.body.message),
      );
      assert.match(String((await evict(unbound)).body.message), /is not bound to a pod/);
      assert.equal((await evict(first)).code, 201);
      assert.equal((await mark(first)).code, 200);
      assert.equal((await evict()).code, 201, 'nobody else is fenced');

      const taken = { contentType: 'application/merge-patch+json', body: led('a-b') };
      assert.equal((await env.raw('PATCH', `${leases}/leader`, taken)).code, 200);
      await until('the takeover to be known', ({ code }) => code === 403, first);
      for (const late of [await evict(first), await mark(first)]) {
        assert.equal(late.code, 403);
        assert.equal(late.body.reason, 'Forbidden');
        assert.ok(String(late.body.message).endsWith(refusal('a', 'a-b')));
      }
      assert.equal((await evict(second)).code, 201);
      assert.equal((await mark(second)).code, 200);
      await env.raw('DELETE', `${registration}ybindings/${name}`);
      await env.raw('DELETE', `${registration}ies/${name}`);
    },
};

export const accessCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
