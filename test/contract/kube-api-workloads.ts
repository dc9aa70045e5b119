// Contract cases: how the controllers behind the API handle StatefulSets, Jobs and claims. The case
// acts as the kubelets, since no node accepts its pods.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import { type KubeObject, type Pod, type ResourceType, resourceTypes } from '../../src/api/kube.ts';
import { type ContractCase, type ContractEnv, eventually, get } from './kube-api-env.ts';

const { pods } = resourceTypes;

const type = (group: string, resource: string, kind: string, namespaced = true): ResourceType => ({
  group,
  version: 'v1',
  resource,
  kind,
  namespaced,
});
const statefulsets = type('apps', 'statefulsets', 'StatefulSet');
const jobs = type('batch', 'jobs', 'Job');
const claims = type('', 'persistentvolumeclaims', 'PersistentVolumeClaim');
const volumes = type('', 'persistentvolumes', 'PersistentVolume', false);

type Loose = KubeObject & {
  readonly spec: JsonObject;
  readonly status?: JsonObject & {
    readonly conditions?: readonly JsonObject[];
  };
};

const podsIn = async (env: ContractEnv, namespace: string): Promise<readonly Pod[]> =>
  [...(await env.api.list<Pod>(pods, { namespace })).items].sort((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );

const namesOf = (list: readonly Pod[]): string => list.map((pod) => pod.metadata.name).join(' ');

/** The pods, once their names are exactly `names`. */
const whenThere = (env: ContractEnv, namespace: string, names: string): Promise<readonly Pod[]> =>
  eventually(`pods ${names}`, async () => {
    const list = await podsIn(env, namespace);
    return namesOf(list) === names ? list : undefined;
  });

const ends = async (
  env: ContractEnv,
  { metadata }: Pod,
  how: 'Succeeded' | 'Failed',
): Promise<void> => {
  const exitCode = how === 'Succeeded' ? 0 : 1;
  const terminated = { exitCode, startedAt: metadata.creationTimestamp };
  const status = {
    phase: how,
    containerStatuses: [
      {
        ...{ name: 'c', image: 'x', imageID: '', ready: false },
        restartCount: 0,
        state: { terminated },
      },
    ],
  };
  const patch = { type: 'strategic', body: { status }, subresource: 'status' } as const;
  await env.api.patch(pods, metadata, patch);
};

const runs = async (env: ContractEnv, { metadata }: Pod): Promise<void> => {
  const conditions = [{ type: 'Ready', status: 'True' }];
  const body = { status: { phase: 'Running', conditions } };
  await env.api.patch(pods, metadata, { type: 'strategic', body, subresource: 'status' });
};

const template = (more: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'x' }], ...more },
});

/** No node accepts these pods, so only the case makes them run. */
const nowhere = { nodeSelector: { 'example.org/nowhere': 'yes' } };

const statefulSet = async (
  env: ContractEnv,
  namespace: string,
  spec: JsonObject = {},
): Promise<void> => {
  await env.api.create(
    statefulsets,
    {
      metadata: { name: 'web' },
      spec: {
        ...{ replicas: 3, serviceName: 'web', selector: { matchLabels: { app: 'a' } } },
        template: template(nowhere),
        ...spec,
      },
    },
    { namespace },
  );
};

const allRun = async (env: ContractEnv, namespace: string): Promise<void> => {
  for (const names of ['web-0', 'web-0 web-1', 'web-0 web-1 web-2']) {
    const list = await whenThere(env, namespace, names);
    for (const pod of list) if (pod.status.phase !== 'Running') await runs(env, pod);
  }
};

const nextRevision = async (env: ContractEnv, namespace: string): Promise<string> => {
  const set = { namespace, name: 'web' };
  const before = (await get<Loose>(env, statefulsets, set)).status?.updateRevision;
  const body = { spec: { template: { metadata: { labels: { v: '2' } } } } };
  await env.api.patch(statefulsets, set, { type: 'merge', body });
  return eventually('a new revision', async () => {
    const { status } = await get<Loose>(env, statefulsets, set);
    const next = status?.updateRevision;
    return next !== before && typeof next === 'string' ? next : undefined;
  });
};

const revisionOf = (pod: Pod | undefined): string | undefined =>
  pod?.metadata.labels?.['controller-revision-hash'];

const statefulCases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'starts the pods of a StatefulSet one by one, each once the one before is ready': async (env) => {
    const namespace = await env.namespace();
    await statefulSet(env, namespace);
    const [first] = await whenThere(env, namespace, 'web-0');
    assert.ok(first);
    assert.equal(first.metadata.labels?.['statefulset.kubernetes.io/pod-name'], 'web-0');
    assert.equal(first.metadata.labels?.['apps.kubernetes.io/pod-index'], '0');
    await allRun(env, namespace);
    const { status } = await eventually('three ready', async () => {
      const set = await get<Loose>(env, statefulsets, { namespace, name: 'web' });
      return set.status?.availableReplicas === 3 ? set : undefined;
    });
    assert.equal(status?.currentRevision, status?.updateRevision);
    const { replicas, readyReplicas, currentReplicas, updatedReplicas } = status ?? {};
    assert.deepEqual([replicas, readyReplicas, currentReplicas, updatedReplicas], [3, 3, 3, 3]);
  },

  'updates a StatefulSet from its last pod down to the partition': async (env) => {
    const namespace = await env.namespace();
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } };
    await statefulSet(env, namespace, { updateStrategy });
    await allRun(env, namespace);
    const next = await nextRevision(env, namespace);
    for (const updated of [2, 1]) {
      const pod = await eventually(`web-${updated} of the new revision`, async () => {
        const list = await podsIn(env, namespace);
        const found = list.find(({ metadata }) => metadata.name === `web-${updated}`);
        return revisionOf(found) === next ? found : undefined;
      });
      // The other pods are not updated until this one runs.
      const list = await podsIn(env, namespace);
      assert.equal(list.filter((one) => revisionOf(one) === next).length, 3 - updated);
      await runs(env, pod);
    }
    const { status } = await eventually('two updated', async () => {
      const set = await get<Loose>(env, statefulsets, { namespace, name: 'web' });
      return set.status?.readyReplicas === 3 ? set : undefined;
    });
    assert.deepEqual([status?.currentReplicas, status?.updatedReplicas], [1, 2]);
    assert.notEqual(revisionOf((await podsIn(env, namespace))[0]), next);
  },
};

const job = async (env: ContractEnv, namespace: string, spec: JsonObject): Promise<void> => {
  const body = { metadata: { name: 'work' }, spec };
  await env.api.create(jobs, { ...body }, { namespace });
};

const jobTemplate = { template: template({ ...nowhere, restartPolicy: 'Never' }) };

const conditionsOf = (loose: Loose): readonly (readonly unknown[])[] =>
  (loose.status?.conditions ?? []).map(({ type: of, status, reason }) => [of, status, reason]);

const whenOver = (env: ContractEnv, namespace: string): Promise<Loose> =>
  eventually('the Job to be over', async () => {
    const found = await get<Loose>(env, jobs, { namespace, name: 'work' });
    const over = conditionsOf(found).some(([of]) => of === 'Complete' || of === 'Failed');
    return over ? found : undefined;
  });

/** Ends one active pod of the Job. */
const endOne = async (
  env: ContractEnv,
  namespace: string,
  how: 'Succeeded' | 'Failed',
): Promise<Pod> => {
  const pod = await eventually('an active pod', async () =>
    (await podsIn(env, namespace)).find(({ status }) => status.phase === 'Pending'),
  );
  assert.deepEqual(pod.metadata.finalizers, ['batch.kubernetes.io/job-tracking']);
  await ends(env, pod, how);
  return pod;
};

const jobCases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'completes a Job when enough of its pods have succeeded': async (env) => {
    const namespace = await env.namespace();
    await job(env, namespace, { completions: 2, parallelism: 1, ...jobTemplate });
    await endOne(env, namespace, 'Succeeded');
    await endOne(env, namespace, 'Succeeded');
    const over = await whenOver(env, namespace);
    assert.deepEqual(conditionsOf(over), [
      ['SuccessCriteriaMet', 'True', 'CompletionsReached'],
      ['Complete', 'True', 'CompletionsReached'],
    ]);
    const { succeeded, failed, active, ready, terminating } = over.status ?? {};
    assert.deepEqual(
      [succeeded, failed, active, ready, terminating],
      [2, undefined, undefined, 0, 0],
    );
    assert.equal(typeof over.status?.completionTime, 'string');
    await eventually('no finalizers', async () => {
      const list = await podsIn(env, namespace);
      return list.every(({ metadata }) => metadata.finalizers === undefined) ? list : undefined;
    });
  },

  'fails a Job beyond its backoff limit, and gives no pod more': async (env) => {
    const namespace = await env.namespace();
    await job(env, namespace, { backoffLimit: 0, ...jobTemplate });
    await endOne(env, namespace, 'Failed');
    const over = await whenOver(env, namespace);
    assert.deepEqual(conditionsOf(over), [
      ['FailureTarget', 'True', 'BackoffLimitExceeded'],
      ['Failed', 'True', 'BackoffLimitExceeded'],
    ]);
    assert.deepEqual([over.status?.failed, over.status?.succeeded], [1, undefined]);
    assert.equal((await podsIn(env, namespace)).length, 1);
  },

  'gives each index of a Job its pod': async (env) => {
    const namespace = await env.namespace();
    const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
    await job(env, namespace, { ...indexed, ...jobTemplate });
    const list = await eventually('three pods', async () => {
      const found = await podsIn(env, namespace);
      return found.length === 3 ? found : undefined;
    });
    const key = 'batch.kubernetes.io/job-completion-index';
    for (const [index, pod] of list.entries()) {
      assert.match(pod.metadata.name, new RegExp(`^work-${index}-[a-z0-9]{5}$`));
      assert.equal(pod.metadata.annotations?.[key], String(index));
      if (index !== 1) await ends(env, pod, 'Succeeded');
    }
    await eventually('two indexes done', async () => {
      const found = await get<Loose>(env, jobs, { namespace, name: 'work' });
      return found.status?.completedIndexes === '0,2' ? found : undefined;
    });
  },
};

const volumeCases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'binds a claim to the smallest volume that fits, and keeps both while they are used': async (
    env,
  ) => {
    const namespace = await env.namespace();
    const storageClassName = env.unique('manual');
    const accessModes = ['ReadWriteOnce'];
    const name = (size: string): string => `${storageClassName}-${size.toLowerCase()}`;
    for (const size of ['20Gi', '3Gi', '1Gi']) {
      await env.api.create(volumes, {
        metadata: { name: name(size) },
        spec: {
          storageClassName,
          accessModes,
          capacity: { storage: size },
          hostPath: { path: '/x' },
        },
      });
      await eventually('an available volume', async () => {
        const found = await get<Loose>(env, volumes, { name: name(size) });
        return found.status?.phase === 'Available' ? found : undefined;
      });
    }
    const claim = { namespace, name: 'data' };
    const requests = { storage: '2Gi' };
    const spec = { storageClassName, accessModes, resources: { requests } };
    const made = await env.api.create<Loose>(claims, { metadata: claim, spec }, { namespace });
    assert.deepEqual(made.metadata.finalizers, ['kubernetes.io/pvc-protection']);
    const bound = await eventually('a bound claim', async () => {
      const found = await get<Loose>(env, claims, claim);
      return found.status?.phase === 'Bound' ? found : undefined;
    });
    assert.equal(bound.spec.volumeName, name('3Gi'));
    assert.deepEqual(bound.status?.capacity, { storage: '3Gi' });
    const volume = await get<Loose>(env, volumes, { name: name('3Gi') });
    const { claimRef } = volume.spec as { readonly claimRef?: JsonObject };
    assert.deepEqual([claimRef?.name, claimRef?.uid], ['data', made.metadata.uid]);
    assert.equal(volume.status?.phase, 'Bound');
    await env.api.delete(claims, claim);
    await eventually('a released volume', async () => {
      const found = await get<Loose>(env, volumes, { name: name('3Gi') });
      return found.status?.phase === 'Released' ? found : undefined;
    });
    for (const size of ['20Gi', '3Gi', '1Gi']) {
      await env.api.delete(volumes, { name: name(size) });
    }
  },
};

export const workloadCases: readonly ContractCase[] = Object.entries({
  ...statefulCases,
  ...jobCases,
  ...volumeCases,
}).map(([name, run]) => ({ name, run }));
