// Contract cases: who may do what: refusals and reviews, with roles of the case's own. Default roles
// such as `view` are not asked for: without an aggregating controller a real server leaves them empty.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import type { RawAnswer } from '../support/kube-raw.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';

const grant = async (
  env: ContractEnv,
  namespace: string,
  { rules, subjects }: { rules: readonly JsonObject[]; subjects: readonly JsonObject[] },
): Promise<void> => {
  const root = `${rbac}/namespaces/${namespace}`;
  const metadata = { name: 'r' };
  await env.raw('POST', `${root}/roles`, { body: { metadata, rules } });
  const roleRef = { apiGroup, kind: 'Role', name: 'r' };
  const made = await env.raw('POST', `${root}/rolebindings`, {
    body: { metadata, roleRef, subjects },
  });
  assert.equal(made.code, 201, JSON.stringify(made.body));
};

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'refuses whoever has no right, naming verb, resource and place': async (env) => {
    const namespace = await env.namespace();
    const as = env.unique('user');
    const said = async (method: string, path: string, body?: JsonObject): Promise<unknown> => {
      const answer = await env.raw(method, path, { as, ...(body === undefined ? {} : { body }) });
      assert.equal(answer.code, 403);
      assert.equal(answer.body.reason, 'Forbidden');
      return answer.body.message;
    };
    const root = `/api/v1/namespaces/${namespace}`;
    assert.equal(
      await said('GET', `${root}/configmaps`),
      `configmaps is forbidden: User "${as}" cannot list resource "configmaps" ` +
        `in API group "" in the namespace "${namespace}"`,
    );
    assert.equal(
      await said('GET', '/api/v1/nodes/n'),
      `nodes "n" is forbidden: User "${as}" cannot get resource "nodes" ` +
        'in API group "" at the cluster scope',
    );
    assert.equal(
      await said('POST', `${root}/pods/p/eviction`, { metadata: { name: 'p' } }),
      `pods "p" is forbidden: User "${as}" cannot create resource "pods/eviction" ` +
        `in API group "" in the namespace "${namespace}"`,
    );
    assert.equal(
      await said('DELETE', `${root}/pods`),
      `pods is forbidden: User "${as}" cannot deletecollection resource "pods" ` +
        `in API group "" in the namespace "${namespace}"`,
    );
  },

  'lets users, groups and accounts do what their roles say, and no more': async (env) => {
    const namespace = await env.namespace();
    const user = env.unique('user');
    const team = env.unique('team');
    await grant(env, namespace, {
      rules: [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
        { apiGroups: ['apps'], resources: ['*'], verbs: ['*'], resourceNames: ['d'] },
      ],
      subjects: [
        { kind: 'User', name: user, apiGroup },
        { kind: 'Group', name: team, apiGroup },
        { kind: 'ServiceAccount', name: 'robot', namespace },
      ],
    });
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    const list = (ask: { as: string; groups?: readonly string[] }): Promise<number> =>
      eventually('the role to hold', async () => {
        const { code } = await env.raw('GET', maps, ask);
        return code === 403 ? undefined : code;
      });
    assert.equal(await list({ as: user }), 200);
    assert.equal(await list({ as: 'somebody', groups: [team] }), 200);
    assert.equal(await list({ as: `system:serviceaccount:${namespace}:robot` }), 200);
    const create = await env.raw('POST', maps, { as: user, body: { metadata: { name: 'x' } } });
    assert.equal(create.code, 403);
    const apps = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    assert.equal((await env.raw('GET', `${apps}/d`, { as: user })).code, 404);
    assert.equal((await env.raw('GET', `${apps}/e`, { as: user })).code, 403);
  },

  'answers reviews with the binding that allows': async (env) => {
    const namespace = await env.namespace();
    const as = env.unique('user');
    const review = (resourceAttributes: JsonObject): Promise<RawAnswer> =>
      env.raw('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        as,
        body: { spec: { resourceAttributes } },
      });
    const asked = { namespace, verb: 'list', resource: 'configmaps' };
    assert.deepEqual((await review(asked)).body.status, { allowed: false });
    await grant(env, namespace, {
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
      subjects: [{ kind: 'User', name: as, apiGroup }],
    });
    const allowed = await eventually('the role to hold', async () => {
      const { status } = (await review(asked)).body as { status: JsonObject };
      return status.allowed === true ? status : undefined;
    });
    assert.equal(
      allowed.reason,
      `RBAC: allowed by RoleBinding "r/${namespace}" of Role "r" to User "${as}"`,
    );
    const { namespace: _, ...everywhere } = asked;
    assert.deepEqual((await review(everywhere)).body.status, { allowed: false });
    const who = await env.raw('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      as,
      groups: ['g'],
      body: {},
    });
    assert.deepEqual(who.body.status, {
      userInfo: { username: as, groups: ['g', 'system:authenticated'] },
    });
  },

  'names a role that a binding points to and that is not there': async (env) => {
    const namespace = await env.namespace();
    const as = env.unique('user');
    const roleRef = { apiGroup, kind: 'Role', name: 'nope' };
    const subjects = [{ kind: 'User', name: as, apiGroup }];
    await env.raw('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
      body: { metadata: { name: 'b' }, roleRef, subjects },
    });
    const message = await eventually('the binding to be seen', async () => {
      const { body } = await env.raw('GET', `/api/v1/namespaces/${namespace}/pods`, { as });
      return /RBAC/.test(String(body.message)) ? String(body.message) : undefined;
    });
    assert.match(message, /: RBAC: role\.rbac\.authorization\.k8s\.io "nope" not found$/);
  },
};

export const rbacCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
