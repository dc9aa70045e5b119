// Contract cases: RBAC refusals and access reviews, with the case's own roles, aggregated roles,
// and the default roles of users, kubelets and the control plane.

import assert from 'node:assert/strict';
import { defined } from '../../src/api/defined.ts';
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
      const answer = await env.raw(method, path, { as, ...defined({ body }) });
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

  'gathers the rules of ClusterRoles by label, as admin, edit and view do': async (env) => {
    const [whole, part, label] = [env.unique('whole'), env.unique('part'), env.unique('label')];
    const roles = `${rbac}/clusterroles`;
    const post = async (body: JsonObject): Promise<void> => {
      const made = await env.raw('POST', roles, { body });
      assert.equal(made.code, 201, JSON.stringify(made.body));
    };
    const rules = [{ apiGroups: ['example.com'], resources: ['toys'], verbs: ['get', 'list'] }];
    const matchLabels = { [`example.com/${label}`]: 'true' };
    await post({
      metadata: { name: whole },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels }] },
    });
    const labels = { ...matchLabels, 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    await post({ metadata: { name: part, labels }, rules });
    const gathered = (name: string, wanted: boolean): Promise<true> =>
      eventually(`${name} ${wanted ? 'with' : 'without'} the rule`, async () => {
        const text = JSON.stringify((await env.raw('GET', `${roles}/${name}`)).body.rules ?? []);
        return text.includes('"toys"') === wanted ? true : undefined;
      });
    for (const name of [whole, 'view', 'edit', 'admin']) await gathered(name, true);
    assert.equal((await env.raw('DELETE', `${roles}/${part}`)).code, 200);
    for (const name of [whole, 'view', 'edit', 'admin']) await gathered(name, false);
    await env.raw('DELETE', `${roles}/${whole}`);
  },

  'lets components do what their default roles say, and no more': async (env) => {
    const namespace = await env.namespace();
    const may = async (user: string, groups: readonly string[], asked: JsonObject) => {
      const review = await env.raw('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        body: { spec: { user, groups, resourceAttributes: asked } },
      });
      const { allowed } = review.body.status as { readonly allowed: boolean };
      return allowed;
    };
    const scheduler = 'system:kube-scheduler';
    const pods = { resource: 'pods', namespace };
    const manager = 'system:kube-controller-manager';
    const collector = 'system:serviceaccount:kube-system:generic-garbage-collector';
    const binding = { ...pods, subresource: 'binding' };
    assert.equal(await may(scheduler, [], { ...binding, verb: 'create' }), true);
    assert.equal(await may(scheduler, [], { ...pods, verb: 'create' }), false);
    assert.equal(await may(manager, [], { ...pods, verb: 'list' }), true);
    assert.equal(await may(manager, [], { ...pods, verb: 'delete' }), false);
    assert.equal(await may(collector, [], { ...pods, verb: 'delete' }), true);
    assert.equal(await may(collector, [], { ...pods, verb: 'create' }), false);
    const stranger = 'system:serviceaccount:kube-system:stranger';
    assert.equal(await may(stranger, [], { ...pods, verb: 'get' }), false);
    assert.equal(await may('eks:stranger', [], { ...pods, verb: 'get' }), false);
  },

  'lets a kubelet see what pods of its node use, and its own node': async (env) => {
    const namespace = await env.namespace();
    const pod = await env.pod(namespace, 'p1');
    const node = String(pod.spec.nodeName);
    const review = async (asked: JsonObject): Promise<JsonObject> => {
      const answer = await env.raw('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        body: {
          spec: {
            user: `system:node:${node}`,
            groups: ['system:nodes', 'system:authenticated'],
            resourceAttributes: asked,
          },
        },
      });
      return answer.body.status as JsonObject;
    };
    const allowed = async (asked: JsonObject): Promise<unknown> => (await review(asked)).allowed;
    const own = { resource: 'pods', namespace, name: 'p1' };
    await eventually('the pod to be known', async () =>
      (await allowed({ ...own, verb: 'get' })) === true ? true : undefined,
    );
    const reason = `no relationship found between node '${node}' and this object`;
    const secret = { resource: 'secrets', namespace, name: 'other', verb: 'get' };
    assert.deepEqual(await review(secret), { allowed: false, reason });
    assert.equal(await allowed({ resource: 'nodes', name: node, verb: 'get' }), true);
    assert.equal(await allowed({ resource: 'nodes', name: 'other', verb: 'get' }), false);
    assert.equal(await allowed({ resource: 'pods', namespace, verb: 'list' }), false);
    assert.equal(await allowed({ ...own, subresource: 'status', verb: 'patch' }), true);
    assert.equal(await allowed({ resource: 'deployments', group: 'apps', verb: 'list' }), false);
    const lease = { group: 'coordination.k8s.io', resource: 'leases', verb: 'update' };
    const leases = { ...lease, namespace: 'kube-node-lease' };
    assert.equal(await allowed({ ...leases, name: node }), true);
    assert.equal(await allowed({ ...leases, name: 'other' }), false);
    assert.equal(await allowed({ ...lease, namespace, name: node }), false);
  },

  'lets a kubelet write its own node, and pods that run there': async (env) => {
    const namespace = await env.namespace();
    const pod = await env.pod(namespace, 'p1');
    const node = String(pod.spec.nodeName);
    const stranger = env.unique('node');
    const contentType = 'application/merge-patch+json';
    const as = (name: string) => ({ as: `system:node:${name}`, groups: ['system:nodes'] });
    const send = async (who: string, method: string, path: string, body?: JsonObject) => {
      const { code, body: answer } = await env.raw(method, path, {
        ...as(who),
        ...defined({ body }),
        ...(method === 'PATCH' ? { contentType } : {}),
      });
      return code < 300 ? code : String(answer.message);
    };
    const item = `/api/v1/namespaces/${namespace}/pods/p1`;
    const status = { status: { message: 'x' } };
    const cordon = { spec: { unschedulable: false } };
    const eviction = { metadata: { name: 'p1' } };
    await eventually('the node to be known', async () =>
      (await send(node, 'PATCH', `${item}/status`, status)) === 200 ? true : undefined,
    );
    assert.equal(await send(node, 'PATCH', `/api/v1/nodes/${node}`, cordon), 200);
    const only = (what: string, who = `"${stranger}"`): string =>
      `pods "p1" is forbidden: node ${who} can only ${what} pods with spec.nodeName set to itself`;
    assert.equal(
      await send(stranger, 'PATCH', `/api/v1/nodes/${node}`, cordon),
      `nodes "${node}" is forbidden: node "${stranger}" is not allowed to modify node "${node}"`,
    );
    assert.equal(
      await send(stranger, 'PATCH', `${item}/status`, status),
      only('update pod status for'),
    );
    assert.equal(
      await send(stranger, 'POST', `${item}/eviction?dryRun=All`, eviction),
      only('evict', stranger),
    );
    assert.equal(await send(stranger, 'DELETE', item), only('delete'));
    assert.equal(await send(node, 'POST', `${item}/eviction?dryRun=All`, eviction), 201);
    assert.match(
      String(
        await send(node, 'POST', `/api/v1/namespaces/${namespace}/pods`, {
          metadata: { name: 'p2' },
          spec: { containers: [{ name: 'c', image: 'x' }] },
        }),
      ),
      /node ".*" can only create mirror pods$/,
    );
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
