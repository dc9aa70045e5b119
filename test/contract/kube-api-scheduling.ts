// Contract cases: how the scheduler behind the API places competing pods, and its messages. Each
// case creates its own nodes, distinguished by a label, without kubelets.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import { type Pod, type ResourceType, resourceTypes } from '../../src/api/kube.ts';
import { type ContractCase, type ContractEnv, eventually, get } from './kube-api-env.ts';

const { nodes, pods } = resourceTypes;
const priorityClasses: ResourceType = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};

/** Keeps pods of other cases, which name no node, off this case's nodes. */
const poolTaint = (pool: string) => ({
  key: 'example.org/pool',
  value: pool,
  effect: 'NoSchedule',
});

/** The case's own nodes, labelled `pool` and tainted against all other pods. */
const poolOf = async (env: ContractEnv, zones: readonly string[], cpu = '4'): Promise<string> => {
  const pool = env.unique('pool');
  for (const [index, zone] of zones.entries()) {
    const name = `${pool}-${index}`;
    const labels = { 'example.org/pool': pool, 'topology.kubernetes.io/zone': zone };
    const own = { spec: { taints: [poolTaint(pool)] } };
    await env.api.create(nodes, { metadata: { name, labels }, ...own });
    const amounts = { cpu, memory: '8Gi', pods: '10' };
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }];
    const status = { capacity: amounts, allocatable: amounts, conditions };
    const patch = { type: 'strategic', body: { status }, subresource: 'status' } as const;
    await env.api.patch(nodes, { name }, patch);
    // A new node also has the not-ready taint, which not every cluster's controllers remove.
    await env.api.patch(nodes, { name }, { type: 'merge', body: own });
  }
  return pool;
};

const dropPool = async (env: ContractEnv, pool: string, count: number): Promise<void> => {
  for (let index = 0; index < count; index++) {
    await env.api.delete(nodes, { name: `${pool}-${index}` });
  }
};

const place = async (
  env: ContractEnv,
  where: { readonly namespace: string; readonly name: string; readonly pool: string },
  spec: JsonObject = {},
): Promise<Pod> => {
  const { namespace, name, pool } = where;
  const { cpu = '100m', ...rest } = spec;
  const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu } } }];
  const body = {
    metadata: { name, labels: { app: 'a' } },
    spec: {
      containers,
      nodeSelector: { 'example.org/pool': pool },
      tolerations: [poolTaint(pool)],
      ...rest,
    },
  };
  return eventually(`pod ${name} to be accepted`, () =>
    env.api.create<Pod>(pods, body, { namespace }).catch(() => undefined),
  );
};

const scheduled = (pod: Pod) => pod.status.conditions?.find((one) => one.type === 'PodScheduled');

/**
 * Waits until the pod has a node and returns the pod; on a timeout, the error has the scheduler's
 * message.
 */
const placed = async (
  env: ContractEnv,
  name: { namespace: string; name: string },
): Promise<Pod> => {
  let said = 'the scheduler said nothing';
  const look = async (): Promise<Pod | undefined> => {
    const pod = await get<Pod>(env, pods, name);
    said = scheduled(pod)?.message ?? said;
    return pod.spec.nodeName ? pod : undefined;
  };
  return eventually(() => `${name.name} on a node (${said})`, look);
};

const refusal = (env: ContractEnv, name: { namespace: string; name: string }): Promise<string> =>
  eventually(`${name.name} to be refused`, async () => {
    const pod = await get<Pod>(env, pods, name);
    const why = scheduled(pod);
    return why?.reason === 'Unschedulable' ? why.message : undefined;
  });

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'spreads pods over zones as asked, and says what is in the way of one more': async (env) => {
    const namespace = await env.namespace();
    const pool = await poolOf(env, ['a', 'b'], '250m');
    const labelSelector = { matchLabels: { app: 'a' } };
    const hard = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
    const topologySpreadConstraints = [{ ...hard, topologyKey: 'topology.kubernetes.io/zone' }];
    const spec = { topologySpreadConstraints };
    const at: string[] = [];
    for (const name of ['p1', 'p2', 'p3', 'p4']) {
      await place(env, { namespace, name, pool }, spec);
      at.push((await placed(env, { namespace, name })).spec.nodeName ?? '');
    }
    assert.deepEqual(at.sort(), [`${pool}-0`, `${pool}-0`, `${pool}-1`, `${pool}-1`]);
    await place(env, { namespace, name: 'full', pool }, spec);
    assert.match(await refusal(env, { namespace, name: 'full' }), /2 Insufficient cpu[,.]/);
    const rack = { topologySpreadConstraints: [{ ...hard, topologyKey: 'rack' }] };
    await place(env, { namespace, name: 'rack', pool }, { ...rack, cpu: '1m' });
    assert.match(
      await refusal(env, { namespace, name: 'rack' }),
      /2 node\(s\) didn't match pod topology spread constraints \(missing required label\)/,
    );
    await dropPool(env, pool, 2);
  },

  'makes room for an important pod by the least important one, and nominates the node': async (
    env,
  ) => {
    const namespace = await env.namespace();
    const pool = await poolOf(env, ['a', 'b'], '1');
    const [high, middle] = [env.unique('high'), env.unique('middle')];
    await env.api.create(priorityClasses, { metadata: { name: high }, value: 1000 });
    await env.api.create(priorityClasses, { metadata: { name: middle }, value: 100 });
    const wait = { terminationGracePeriodSeconds: 30, cpu: '800m' };
    await place(env, { namespace, name: 'low', pool }, wait);
    const low = await placed(env, { namespace, name: 'low' });
    await place(env, { namespace, name: 'mid', pool }, { ...wait, priorityClassName: middle });
    await placed(env, { namespace, name: 'mid' });
    await place(env, { namespace, name: 'big', pool }, { cpu: '800m', priorityClassName: high });
    const big = await eventually('a nominated node', async () => {
      const pod = await get<Pod>(env, pods, { namespace, name: 'big' });
      const { nominatedNodeName } = pod.status as { readonly nominatedNodeName?: string };
      return nominatedNodeName === undefined ? undefined : { pod, nominatedNodeName };
    });
    assert.equal(big.nominatedNodeName, low.spec.nodeName);
    const victim = await eventually('the victim to be told', async () => {
      const pod = await get<Pod>(env, pods, { namespace, name: 'low' });
      return pod.metadata.deletionTimestamp === undefined ? undefined : pod;
    });
    const why = victim.status.conditions?.find((one) => one.type === 'DisruptionTarget');
    assert.equal(why?.reason, 'PreemptionByScheduler');
    const spared = await get<Pod>(env, pods, { namespace, name: 'mid' });
    assert.equal(spared.metadata.deletionTimestamp, undefined);
    await env.api.delete(pods, { namespace, name: 'low' }, { gracePeriodSeconds: 0 });
    const there = await placed(env, { namespace, name: 'big' });
    assert.equal(there.spec.nodeName, low.spec.nodeName);
    await dropPool(env, pool, 2);
    for (const name of [high, middle]) await env.api.delete(priorityClasses, { name });
  },

  'holds gated pods back, and names claims that are not there': async (env) => {
    const namespace = await env.namespace();
    const pool = await poolOf(env, ['a']);
    const schedulingGates = [{ name: 'example.org/wait' }];
    const gated = await place(env, { namespace, name: 'gated', pool }, { schedulingGates });
    const why = scheduled(gated);
    assert.deepEqual(
      [why?.status, why?.reason, why?.message],
      ['False', 'SchedulingGated', 'Scheduling is blocked due to non-empty scheduling gates'],
    );
    const body = { spec: { schedulingGates: null } };
    await env.api.patch(pods, { namespace, name: 'gated' }, { type: 'merge', body });
    await placed(env, { namespace, name: 'gated' });
    const list = [{ name: 'v', persistentVolumeClaim: { claimName: 'nowhere' } }];
    await place(env, { namespace, name: 'unserved', pool }, { volumes: list });
    assert.match(
      await refusal(env, { namespace, name: 'unserved' }),
      /nodes are available: persistentvolumeclaim "nowhere" not found\./,
    );
    await dropPool(env, pool, 1);
  },
};

export const schedulingCases: readonly ContractCase[] = Object.entries(cases).map(
  ([name, run]) => ({ name, run }),
);
