// Notice intake, the lifecycle backstop and node groups in the embedded world, in virtual time. The
// real control plane runs over the world's API server and Auto Scaling.
import { describe, expect, it } from 'vitest';
import type { NodeDisruption } from '../../src/api/disruption.ts';
import { type Node, resourceTypes } from '../../src/api/kube.ts';
import { ensureCrds } from '../../src/controllers/crds.ts';
import {
  createDisruptionInformer,
  createNodeGroupInformer,
  createNodeGroupUpdateInformer,
  createNodeInformer,
  createRepairInformer,
} from '../../src/controllers/informers.ts';
import { createIntakeController } from '../../src/controllers/intake/index.ts';
import { createLifecycleController } from '../../src/controllers/lifecycle/index.ts';
import { createNodeGroupController } from '../../src/controllers/nodegroup/index.ts';
import { Driver } from '../../src/sim/driver.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { TraceRecorder } from '../../src/sim/trace/recorder.ts';
import { createWorld } from '../../world/index.ts';
import { microsPerMs } from '../../world/kernel/index.ts';
import { seedKube } from '../../world/kube/seed/index.ts';
import { CollectingJournal, CollectingLog, testStart } from '../builders/runtime.ts';
import { type Exempt, judge, noUpdates } from '../support/judge.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const noDrain = 'no controller of disruptions runs here: causes are recorded, nothing is done';
const nobodyDrains: Exempt = {
  'evictions-within-budgets': noDrain,
  'nothing-forced-early': noDrain,
  'marks-before-eviction': noDrain,
  'evictions-sent-once': noDrain,
  'unconfirmed-notices-move-nothing': noDrain,
  'only-drainable-pods': noDrain,
  'hooks-never-run-out': noDrain,
  'hooks-complete-when-empty': noDrain,
  'foreign-hooks-left-alone': noDrain,
  'marks-undone': noDrain,
  'intent-before-effect': noDrain,
  'fixed-state-writes-nothing': noDrain,
  'everything-ends': noDrain,
  'aws-auth-loses-no-entry': 'no node group brings a role of its own',
  'certificates-name-their-instance':
    'no kubelet asks for a certificate, or the platform approves it',
  'nothing-left-after-delete': 'no node group is deleted',
  'blockers-are-named': noDrain,
  'held-nodes-keep-their-pods': noDrain,
  'updates-keep-their-times': noDrain,
  ...noUpdates,
  'journal-economics': noDrain,
};

const setUp = async (seed: number) => {
  const recorder: TraceRecorder = new TraceRecorder(() => world.kernel.now());
  const world = createWorld({
    seed,
    startAt: testStart * microsPerMs,
    onWrite: (record) => recorder.request(record),
  });
  recorder.attach(world);
  const facts = world.aws.seedDemo({ clusterName: 'c', kubernetesVersion: '1.32' });
  const nodeRoleArns = [...facts.managed.map(({ spec }) => spec), ...facts.selfManaged].map(
    ({ nodeRole }) => nodeRole,
  );
  seedKube({ kube: world.kube, addons: false, nodeRoleArns });
  const driver = new Driver(world.kernel, settle);
  const ports = createInProcessPorts(world, {
    component: 'test',
    identity: { user: { username: 'u', groups: ['system:masters'] }, userAgent: 'test' },
    legMicros: 500,
    onCloudCall: (call) => recorder.call({ userAgent: 'test', ...call }),
  });
  const log = new CollectingLog();
  const journal = new CollectingJournal();
  const stop = new AbortController();
  const base = (purpose: string) => ({ ...ports, random: ports.random(purpose), log });
  const nodes = createNodeInformer(base('nodes'));
  const nodeGroups = createNodeGroupInformer(base('nodeGroups'));
  const disruptions = createDisruptionInformer(base('disruptions'));
  const updates = createNodeGroupUpdateInformer(base('updates'));
  const repairs = createRepairInformer(base('repairs'));
  const informers = { nodes, nodeGroups, updates, disruptions, repairs };
  let failure: unknown;
  const start = async () => {
    await ensureCrds(base('crds'), stop.signal);
    for (const { name, spec } of facts.managed) {
      const kind = { apiVersion: 'drover.dev/v1alpha1', kind: 'NodeGroup', metadata: { name } };
      const scaling = { ...spec.scaling, desired: name === 'demo-ng' ? 1 : 2 };
      const object = { ...kind, spec: JSON.parse(JSON.stringify({ ...spec, scaling })) };
      await ports.kube.create(resourceTypes.nodegroups, object);
    }
    const deps = (purpose: string) => ({ ...base(purpose), journal, ...informers });
    const queueUrl = world.aws.queueUrl(facts.noticeQueueName) ?? '';
    await Promise.all([
      ...Object.values(informers).map((informer) => informer.run(stop.signal)),
      createIntakeController({ ...deps('intake'), queueUrl }).run(stop.signal),
      createLifecycleController(deps('lifecycle')).run(stop.signal),
      createNodeGroupController({ ...deps('nodegroup'), compat: 'eks' }).run(stop.signal),
    ]);
  };
  const running = start().catch((error: unknown) => {
    failure = error;
  });
  await driver.advance(60);
  expect(failure).toBeUndefined();
  const demo = () => nodeGroups.get('demo-ng');
  const instanceId = world.aws.instanceIdOfNode(
    nodes.list().find((node) => labelOf(node) === 'demo-ng')?.metadata.name ?? '',
  );
  const disruption = (): NodeDisruption | undefined => disruptions.get(instanceId ?? '');
  const terminate = () =>
    world.aws.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId: instanceId,
      ShouldDecrementDesiredCapacity: true,
    });
  const end = async (exempt: Exempt = {}) => {
    stop.abort(new Error('end'));
    await driver.advance(1);
    await running;
    expect(failure).toBeUndefined();
    const trace = recorder.finish({
      ownAgents: ['test'],
      managedGroups: facts.managed.map(({ spec }) => spec.autoScalingGroupName),
      compat: 'eks',
      settled: false,
      endedAt: world.kernel.now(),
    });
    judge(trace, { ...nobodyDrains, ...exempt });
  };
  return { world, driver, log, journal, demo, disruption, instanceId, terminate, end };
};
const labelOf = (node: Node): string | undefined =>
  node.metadata.labels?.['eks.amazonaws.com/nodegroup'];

describe('in the world, a termination', () => {
  it('becomes one cause within a second, and the group’s desired size follows', async () => {
    const { driver, disruption, demo, terminate, log, instanceId, end } = await setUp(1);
    expect(instanceId).toMatch(/^i-/);
    expect(demo()?.status).toMatchObject({ state: 'ACTIVE', desired: 1, ready: 1 });
    terminate();
    await driver.advance(1);
    expect(disruption()?.spec.causes).toMatchObject([
      { kind: 'LifecycleHook', hook: { name: 'Terminate-LC-Hook', token: expect.any(String) } },
    ]);
    await driver.advance(60);
    expect(disruption()?.spec.causes).toHaveLength(1);
    expect(demo()?.spec.scaling.desired).toBe(0);
    expect(demo()?.status).toMatchObject({ desired: 0, instances: 1 });
    expect(log.messages('error')).toEqual([]);
    await end();
  });

  it('has its opposite: a launched instance goes into service when its node is Ready', async () => {
    const { world, driver, demo, journal, end } = await setUp(6);
    world.aws.call('autoscaling', 'SetDesiredCapacity', {
      AutoScalingGroupName: demo()?.spec.autoScalingGroupName,
      DesiredCapacity: 2,
    });
    const readyAt = async () => {
      for (let second = 0; second < 300; second++) {
        if (journal.types().includes('lifecycle:launch:completed')) return second;
        await driver.advance(1);
      }
      return undefined;
    };
    expect(await readyAt()).toBeLessThan(120);
    await driver.advance(20);
    expect(demo()?.status).toMatchObject({ desired: 2, instances: 2, ready: 2 });
    expect(demo()?.spec.scaling.desired).toBe(2);
    await end({ 'messages-are-durable': 'what the message asks for is done when it is deleted' });
  });

  it('is found within half a minute when its message is lost', async () => {
    const { world, driver, disruption, terminate, end } = await setUp(2);
    world.faults.inject('message-loss', {});
    terminate();
    await driver.advance(32);
    const causes = disruption()?.spec.causes;
    expect(causes).toHaveLength(1);
    expect(causes?.[0]?.hook?.token).toBeUndefined();
    await end({ 'messages-are-durable': 'every message is lost on its way' });
  });

  it.each([3, 4, 5])(
    'is one cause with messages doubled, late and among nonsense, calls failing (seed %i)',
    async (seed) => {
      const { world, driver, disruption, terminate, log, end } = await setUp(seed);
      const { faults } = world;
      for (const kind of ['message-duplicate', 'message-delay', 'message-malformed'] as const) {
        faults.inject(kind, {});
      }
      terminate();
      for (const kind of ['api-errors', 'cloud-errors'] as const) faults.inject(kind, {});
      await driver.advance(600);
      world.faults.clear();
      await driver.advance(120);
      expect(disruption()?.spec.causes).toMatchObject([{ hook: { token: expect.any(String) } }]);
      expect(log.messages('error')).toEqual([]);
      await end();
    },
  );
});
