// Contract cases: the effect of each kind of patch on lists, versions and the status of an object.
import assert from 'node:assert/strict';
import type { Json } from '../../src/api/json.ts';
import { type Node, resourceTypes, type Taint } from '../../src/api/kube.ts';
import { KubeError, type PatchType } from '../../src/ports/index.ts';
import { type ContractCase, type ContractEnv, eventually, fails, get } from './kube-api-env.ts';

const { nodes } = resourceTypes;

interface Patcher {
  readonly name: string;
  patch(type: PatchType, body: Json, subresource?: string): Promise<Node>;
  read(): Promise<Node>;
}

/** The case's own node, without taints. */
const freshNode = async (env: ContractEnv): Promise<Patcher> => {
  const name = env.unique('contract-node');
  await env.api.create(nodes, { metadata: { name } });
  const patch: Patcher['patch'] = async (type, body, subresource) => {
    const more = subresource === undefined ? {} : { subresource };
    const patched = await env.api.patch<Node>(nodes, { name }, { type, body, ...more });
    return patched.kind === 'found' ? patched.object : assert.fail(`node ${name} is gone`);
  };
  await patch('merge', { spec: { taints: null } });
  return { name, patch, read: () => get<Node>(env, nodes, { name }) };
};

const taint = (key: string): Json => ({ key, effect: 'PreferNoSchedule' });
const keysOf = (taints: readonly Taint[] | undefined): string =>
  (taints ?? [])
    .map((each) => each.key)
    .sort()
    .join(' ');

const hasCondition = ({ status }: Partial<Pick<Node, 'status'>>, type: string): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type);

const withNode = (
  name: string,
  run: (node: Patcher, env: ContractEnv) => Promise<void>,
): ContractCase => ({
  name,
  run: async (env) => {
    const node = await freshNode(env);
    await run(node, env);
    await env.api.delete(nodes, { name: node.name });
  },
});

export const patchCases: readonly ContractCase[] = [
  withNode('sets label, annotation, taint and cordon in one merge patch', async (node) => {
    // The server's own controllers write to nodes too, so a conflict is retried.
    const patched = await eventually('the marks', async () => {
      const { metadata } = await node.read();
      const { uid, resourceVersion } = metadata;
      const labels = { 'contract.drover.dev/l': 'true' };
      const annotations = { 'contract.drover.dev/a': 'x' };
      const marks = {
        metadata: { uid, resourceVersion, labels, annotations },
        spec: { unschedulable: true, taints: [taint('drover.dev/disrupted')] },
      };
      return node.patch('merge', marks).catch((error: unknown) => {
        if (!(error instanceof KubeError) || error.code !== 'Conflict') throw error;
        return undefined;
      });
    });
    assert.equal(patched.spec.unschedulable, true);
    assert.equal(patched.metadata.labels?.['contract.drover.dev/l'], 'true');
    assert.equal(patched.metadata.annotations?.['contract.drover.dev/a'], 'x');
    assert.match(keysOf(patched.spec.taints), /drover\.dev\/disrupted/);
    const cleared = await node.patch('merge', {
      metadata: { labels: { 'contract.drover.dev/l': null } },
      spec: { unschedulable: null },
    });
    assert.equal(cleared.spec.unschedulable, undefined);
    assert.equal(cleared.metadata.labels?.['contract.drover.dev/l'], undefined);
  }),

  withNode('refuses a patch with an old version or of another object', async (node) => {
    const before = await node.read();
    await node.patch('merge', { metadata: { labels: { a: 'b' } } });
    const { resourceVersion } = before.metadata;
    const stale = { metadata: { resourceVersion, labels: { a: 'c' } } };
    await fails('Conflict', node.patch('merge', stale));
    const other = { metadata: { uid: '00000000-0000-4000-8000-000000000000' } };
    const error = await fails('Invalid', node.patch('merge', other));
    assert.match(error.message, /metadata\.uid.*field is immutable/);
    assert.equal((await node.read()).metadata.labels?.a, 'b');
  }),

  withNode('writes no new version when nothing changes', async (node) => {
    const before = await node.patch('merge', { metadata: { labels: { a: 'b' } } });
    const after = await node.patch('merge', { metadata: { labels: { a: 'b' } } });
    assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
  }),

  withNode('applies a JSON patch whole or, when a test fails, not at all', async (node) => {
    await node.patch('merge', { metadata: { annotations: { epoch: '1' } } });
    const path = '/metadata/annotations/epoch';
    const patched = await node.patch('json', [
      { op: 'test', path, value: '1' },
      { op: 'replace', path, value: '2' },
      { op: 'add', path: '/metadata/annotations/a~1b', value: 'escaped' },
    ]);
    assert.equal(patched.metadata.annotations?.epoch, '2');
    assert.equal(patched.metadata.annotations?.['a/b'], 'escaped');
    const failing = [
      { op: 'replace', path, value: '3' },
      { op: 'test', path, value: '1' },
    ];
    await fails('Invalid', node.patch('json', failing));
    assert.equal((await node.read()).metadata.annotations?.epoch, '2');
  }),

  withNode('refuses a patch whose body is not of its type', async (node) => {
    await fails('BadRequest', node.patch('json', { spec: {} }));
    await fails('BadRequest', node.patch('merge', [1]));
  }),

  withNode('replaces the list of taints with every kind of patch', async (node) => {
    for (const type of ['merge', 'strategic'] as const) {
      await node.patch(type, { spec: { taints: [taint('a'), taint('b')] } });
      const patched = await node.patch(type, { spec: { taints: [taint('c')] } });
      assert.equal(keysOf(patched.spec.taints), 'c', type);
    }
  }),

  withNode('merges conditions by type with a strategic patch only', async (node) => {
    const condition = (type: string, status: string): Json => ({
      type,
      status,
      reason: 'Contract',
    });
    const set = async (type: PatchType, ...conditions: Json[]): Promise<string> => {
      const patched = await node.patch(type, { status: { conditions } }, 'status');
      return (patched.status.conditions ?? [])
        .map((each) => `${each.type}=${each.status}`)
        .sort()
        .join(' ');
    };
    await set('strategic', condition('KernelReady', 'True'), condition('StorageReady', 'True'));
    const merged = await set('strategic', condition('KernelReady', 'False'));
    assert.equal(merged, 'KernelReady=False StorageReady=True');
    assert.equal(await set('merge', condition('KernelReady', 'True')), 'KernelReady=True');
  }),

  withNode('keeps spec and status apart, but labels land through either', async (node) => {
    const throughSpec = await node.patch('merge', {
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'KernelReady', status: 'True' }] },
    });
    assert.ok(!hasCondition(throughSpec, 'KernelReady'));
    const throughStatus = await node.patch(
      'merge',
      {
        metadata: { labels: { through: 'status' } },
        spec: { unschedulable: null },
        status: { conditions: [{ type: 'KernelReady', status: 'True' }] },
      },
      'status',
    );
    assert.equal(throughStatus.spec.unschedulable, true);
    assert.equal(throughStatus.metadata.labels?.through, 'status');
    assert.ok(hasCondition(throughStatus, 'KernelReady'));
  }),

  {
    name: 'keeps nothing of a patch in a dry run',
    run: async (env) => {
      const node = await freshNode(env);
      const body = { metadata: { labels: { dry: 'run' } } };
      const patch = { type: 'merge', body } as const;
      const dry = await env.api.patch<Node>(nodes, { name: node.name }, patch, { dryRun: true });
      assert.equal(dry.kind === 'found' && dry.object.metadata.labels?.dry, 'run');
      assert.equal((await node.read()).metadata.labels?.dry, undefined);
      await env.api.delete(nodes, { name: node.name });
    },
  },
];
