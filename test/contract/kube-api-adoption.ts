// Contract cases: which owner the labels of a pod or a ReplicaSet select. Controllers adopt orphans
// that their selector matches and release objects that it does not match.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import {
  type KubeObject,
  type Pod,
  type PodDisruptionBudget,
  type ResourceType,
  resourceTypes,
} from '../../src/api/kube.ts';
import { type ContractCase, type ContractEnv, eventually, get } from './kube-api-env.ts';

const { pods, poddisruptionbudgets } = resourceTypes;

const type = (group: string, resource: string, kind: string): ResourceType => ({
  group,
  version: 'v1',
  resource,
  kind,
  namespaced: true,
});
const replicasets = type('apps', 'replicasets', 'ReplicaSet');
const deployments = type('apps', 'deployments', 'Deployment');
const jobs = type('batch', 'jobs', 'Job');

/** Pods that no node accepts, so that only the case makes them run. */
const template: JsonObject = {
  metadata: { labels: { app: 'a' } },
  spec: {
    nodeSelector: { 'example.org/nowhere': 'yes' },
    containers: [{ name: 'c', image: 'x' }],
  },
};
const selector = { matchLabels: { app: 'a' } };
const sized = (replicas: number): JsonObject => ({ replicas, selector, template });
const labelled = { name: 'web', labels: { app: 'a' } };

const controllerOf = (object: KubeObject): string | undefined =>
  object.metadata.ownerReferences?.find(({ controller }) => controller === true)?.name;

const podsIn = async (env: ContractEnv, namespace: string): Promise<readonly Pod[]> =>
  (await env.api.list<Pod>(pods, { namespace })).items;

const whenOwned = (
  env: ContractEnv,
  of: ResourceType,
  name: { readonly namespace: string; readonly name: string },
  owner: string | undefined,
): Promise<KubeObject> =>
  eventually(`${of.resource} ${name.name} of ${owner ?? 'no controller'}`, async () => {
    const found = await get(env, of, name);
    return controllerOf(found) === owner ? found : undefined;
  });

const somePods = (env: ContractEnv, namespace: string, count: number): Promise<readonly Pod[]> =>
  eventually(`${count} pods`, async () => {
    const found = await podsIn(env, namespace);
    return found.length === count ? found : undefined;
  });

const relabel = (env: ContractEnv, pod: Pod, labels: JsonObject | null): Promise<unknown> =>
  env.api.patch(pods, pod.metadata, { type: 'merge', body: { metadata: { labels } } });

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'a ReplicaSet adopts an orphan pod, and replaces it once its label takes it out of service':
    async (env) => {
      const namespace = await env.namespace();
      const orphan = await env.pod(namespace, 'orphan', 'ready');
      await env.api.create(replicasets, { metadata: labelled, spec: sized(2) }, { namespace });
      const name = { namespace, name: 'orphan' };
      const adopted = await whenOwned(env, pods, name, 'web');
      const { uid: _uid, ...reference } = adopted.metadata.ownerReferences?.[0] ?? {};
      assert.deepEqual(reference, {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web',
        controller: true,
        blockOwnerDeletion: true,
      });
      await somePods(env, namespace, 2);
      await env.api.create(
        poddisruptionbudgets,
        { metadata: { name: 'b' }, spec: { maxUnavailable: 1, selector } },
        { namespace },
      );
      const counted = (healthy: number): Promise<unknown> =>
        eventually(`a budget that counts ${healthy}`, async () => {
          const target = { namespace, name: 'b' };
          const { status } = await get<PodDisruptionBudget>(env, poddisruptionbudgets, target);
          return status?.expectedPods === 2 && status.currentHealthy === healthy
            ? status
            : undefined;
        });
      await counted(1);
      await relabel(env, orphan, { app: 'debug' });
      await whenOwned(env, pods, name, undefined);
      const all = await somePods(env, namespace, 3);
      assert.equal(all.filter((pod) => controllerOf(pod) === 'web').length, 2);
      await counted(0);
    },

  'a Deployment adopts the ReplicaSet that one before it left behind, pods included': async (
    env,
  ) => {
    const namespace = await env.namespace();
    const made = { metadata: { name: 'web' }, spec: sized(1) };
    await env.api.create(deployments, made, { namespace });
    const [pod] = await somePods(env, namespace, 1);
    const set = { namespace, name: controllerOf(pod as KubeObject) ?? '' };
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    await env.raw('DELETE', path, { body: { propagationPolicy: 'Orphan' } });
    await whenOwned(env, replicasets, set, undefined);
    await eventually('no Deployment', async () => {
      const { items } = await env.api.list(deployments, { namespace });
      return items.length === 0 ? true : undefined;
    });
    await env.api.create(deployments, made, { namespace });
    await whenOwned(env, replicasets, set, 'web');
    assert.deepEqual(
      (await podsIn(env, namespace)).map(({ metadata }) => metadata.name),
      [pod?.metadata.name],
    );
    assert.equal((await env.api.list(replicasets, { namespace })).items.length, 1);
  },

  'a Job adopts an orphan of its own with the finalizer, and releases it without': async (env) => {
    const namespace = await env.namespace();
    const spec = { ...(template.spec as JsonObject), restartPolicy: 'Never' };
    await env.api.create(
      jobs,
      { metadata: { name: 'work' }, spec: { template: { spec } } },
      { namespace },
    );
    const [pod] = await somePods(env, namespace, 1);
    assert.ok(pod);
    const name = { namespace, name: pod.metadata.name };
    const metadata = { ownerReferences: null, finalizers: null };
    await env.api.patch(pods, name, { type: 'merge', body: { metadata } });
    const adopted = await whenOwned(env, pods, name, 'work');
    assert.deepEqual(adopted.metadata.finalizers, ['batch.kubernetes.io/job-tracking']);
    await relabel(env, pod, null);
    const released = await whenOwned(env, pods, name, undefined);
    assert.equal(released.metadata.finalizers, undefined);
    await somePods(env, namespace, 2);
  },
};

const daemonsets = type('apps', 'daemonsets', 'DaemonSet');
const revisions = type('apps', 'controllerrevisions', 'ControllerRevision');

/** Whether the fields of all nested objects are in alphabetical order, as the server sent them. */
const isInOrder = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  const names = Object.keys(value);
  const isSorted = Array.isArray(value) || names.join() === names.toSorted().join();
  return isSorted && Object.values(value).every(isInOrder);
};

const dependencyCases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'deletes owners in the foreground although each owns the next in a circle': async (env) => {
    const namespace = await env.namespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const uids = new Map<string, string>();
    const names = ['a', 'b', 'c'];
    for (const name of names) {
      const { body } = await env.raw('POST', path, { body: { metadata: { name } } });
      uids.set(name, String((body.metadata as JsonObject).uid));
    }
    for (const [at, name] of names.entries()) {
      const owner = names[(at + 1) % 3] ?? '';
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: uids.get(owner) };
      const ownerReferences = [{ ...reference, controller: true, blockOwnerDeletion: true }];
      const contentType = 'application/merge-patch+json';
      const patch = { body: { metadata: { ownerReferences } }, contentType };
      assert.equal((await env.raw('PATCH', `${path}/${name}`, patch)).code, 200);
    }
    await env.raw('DELETE', `${path}/a`, { body: { propagationPolicy: 'Foreground' } });
    await eventually('all of the circle to be gone', async () => {
      const codes = await Promise.all(names.map((name) => env.raw('GET', `${path}/${name}`)));
      return codes.every(({ code }) => code === 404) ? true : undefined;
    });
  },

  'writes the fields of a revision in order': async (env) => {
    const namespace = await env.namespace();
    const made = { metadata: { name: 'agent' }, spec: { selector, template } };
    await env.api.create(daemonsets, made, { namespace });
    const [revision] = await eventually('a revision', async () => {
      const { items } = await env.api.list<KubeObject & { readonly data: JsonObject }>(revisions, {
        namespace,
      });
      return items.length === 1 ? items : undefined;
    });
    const path = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
    const { body } = await env.raw('GET', `${path}/${revision?.metadata.name}`);
    assert.ok(isInOrder(body.data), JSON.stringify(body.data));
  },
};

export const adoptionCases: readonly ContractCase[] = Object.entries({
  ...cases,
  ...dependencyCases,
}).map(([name, run]) => ({ name, run }));
