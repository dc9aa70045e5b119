// Contract cases: refusals of admission and their messages: CEL policies with and without
// parameters, on objects, evictions, scales and deletes; quotas.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import type { RawAnswer } from '../support/kube-raw.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const group = '/apis/admissionregistration.k8s.io/v1';

const rules = (
  resources: readonly string[],
  operations: readonly string[] = ['CREATE', 'UPDATE'],
  apiGroups: readonly string[] = [''],
): JsonObject => ({ resourceRules: [{ apiGroups, apiVersions: ['v1'], operations, resources }] });

/** A policy bound to one namespace. */
const policy = async (
  env: ContractEnv,
  namespace: string,
  spec: JsonObject,
  binding: JsonObject = {},
): Promise<string> => {
  const name = env.unique('policy');
  const post = async (resource: string, body: JsonObject): Promise<void> => {
    const { code, body: answer } = await env.raw('POST', `${group}/${resource}`, { body });
    assert.equal(code, 201, JSON.stringify(answer));
  };
  await post('validatingadmissionpolicies', { metadata: { name }, spec });
  const matchLabels = { 'kubernetes.io/metadata.name': namespace };
  await post('validatingadmissionpolicybindings', {
    metadata: { name: `${name}-binding` },
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels } },
      ...binding,
    },
  });
  return name;
};

const denied = (name: string, why: string): string =>
  `ValidatingAdmissionPolicy '${name}' with binding '${name}-binding' denied request: ${why}`;

/** Repeats a dry run until the policy is in force, which takes a real server part of a second. */
const refusal = (ask: () => Promise<RawAnswer>): Promise<RawAnswer> =>
  eventually('a refusal', async () => {
    const answer = await ask();
    return answer.code >= 400 && answer.code !== 404 ? answer : undefined;
  });

const container = (more: JsonObject = {}): JsonObject => ({
  containers: [{ name: 'c', image: 'example/image:1', ...more }],
});

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'policies refuse writes with their message, their expression or what they compute': async (
    env,
  ) => {
    const namespace = await env.namespace();
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    const name = await policy(env, namespace, {
      matchConstraints: rules(['configmaps']),
      matchConditions: [{ name: 'named', expression: "!object.metadata.name.startsWith('free')" }],
      validations: [
        { expression: "object.data.a != 'bad'" },
        { expression: 'size(object.data) < 3', message: 'too many', reason: 'Forbidden' },
        { expression: '!has(object.data.m)', messageExpression: "'m is ' + object.data.m" },
      ],
    });
    const post = (to: string, data: JsonObject): Promise<RawAnswer> =>
      env.raw('POST', `${maps}?dryRun=All`, { body: { metadata: { name: to }, data } });
    const plain = await refusal(() => post('x', { a: 'bad' }));
    const why = denied(name, "failed expression: object.data.a != 'bad'");
    assert.equal(plain.code, 422);
    assert.equal(plain.body.reason, 'Invalid');
    assert.equal(plain.body.message, `configmaps "x" is forbidden: ${why}`);
    assert.deepEqual(plain.body.details, {
      name: 'x',
      kind: 'configmaps',
      causes: [{ message: why }],
    });
    const many = await post('x', { a: '1', b: '2', c: '3' });
    assert.equal(many.code, 403);
    assert.match(String(many.body.message), /denied request: too many$/);
    const computed = await post('x', { a: '1', m: 'q' });
    assert.match(String(computed.body.message), /denied request: m is q$/);
    const failing = await post('x', { b: '1' });
    assert.match(
      String(failing.body.message),
      /expression 'object\.data\.a != 'bad'' resulted in error: no such key: a$/,
    );
    assert.equal((await post('free', { a: 'bad' })).code, 201);
    assert.equal((await post('x', { a: 'good' })).code, 201);
  },

  'a policy with a Lease as parameter fences evictions, statuses and deletes': async (env) => {
    const namespace = await env.namespace();
    const pod = await env.pod(namespace, 'p1');
    const name = await policy(
      env,
      namespace,
      {
        paramKind: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
        matchConstraints: rules(
          ['pods', 'pods/eviction', 'pods/status'],
          ['CREATE', 'UPDATE', 'DELETE'],
        ),
        variables: [{ name: 'holder', expression: 'params.spec.holderIdentity' }],
        validations: [
          {
            expression: 'request.userInfo.username == variables.holder',
            messageExpression: "'only ' + variables.holder",
          },
        ],
      },
      { paramRef: { name: 'leader', namespace, parameterNotFoundAction: 'Deny' } },
    );
    const item = `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}`;
    const evict = (as?: string): Promise<RawAnswer> =>
      env.raw('POST', `${item}/eviction?dryRun=All`, {
        body: { metadata: { name: 'p1' } },
        ...(as === undefined ? {} : { as, groups: ['system:masters'] }),
      });
    const missing = await refusal(() => evict());
    const none = 'no params found for policy binding with `Deny` parameterNotFoundAction';
    assert.equal(
      missing.body.message,
      `pods "p1" is forbidden: ${denied(name, `failed to configure binding: ${none}`)}`,
    );
    await env.raw('POST', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, {
      body: { metadata: { name: 'leader' }, spec: { holderIdentity: 'leader-a' } },
    });
    const fenced = await eventually('the lease to be known', async () => {
      const answer = await evict();
      return /no params found/.test(String(answer.body.message)) ? undefined : answer;
    });
    const only = `pods "p1" is forbidden: ${denied(name, 'only leader-a')}`;
    assert.equal(fenced.body.message, only);
    assert.equal((await evict('leader-b')).body.message, only);
    assert.equal((await evict('leader-a')).code, 201);
    const patch = await env.raw('PATCH', `${item}/status`, {
      contentType: 'application/merge-patch+json',
      body: { status: { message: 'x' } },
    });
    assert.equal(patch.body.message, only);
    assert.equal((await env.raw('DELETE', `${item}?dryRun=All`)).body.message, only);
  },

  'a policy judges a scale by its Scale, and one that warns lets through': async (env) => {
    const namespace = await env.namespace();
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const labels = { app: 'x' };
    await env.raw('POST', deployments, {
      body: {
        metadata: { name: 'x' },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: container() },
        },
      },
    });
    const scales = await policy(env, namespace, {
      matchConstraints: rules(['deployments/scale'], ['UPDATE'], ['apps']),
      validations: [{ expression: 'object.spec.replicas <= 5', message: 'at most 5' }],
    });
    const refused = await refusal(() =>
      env.raw('PATCH', `${deployments}/x/scale?dryRun=All`, {
        contentType: 'application/merge-patch+json',
        body: { spec: { replicas: 9 } },
      }),
    );
    assert.equal(
      refused.body.message,
      `deployments.apps "x" is forbidden: ${denied(scales, 'at most 5')}`,
    );
    const warns = await policy(
      env,
      namespace,
      {
        matchConstraints: rules(['secrets']),
        validations: [{ expression: 'has(object.data)', message: 'no data' }],
      },
      { validationActions: ['Warn', 'Audit'] },
    );
    const warned = await eventually('a warning', async () => {
      const body = { metadata: { name: 's' } };
      const path = `/api/v1/namespaces/${namespace}/secrets?dryRun=All`;
      const answer = await env.raw('POST', path, { body });
      return answer.warnings.length > 0 ? answer : undefined;
    });
    assert.equal(warned.code, 201);
    const text = `Validation failed for ValidatingAdmissionPolicy '${warns}' with binding `;
    assert.ok(warned.warnings[0]?.includes(`${text}'${warns}-binding': no data`));
  },

  'what cannot be a policy is refused where it is written': async (env) => {
    const post = async (resource: string, spec: JsonObject): Promise<RawAnswer> =>
      env.raw('POST', `${group}/${resource}`, { body: { metadata: { name: 'bad' }, spec } });
    const none = await post('validatingadmissionpolicies', {
      validations: [{ expression: 'true' }],
    });
    assert.match(String(none.body.message), /spec\.matchConstraints: Required value$/);
    const broken = await post('validatingadmissionpolicies', {
      matchConstraints: rules(['configmaps']),
      validations: [{ expression: 'object.' }],
    });
    assert.equal(broken.code, 422);
    assert.match(
      String(broken.body.message),
      /spec\.validations\[0\]\.expression: Invalid value: "object\.": compilation failed: ERROR/,
    );
    const both = await post('validatingadmissionpolicybindings', {
      validationActions: ['Deny', 'Warn'],
    });
    assert.match(String(both.body.message), /spec\.policyName: Required value/);
    assert.match(String(both.body.message), /must not contain both Deny and Warn/);
  },

  'a quota counts pods and what they ask for, and says what would go over': async (env) => {
    const namespace = await env.namespace();
    const root = `/api/v1/namespaces/${namespace}`;
    const hard = { pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi', 'count/secrets': '1' };
    await env.raw('POST', `${root}/resourcequotas`, {
      body: { metadata: { name: 'q' }, spec: { hard } },
    });
    const statusOnce = (used: JsonObject): Promise<unknown> =>
      eventually('the status of the quota', async () => {
        const { body } = await env.raw('GET', `${root}/resourcequotas/q`);
        const status = body.status as JsonObject | undefined;
        return JSON.stringify(status?.used) === JSON.stringify(used) ? true : undefined;
      });
    const none = { 'count/secrets': '0', 'limits.memory': '0', pods: '0', 'requests.cpu': '0' };
    await statusOnce(none);
    const pod = (name: string, cpu?: string, memory?: string): Promise<RawAnswer> =>
      eventually(`an answer for pod ${name}`, async () => {
        const resources =
          cpu === undefined ? {} : { resources: { requests: { cpu }, limits: { memory } } };
        const answer = await env.raw('POST', `${root}/pods`, {
          body: { metadata: { name }, spec: container(resources as JsonObject) },
        });
        return /service account/.test(String(answer.body.message)) ? undefined : answer;
      });
    const bare = await pod('p1');
    assert.equal(bare.code, 403);
    assert.equal(
      bare.body.message,
      'pods "p1" is forbidden: failed quota: q: must specify limits.memory for: c; ' +
        'requests.cpu for: c',
    );
    assert.equal((await pod('p1', '600m', '128Mi')).code, 201);
    const over = await pod('p2', '0.5', '1Gi');
    assert.equal(
      over.body.message,
      'pods "p2" is forbidden: exceeded quota: q, requested: limits.memory=1Gi,' +
        'requests.cpu=500m, used: limits.memory=128Mi,requests.cpu=600m, ' +
        'limited: limits.memory=1Gi,requests.cpu=1',
    );
    assert.equal((await pod('p2', '100m', '1Mi')).code, 201);
    const third = await pod('p3', '100m', '1Mi');
    assert.equal(
      third.body.message,
      'pods "p3" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, ' +
        'limited: pods=2',
    );
    await statusOnce({
      'count/secrets': '0',
      'limits.memory': '129Mi',
      pods: '2',
      'requests.cpu': '700m',
    });
  },
};

export const admissionCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
