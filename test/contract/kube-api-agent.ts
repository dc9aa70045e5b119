// Contract cases: the node agent's rights and policies (deploy/agent) on an API server. An agent
// may write parts of its own Node and nothing else, whoever's token it holds.
import assert from 'node:assert/strict';
import { type AgentAccount, agentGrants, agentPolicies } from '../../src/api/agent-rights.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const groups: Readonly<Record<string, string>> = {
  'rbac.authorization.k8s.io/v1': '/apis/rbac.authorization.k8s.io/v1',
  'admissionregistration.k8s.io/v1': '/apis/admissionregistration.k8s.io/v1',
};
const plurals: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};
const claim = 'authentication.kubernetes.io/node-name';

const make = async (env: ContractEnv, objects: readonly JsonObject[]): Promise<void> => {
  for (const object of objects) {
    const { namespace } = objectOr(object.metadata);
    const place = namespace === undefined ? '' : `/namespaces/${String(namespace)}`;
    const path = `${groups[String(object.apiVersion)]}${place}/${plurals[String(object.kind)]}`;
    const { code, body } = await env.raw('POST', path, { body: object });
    assert.equal(code, 201, JSON.stringify(body));
  }
};

const condition = (type: string, status = 'False'): JsonObject => ({
  type,
  status,
  reason: 'Contract',
  message: 'x',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  lastHeartbeatTime: '2026-01-01T00:00:00Z',
});

/** Two Nodes with conditions from their kubelets, and an agent of the first. */
const stage = async (env: ContractEnv) => {
  const namespace = await env.namespace();
  const [own, other] = [env.unique('node'), env.unique('node')];
  for (const name of [own, other]) {
    const metadata = { name, labels: { zone: 'a' } };
    const made = await env.raw('POST', '/api/v1/nodes', { body: { metadata } });
    assert.equal(made.code, 201, JSON.stringify(made.body));
    const status = {
      conditions: [condition('Ready', 'True'), condition('DiskPressure')],
      capacity: { cpu: '2' },
      allocatable: { cpu: '2' },
    };
    const patched = await env.raw('PATCH', `/api/v1/nodes/${name}/status`, {
      contentType: 'application/strategic-merge-patch+json',
      body: { status },
    });
    assert.equal(patched.code, 200, JSON.stringify(patched.body));
  }
  const account: AgentAccount = { namespace, name: 'agent' };
  const name = env.unique('agent');
  const as = `system:serviceaccount:${namespace}:agent`;
  /** With `bound` empty, the token is bound to no Node. */
  const patch = (
    node: string,
    body: JsonObject,
    { bound = own, type = 'strategic-merge-patch+json' } = {},
  ) =>
    env.raw('PATCH', `/api/v1/nodes/${node}/status`, {
      as,
      ...(bound === '' ? {} : { extra: { [claim]: bound } }),
      contentType: `application/${type}`,
      body,
    });
  const event = (node: string) =>
    env.raw('POST', '/api/v1/namespaces/default/events', {
      as,
      extra: { [claim]: own },
      body: {
        metadata: { name: `${node}.${env.unique('e')}` },
        involvedObject: { apiVersion: 'v1', kind: 'Node', name: node },
        reason: 'KernelReady',
        type: 'Warning',
      },
    });
  return { account, name, own, other, patch, event };
};

const conditions = (...types: readonly string[]): JsonObject => ({
  status: { conditions: types.map((type) => condition(type)) },
});

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'an agent’s rights alone let it write any Node; its policies hold it to its own': async (env) => {
    const { account, name, own, other, patch, event } = await stage(env);
    await make(env, agentGrants(name, account));
    const mine = conditions('KernelReady', 'AgentHealthy', 'LogBundleCollected');
    const foreign = await eventually('the rights to hold', async () => {
      const answer = await patch(other, conditions('Ready'));
      return answer.code === 403 ? undefined : answer;
    });
    assert.equal(foreign.code, 200, 'without the policies another kubelet is made NotReady');
    await make(env, agentPolicies(name, account));
    const refused = await eventually('the policies to hold', async () => {
      const answer = await patch(other, mine);
      return answer.code === 403 ? answer : undefined;
    });
    assert.match(String(refused.body.message), /an agent writes the status of its own Node alone/);
    // The API server loads each policy by itself: the one of Events may come later.
    await eventually('the policy of Events to hold', async () =>
      (await event(other)).code === 403 ? true : undefined,
    );
    const written = await patch(own, mine);
    assert.equal(written.code, 200, JSON.stringify(written.body));
    const kept = objectOr(written.body.status).conditions as readonly JsonObject[];
    const types = kept.map((one) => `${one.type} ${one.status}`).sort();
    assert.deepEqual(types, [
      'AgentHealthy False',
      'DiskPressure False',
      'KernelReady False',
      'LogBundleCollected False',
      'Ready True',
    ]);
    const denied: readonly (readonly [string, Promise<{ code: number }>])[] = [
      ['its kubelet’s condition', patch(own, conditions('Ready'))],
      ['a new condition of another', patch(own, conditions('Mine'))],
      ['a token bound to nothing', patch(own, mine, { bound: '' })],
      ['a label', patch(own, { metadata: { labels: { zone: 'b' } } })],
      ['an annotation', patch(own, { metadata: { annotations: { a: 'b' } } })],
      ['capacity', patch(own, { status: { capacity: { cpu: '64' } } })],
      [
        'an address',
        patch(own, { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } }),
      ],
      ['a merge patch that drops the others', patch(own, mine, { type: 'merge-patch+json' })],
      ['an Event of another Node', event(other)],
    ];
    for (const [what, answer] of denied) {
      assert.equal((await answer).code, 403, `${what}: ${JSON.stringify(await answer)}`);
    }
    assert.equal((await event(own)).code, 201);
    // An unchanged value, as an update of what the agent wrote earlier.
    assert.equal((await patch(own, mine)).code, 200);
  },
};

export const agentCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
