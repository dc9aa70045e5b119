// Contract cases: what the credentials of one kubelet can change. A compromised node must not steer
// pods to itself nor read other nodes' objects.

import assert from 'node:assert/strict';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const contentType = 'application/merge-patch+json';

/** Requests as the kubelet of `node`; returns the code, or the message of a refusal. */
const kubeletOf =
  (env: ContractEnv, node: string) =>
  async (method: string, path: string, body?: JsonObject): Promise<number | string> => {
    const answer = await env.raw(method, path, {
      as: `system:node:${node}`,
      groups: ['system:nodes'],
      ...defined({ body }),
      ...(method === 'PATCH' ? { contentType } : {}),
    });
    return answer.code < 300 ? answer.code : String(answer.body.message);
  };

const aNode = async (env: ContractEnv): Promise<{ node: string; uid: string; path: string }> => {
  const node = env.unique('node');
  const taints = [{ key: 'own', effect: 'NoSchedule' }];
  const { body } = await env.raw('POST', '/api/v1/nodes', {
    body: { metadata: { name: node }, spec: { taints } },
  });
  const { uid } = body.metadata as JsonObject;
  return { node, uid: String(uid), path: `/api/v1/nodes/${node}` };
};

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'a kubelet changes neither the taints of its node nor labels that steer pods': async (env) => {
    const { node, path } = await aNode(env);
    const ask = kubeletOf(env, node);
    const labelled = (labels: JsonObject): JsonObject => ({ metadata: { labels } });
    const prefix = `nodes "${node}" is forbidden: `;
    const allowed = {
      plain: 'x',
      'example.com/x': 'x',
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': 'z',
      'kubelet.kubernetes.io/x': 'x',
      'a.node.kubernetes.io/x': 'x',
    };
    assert.equal(await ask('PATCH', path, labelled(allowed)), 200);
    const forbidden = {
      'node-restriction.kubernetes.io/x': 'x',
      'a.node-restriction.kubernetes.io/x': 'x',
      'node-role.kubernetes.io/master': '',
      'k8s.io/x': 'x',
    };
    const words = `is not allowed to modify labels: ${Object.keys(forbidden).sort().join(', ')}`;
    assert.equal(await ask('PATCH', path, labelled(forbidden)), `${prefix}${words}`);
    await env.raw('PATCH', path, { body: labelled({ 'a.k8s.io/b': 'x' }), contentType });
    assert.equal(
      await ask('PATCH', path, labelled({ 'a.k8s.io/b': null })),
      `${prefix}is not allowed to modify labels: a.k8s.io/b`,
    );
    const taints = `${prefix}node "${node}" is not allowed to modify taints`;
    assert.equal(await ask('PATCH', path, { spec: { taints: null } }), taints);
    const more = [{ key: 'own', effect: 'NoExecute' }];
    assert.equal(await ask('PATCH', path, { spec: { taints: more } }), taints);
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'absent', uid: 'absent' };
    assert.equal(
      await ask('PATCH', path, { metadata: { ownerReferences: [owner] } }),
      `${prefix}node "${node}" is not allowed to modify ownerReferences`,
    );
    assert.equal(await ask('PATCH', path, { spec: { unschedulable: true } }), 200);
    const other = env.unique('node');
    const made = { metadata: { name: other, labels: { 'node-role.kubernetes.io/x': '' } } };
    assert.equal(
      await kubeletOf(env, other)('POST', '/api/v1/nodes', made),
      `nodes "${other}" is forbidden: node "${other}" is not allowed to set the following labels: ` +
        'node-role.kubernetes.io/x',
    );
    const taken = await ask('POST', '/api/v1/nodes', { metadata: { name: other } });
    assert.equal(
      taken,
      `nodes "${other}" is forbidden: node "${node}" is not allowed to modify node "${other}"`,
    );
    await env.raw('DELETE', path);
  },

  'a kubelet creates mirror pods of its node, owned by it, and no other pod': async (env) => {
    const { node, uid, path } = await aNode(env);
    const namespace = await env.namespace();
    const ask = kubeletOf(env, node);
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid, controller: true };
    const pod = (metadata: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
      metadata: {
        name: 'm',
        annotations: { 'kubernetes.io/config.mirror': 'x' },
        ownerReferences: [owner],
        ...metadata,
      },
      spec: { nodeName: node, containers: [{ name: 'c', image: 'x' }], ...spec },
    });
    const create = (body: JsonObject): Promise<number | string> =>
      ask('POST', `${pods}?dryRun=All`, body);
    await eventually('the node to be known', async () =>
      (await create(pod())) === 201 ? true : undefined,
    );
    const own = `node "${node}" can only create pods with`;
    const reads = `node "${node}" can not create pods that reference`;
    const volume = (source: JsonObject): JsonObject => ({ volumes: [{ name: 'v', ...source }] });
    const refused: readonly (readonly [JsonObject, string])[] = [
      [
        pod({ annotations: {} }),
        'pod does not have "kubernetes.io/config.mirror" annotation, ' +
          `node "${node}" can only create mirror pods`,
      ],
      [pod({}, { nodeName: 'another' }), `${own} spec.nodeName set to itself`],
      [pod({ ownerReferences: [] }), `${own} an owner reference set to itself`],
      [
        pod({ ownerReferences: [{ ...owner, name: 'another' }] }),
        `${own} an owner reference set to itself`,
      ],
      [
        pod({ ownerReferences: [{ ...owner, controller: false }] }),
        `${own} a controller owner reference set to itself`,
      ],
      [
        pod({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
        `node "${node}" must not set blockOwnerDeletion on an owner reference`,
      ],
      [
        pod({ ownerReferences: [{ ...owner, uid: 'u' }] }),
        `node ${node} UID mismatch: expected u got ${uid}`,
      ],
      [pod({}, volume({ configMap: { name: 'x' } })), `${reads} configmaps`],
      [
        pod({}, volume({ persistentVolumeClaim: { claimName: 'x' } })),
        `${reads} persistentvolumeclaims`,
      ],
    ];
    for (const [body, words] of refused) {
      assert.equal(await create(body), `pods "m" is forbidden: ${words}`);
    }
    assert.equal(await ask('POST', pods, pod()), 201);
    const found = await env.raw('GET', `${pods}/m`);
    assert.equal((found.body.spec as JsonObject).serviceAccountName, undefined);
    const status = `${pods}/m/status`;
    assert.equal(await ask('PATCH', status, { status: { message: 'x' } }), 200);
    assert.equal(
      await ask('PATCH', status, { metadata: { labels: { a: 'b' } } }),
      `pods "m" is forbidden: node "${node}" cannot update labels through pod status`,
    );
    assert.equal(await ask('DELETE', `${pods}/m?gracePeriodSeconds=0`), 200);
    await env.raw('DELETE', path);
  },

  'a kubelet gets tokens for pods that run on its node only': async (env) => {
    const namespace = await env.namespace();
    const pod = await env.pod(namespace, 'p1');
    const node = String(pod.spec.nodeName);
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
    const bound = (ref: JsonObject): JsonObject => ({
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...ref } },
    });
    const own = bound({ name: 'p1', uid: pod.metadata.uid });
    const ask = kubeletOf(env, node);
    await eventually('a token', async () =>
      (await ask('POST', path, own)) === 201 ? true : undefined,
    );
    const prefix = 'serviceaccounts "default" is forbidden: ';
    const without = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} };
    assert.equal(
      await ask('POST', path, without),
      `${prefix}node requested token not bound to a pod`,
    );
    assert.equal(
      await ask('POST', path, bound({ name: 'p1' })),
      `${prefix}node requested token with a pod binding without a uid`,
    );
    assert.match(
      String(await ask('POST', path, bound({ name: 'p1', uid: 'u' }))),
      /: the UID in the bound object reference \(u\) does not match the UID in record\./,
    );
  },
};

export const nodeCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
