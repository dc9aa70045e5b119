// Drover's CRDs, informers and leader election on a real API server, which no fake can prove.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  createKubeClient,
  type KubeClient,
  loadKubeconfig,
} from '../../src/adapters/kube/index.ts';
import type { DisruptionCause, NodeDisruption } from '../../src/api/disruption.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import type { NodeGroup } from '../../src/api/nodegroup.ts';
import { recordCause } from '../../src/controllers/causes.ts';
import { ensureCrds } from '../../src/controllers/crds.ts';
import { createDisruptionInformer } from '../../src/controllers/informers.ts';
import { causeWrite } from '../../src/core/termination/index.ts';
import { wallClock } from '../../src/main/wall-clock.ts';
import { KubeError } from '../../src/ports/index.ts';
import { LeaderElector, mergePatchBetween } from '../../src/runtime/index.ts';
import { aGroupSpec } from '../builders/controllers.ts';
import { CollectingLog, TestRandom } from '../builders/runtime.ts';
import { anyCluster } from '../support/real-cluster.ts';
import { skipWhen } from '../support/stories.ts';

const { nodegroups, nodedisruptions, customresourcedefinitions } = resourceTypes;
const clock = wallClock;
const random = new TestRandom();
const never = new AbortController().signal;

const codeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (error instanceof KubeError) return error.code;
    throw error;
  }
};
const aCause = (id: string): DisruptionCause => ({
  kind: 'LifecycleHook',
  id,
  receivedAt: '2026-01-01T00:00:00.000Z',
  deadline: '2026-01-03T00:00:00.000Z',
  onDeadline: 'force',
  followUp: 'Release',
  hook: {
    autoScalingGroupName: 'asg',
    name: id,
    startedAt: '2026-01-01T00:00:00.000Z',
    heartbeatTimeoutSeconds: 1800,
    globalTimeoutSeconds: 172_800,
  },
});

const anHour = { cron: '0 2 * * *', durationSeconds: 3600 };

describe('Our objects on a real API server', { timeout: 300_000 }, async () => {
  const cluster = await anyCluster({});
  const whyNot = cluster.available ? undefined : cluster.reason;
  const skip = skipWhen('stories of our objects on a real API server', whyNot);
  let kube: KubeClient;
  const log = new CollectingLog();
  const deps = () => ({ kube, clock, random, log });

  before(async () => {
    if (!cluster.available) return;
    const access = await loadKubeconfig({ path: cluster.kubeconfigPath, env: {} });
    kube = createKubeClient({ ...access, userAgent: 'drover/definitions' });
    await ensureCrds(deps(), never);
  });
  after(async () => {
    if (!cluster.available) return;
    await kube.close();
    await cluster.stop();
  });

  it('the definitions are structural, and installing them again writes nothing', {
    skip,
  }, async () => {
    const versions = async () =>
      (await kube.list(customresourcedefinitions)).items.map((each) => each.metadata.generation);
    const first = await versions();
    await ensureCrds(deps(), never);
    assert.deepEqual(await versions(), first);
    for (const { metadata } of (await kube.list(customresourcedefinitions)).items) {
      const found = await kube.get(customresourcedefinitions, { name: metadata.name });
      assert.equal(found.kind, 'found');
      const status = found.kind === 'found' ? JSON.stringify(found.object) : '';
      assert.ok(!status.includes('NonStructuralSchema'), status);
    }
  });

  it('a NodeGroup keeps every field, refuses wrong ones, and scales', { skip }, async () => {
    const spec = aGroupSpec({
      scaling: { minSize: 0, maxSize: 10, desired: 1 },
      labels: { 'example.com/a': 'b' },
      taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
      launchTemplate: { id: 'lt-1', name: 'n', version: '3' },
      remoteAccess: { ec2SshKey: 'key' },
      diskSizeGiB: 20,
      tags: { a: 'b' },
      drain: { timeoutSeconds: 900, onDeadline: 'fail' },
    });
    const body = (name: string, more: object) => ({
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name },
      spec: JSON.parse(JSON.stringify({ ...spec, ...more })),
    });
    const made = await kube.create<NodeGroup>(nodegroups, body('ng', {}));
    assert.deepEqual(made.spec, spec);
    for (const wrong of [
      { capacityType: 'FREE' },
      { scaling: { minSize: 3, maxSize: 2 } },
      { scaling: { minSize: 0, maxSize: 1, desired: -1 } },
      { drain: { onDeadline: 'explode' } },
      { updateConfig: { windows: [{ ...anHour, timeZone: 'Mars/Base' }] } },
      { labels: { 'a b': 'c' } },
      { labels: { 'a/b/c': 'd' } },
      { labels: { a: '-x' } },
      { labels: { 'kubernetes.io/x': 'y' } },
      { labels: { 'eks.amazonaws.com/nodegroup': 'y' } },
      { taints: [{ key: 'a b', effect: 'NoSchedule' }] },
      { taints: [{ key: 'a', value: 'b c', effect: 'NoSchedule' }] },
    ]) {
      assert.equal(await codeOf(kube.create(nodegroups, body('wrong', wrong))), 'Invalid');
    }
    const berlin = { updateConfig: { windows: [{ ...anHour, timeZone: 'Europe/Berlin' }] } };
    await kube.create(nodegroups, body('berlin', berlin));
    const patch = { type: 'merge', body: { spec: { replicas: 4 } }, subresource: 'scale' } as const;
    await kube.patch(nodegroups, { name: 'ng' }, patch);
    const scaled = await kube.get<NodeGroup>(nodegroups, { name: 'ng' });
    assert.equal(scaled.kind === 'found' && scaled.object.spec.scaling.desired, 4);
  });

  it('status is written apart, and what vanished is gone', { skip }, async () => {
    const name = 'ng';
    const write = async (status: object) => {
      const found = await kube.get<NodeGroup>(nodegroups, { name });
      assert.equal(found.kind, 'found');
      const before = found.kind === 'found' ? found.object.status : undefined;
      const body = { status: mergePatchBetween(before, status) ?? {} };
      const patch = { type: 'merge', body, subresource: 'status' } as const;
      const written = await kube.patch<NodeGroup>(nodegroups, { name }, patch);
      return written.kind === 'found' ? written.object.status : undefined;
    };
    const base = { state: 'ACTIVE', desired: 1, minSize: 0, maxSize: 10, instances: 1, ready: 1 };
    await write({ ...base, perZone: { a: 1, b: 2 }, conditions: [] });
    const next = { ...base, perZone: { b: 1 }, health: [] };
    assert.deepEqual(await write(next), next);
  });

  it('causes from two writers at once all land, each once', { skip }, async () => {
    const stop = new AbortController();
    const disruptions = createDisruptionInformer(deps());
    const running = disruptions.run(stop.signal);
    await disruptions.synced(never);
    const name = 'i-00000000000000001';
    const subject = { name, instanceId: name, nodeGroup: 'ng' };
    const ids = ['a', 'b', 'c', 'a', 'b', 'c'];
    await Promise.all(
      ids.map((id) => recordCause({ kube, disruptions }, { subject, cause: aCause(id) }, never)),
    );
    const found = await kube.get<NodeDisruption>(nodedisruptions, { name });
    assert.equal(found.kind, 'found');
    if (found.kind !== 'found') return;
    const { causes } = found.object.spec;
    assert.deepEqual(causes.map((cause) => cause.id).toSorted(), ['a', 'b', 'c']);
    assert.deepEqual(
      causes.find((cause) => cause.id === 'a'),
      aCause('a'),
    );
    assert.equal(
      await disruptions.observedAtLeast(found.object.metadata.resourceVersion, never),
      true,
    );
    assert.equal(disruptions.get(name)?.spec.causes.length, 3);
    const twice = causeWrite(undefined, { name: 'twice' }, aCause('x'));
    assert.equal(twice.kind, 'create');
    const doubled = { metadata: { name: 'twice' }, spec: { causes: [{ id: 'x' }, { id: 'x' }] } };
    const kind = { apiVersion: 'drover.dev/v1alpha1', kind: 'NodeDisruption' };
    assert.equal(await codeOf(kube.create(nodedisruptions, { ...kind, ...doubled })), 'Invalid');
    stop.abort();
    await running;
  });

  it('one of two processes leads, and hands over when it stops', { skip }, async () => {
    const log2 = new CollectingLog();
    const leaders: { readonly identity: string; readonly epoch: number }[] = [];
    const candidate = (identity: string) => {
      const stop = new AbortController();
      const options = { namespace: 'kube-system', name: 'drover', identity };
      const elector = new LeaderElector({ kube, clock, random, log: log2, ...options });
      const running = elector.run(async (term, signal) => {
        leaders.push({ identity, epoch: term.epoch });
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }, stop.signal);
      return { stop, running };
    };
    const until = async (count: number) => {
      for (let i = 0; i < 100 && leaders.length < count; i++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    const a = candidate('a');
    await until(1);
    const b = candidate('b');
    a.stop.abort();
    await a.running;
    await until(2);
    b.stop.abort();
    await b.running;
    // A recreated Lease continues from a number that the test does not know; only the step is
    // fixed.
    const first = leaders[0]?.epoch ?? 0;
    assert.deepEqual(leaders, [
      { identity: 'a', epoch: first },
      { identity: 'b', epoch: first + 1 },
    ]);
    assert.ok(first > 0);
    assert.deepEqual(log2.messages('warn'), []);
  });
});
