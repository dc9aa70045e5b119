// Contract cases: create, get, list, delete, namespaces, custom resources.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import {
  type KubeObject,
  type Node,
  type Pod,
  type ResourceType,
  resourceTypes,
} from '../../src/api/kube.ts';
import {
  type ContractCase,
  type ContractEnv,
  eventually,
  fails,
  get,
  isGone,
} from './kube-api-env.ts';

const { configmaps, customresourcedefinitions, namespaces, nodes, pods } = resourceTypes;

interface Widget extends KubeObject {
  readonly spec: { readonly size: number; readonly color?: string };
  readonly status?: { readonly phase: string };
}

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'creates, reads and deletes an object; what is not there is gone': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    const name = { namespace, name: 'x' };
    assert.ok(await isGone(env, configmaps, name));
    const made = await api.create<KubeObject>(
      configmaps,
      { metadata: { name: 'x', labels: { a: 'b' } }, data: { k: 'v' } },
      { namespace },
    );
    assert.equal(made.kind, 'ConfigMap');
    assert.equal(made.apiVersion, 'v1');
    assert.match(made.metadata.uid, /^[0-9a-f-]{36}$/);
    assert.match(made.metadata.resourceVersion, /^[1-9]\d*$/);
    assert.match(made.metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(await get(env, configmaps, name), made);
    assert.deepEqual(await api.delete(configmaps, name), { kind: 'deleted' });
    assert.deepEqual(await api.delete(configmaps, name), { kind: 'gone' });
    const patch = { type: 'merge', body: {} } as const;
    assert.deepEqual(await api.patch(configmaps, name, patch), { kind: 'gone' });
  },

  'refuses a second object of the name, a bad name, a wrong kind and a missing namespace': async (
    env,
  ) => {
    const { api } = env;
    const namespace = await env.namespace();
    const create = (object: JsonObject, where = namespace): Promise<unknown> =>
      api.create(configmaps, object, { namespace: where });
    await create({ metadata: { name: 'x' } });
    await fails('AlreadyExists', create({ metadata: { name: 'x' } }));
    const invalid = await fails('Invalid', create({ metadata: { name: 'X_' } }));
    assert.match(invalid.message, /metadata\.name/);
    await fails(
      'BadRequest',
      create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'y' } }),
    );
    await fails('NotFound', create({ metadata: { name: 'z' } }, env.unique('missing')));
  },

  'names objects itself when asked, and keeps nothing of a dry run': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    const made = await api.create<KubeObject>(
      configmaps,
      { metadata: { generateName: 'gen-' } },
      { namespace },
    );
    assert.match(made.metadata.name, /^gen-[a-z0-9]{5}$/);
    const dry = { namespace, dryRun: true };
    await api.create(configmaps, { metadata: { name: 'dry' } }, dry);
    assert.ok(await isGone(env, configmaps, { namespace, name: 'dry' }));
    const name = { namespace, name: made.metadata.name };
    assert.deepEqual(await api.delete(configmaps, name, { dryRun: true }), { kind: 'deleted' });
    assert.deepEqual(await get(env, configmaps, name), made);
  },

  'lists by pages, by labels and by name, with a version of the whole': async (env) => {
    const { api, smallPages } = env;
    const namespace = await env.namespace();
    for (let at = 0; at < 8; at += 1) {
      const metadata = { name: `c${at}`, labels: { parity: at % 2 === 0 ? 'even' : 'odd' } };
      await api.create(configmaps, { metadata }, { namespace });
    }
    const names = async (client: typeof api, more: object): Promise<string> => {
      const { items } = await client.list(configmaps, { namespace, ...more });
      const own = items.filter((item) => /^c\d$/.test(item.metadata.name));
      for (const item of own) assert.equal(item.kind, 'ConfigMap');
      return own.map((item) => item.metadata.name).join(' ');
    };
    assert.equal(await names(api, {}), 'c0 c1 c2 c3 c4 c5 c6 c7');
    assert.equal(await names(smallPages, {}), 'c0 c1 c2 c3 c4 c5 c6 c7');
    const even = { labelSelector: 'parity=even' };
    assert.equal(await names(smallPages, even), 'c0 c2 c4 c6');
    assert.equal(await names(api, { labelSelector: 'parity in (odd),parity' }), 'c1 c3 c5 c7');
    assert.equal(await names(api, { labelSelector: 'parity!=odd' }), 'c0 c2 c4 c6');
    assert.equal(await names(api, { fieldSelector: 'metadata.name=c3' }), 'c3');
    assert.equal(await names(smallPages, { resourceVersion: '0' }), 'c0 c1 c2 c3 c4 c5 c6 c7');
    const { resourceVersion } = await smallPages.list(configmaps, { namespace });
    assert.match(resourceVersion, /^[1-9]\d*$/);
    await fails('BadRequest', api.list(configmaps, { fieldSelector: 'data.a=b' }));
    await fails('BadRequest', api.list(configmaps, { labelSelector: '==' }));
  },

  'lists the pods of one node': async (env) => {
    const namespace = await env.namespace();
    const pod = await env.pod(namespace, 'p1');
    const on = (name: string): Promise<readonly Pod[]> =>
      env.api
        .list<Pod>(pods, { namespace, fieldSelector: `spec.nodeName=${name}` })
        .then((list) => list.items);
    assert.equal((await on(pod.spec.nodeName ?? ''))[0]?.metadata.uid, pod.metadata.uid);
    assert.equal((await on('other')).length, 0);
  },

  'deletes only what the preconditions name': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    const name = { namespace, name: 'x' };
    const made = await api.create<KubeObject>(configmaps, { metadata: name }, { namespace });
    const { uid, resourceVersion } = made.metadata;
    await fails('PreconditionFailed', api.delete(configmaps, name, { uid: 'other' }));
    await fails('PreconditionFailed', api.delete(configmaps, name, { resourceVersion: '1' }));
    assert.ok(!(await isGone(env, configmaps, name)));
    assert.deepEqual(await api.delete(configmaps, name, { uid, resourceVersion }), {
      kind: 'deleted',
    });
  },

  'lets finalizers hold a deleted object': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    const name = { namespace, name: 'held' };
    const metadata = { name: 'held', finalizers: ['contract.drover.dev/hold'] };
    await api.create(configmaps, { metadata }, { namespace });
    assert.deepEqual(await api.delete(configmaps, name), { kind: 'deleted' });
    const held = await get<KubeObject>(env, configmaps, name);
    assert.ok(held.metadata.deletionTimestamp !== undefined);
    const body = { metadata: { finalizers: null } };
    await api.patch(configmaps, name, { type: 'merge', body });
    assert.ok(await isGone(env, configmaps, name));
  },

  'lets a bound pod terminate within its grace, which later deletes can only shorten': async (
    env,
  ) => {
    const { api } = env;
    const namespace = await env.namespace();
    await env.pod(namespace, 'p1');
    const name = { namespace, name: 'p1' };
    const grace = async (): Promise<number | undefined> =>
      (await get<Pod>(env, pods, name)).metadata.deletionGracePeriodSeconds;
    await api.delete(pods, name);
    assert.equal(await grace(), 30);
    await api.delete(pods, name, { gracePeriodSeconds: 3 });
    assert.equal(await grace(), 3);
    await api.delete(pods, name, { gracePeriodSeconds: 20 });
    assert.equal(await grace(), 3);
    await api.delete(pods, name, { gracePeriodSeconds: 0 });
    assert.ok(await isGone(env, pods, name));
  },

  'refuses new content in a namespace that terminates, but not deletes': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    // A bound pod without a kubelet keeps the namespace terminating.
    const pod = await env.pod(namespace, 'p1');
    await api.delete(namespaces, { name: namespace });
    const create = api.create(configmaps, { metadata: { name: 'x' } }, { namespace });
    await fails('NamespaceTerminating', create);
    await fails(
      'NamespaceTerminating',
      api.evict({ namespace, name: 'p1', uid: pod.metadata.uid }),
    );
    const name = { namespace, name: 'p1' };
    assert.deepEqual(await api.delete(pods, name, { gracePeriodSeconds: 0 }), { kind: 'deleted' });
  },

  'removes a terminating namespace once its last pod is gone': async (env) => {
    const namespace = await env.namespace();
    await env.pod(namespace, 'p1');
    await env.api.delete(namespaces, { name: namespace });
    await env.api.delete(pods, { namespace, name: 'p1' }, { gracePeriodSeconds: 0 });
    await eventually('end of the namespace', async () =>
      (await isGone(env, namespaces, { name: namespace })) ? true : undefined,
    );
  },

  'removes a deleted namespace with what is in it': async (env) => {
    const namespace = await env.namespace();
    await env.api.create(configmaps, { metadata: { name: 'x' } }, { namespace });
    await env.api.delete(namespaces, { name: namespace });
    await eventually('end of the namespace', async () =>
      (await isGone(env, namespaces, { name: namespace })) ? true : undefined,
    );
    assert.ok(await isGone(env, configmaps, { namespace, name: 'x' }));
  },

  'taints a new node until somebody finds it ready': async (env) => {
    const name = env.unique('contract-node');
    const node = await env.api.create<Node>(nodes, { metadata: { name } });
    // Built-in kinds always have both, even if empty, and readers rely on that.
    assert.ok(node.status !== undefined && node.spec !== undefined);
    const keys = (node.spec.taints ?? []).map((taint) => taint.key);
    assert.deepEqual(keys, ['node.kubernetes.io/not-ready']);
    await env.api.delete(nodes, { name });
  },

  'serves a custom resource: status apart, generations, no strategic patch': async (env) => {
    const { api } = env;
    const widgets = await serveWidgets(env);
    const name = { name: 'w1' };
    const made = await api.create<Widget>(widgets, {
      metadata: name,
      spec: { size: 1, color: 'red' },
      status: { phase: 'Done' },
    });
    assert.equal(made.metadata.generation, 1);
    assert.equal(made.status, undefined);
    const patch = async (body: JsonObject, subresource?: string): Promise<Widget> => {
      const more = subresource === undefined ? {} : { subresource };
      const patched = await api.patch<Widget>(widgets, name, { type: 'merge', body, ...more });
      return patched.kind === 'found' ? patched.object : assert.fail('gone');
    };
    const toldDone = await patch({ spec: { size: 9 }, status: { phase: 'Done' } }, 'status');
    assert.deepEqual([toldDone.spec.size, toldDone.status?.phase], [1, 'Done']);
    assert.equal(toldDone.metadata.generation, 1);
    const grown = await patch({ spec: { size: 2 }, status: { phase: 'Lost' } });
    assert.deepEqual([grown.spec.size, grown.status?.phase], [2, 'Done']);
    assert.equal(grown.metadata.generation, 2);
    const same = await patch({ spec: { size: 2 } });
    assert.equal(same.metadata.resourceVersion, grown.metadata.resourceVersion);
    await fails('BadRequest', api.patch(widgets, name, { type: 'strategic', body: {} }));
    const listed = await api.list(widgets);
    assert.deepEqual(
      listed.items.map((item) => item.metadata.name),
      ['w1'],
    );
    await api.delete(customresourcedefinitions, { name: `${widgets.resource}.${widgets.group}` });
  },

  'refuses a custom resource that its schema does not allow': async (env) => {
    const { api } = env;
    const widgets = await serveWidgets(env);
    const create = (spec: JsonObject): Promise<unknown> =>
      api.create(widgets, { metadata: { name: 'w1' }, spec });
    const wrong = await fails('Invalid', create({ size: 'big' }));
    assert.match(wrong.message, /spec\.size/);
    await fails('Invalid', create({ size: 0 }));
    await fails('Invalid', create({}));
    await create({ size: 1 });
    const body = { spec: { size: 0 } };
    await fails('Invalid', api.patch(widgets, { name: 'w1' }, { type: 'merge', body }));
  },

  'gives a custom resource its defaults and drops fields that its schema lacks': async (env) => {
    const widgets = await serveWidgets(env);
    const spec = { size: 1, unknown: true };
    const made = await env.api.create<Widget>(widgets, { metadata: { name: 'w1' }, spec });
    assert.deepEqual(made.spec, { size: 1, color: 'grey' });
  },

  'answers that a kind is not served': async (env) => {
    const missing = { ...configmaps, group: 'missing.drover.dev', version: 'v1' };
    await fails('NotFound', env.api.list(missing));
  },
};

/** Creates a CRD and waits until the server serves it. */
export const serveWidgets = async ({ api, unique }: ContractEnv): Promise<ResourceType> => {
  const singular = unique('widget').replace('-', '');
  const type: ResourceType = {
    group: 'contract.drover.dev',
    version: 'v1',
    resource: `${singular}s`,
    kind: `W${singular.slice(1)}`,
    namespaced: false,
  };
  const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties,
    ...more,
  });
  const size = { type: 'integer', minimum: 1 };
  const color = { type: 'string', default: 'grey' };
  const schema = object({
    spec: object({ size, color }, { required: ['size'] }),
    status: object({ phase: { type: 'string' } }),
  });
  await api.create(customresourcedefinitions, {
    metadata: { name: `${type.resource}.${type.group}` },
    spec: {
      group: type.group,
      scope: 'Cluster',
      names: { plural: type.resource, singular, kind: type.kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  });
  await eventually(`${type.resource} served`, () =>
    api.list(type).catch((error: { code?: string }) => {
      if (error.code !== 'NotFound') throw error;
      return undefined;
    }),
  );
  return type;
};

export const objectCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
