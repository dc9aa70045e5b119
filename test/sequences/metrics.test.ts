// The numbers of a drain: the whole control plane over a demo world in virtual time, read as
// Prometheus reads them.
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/adapters/metrics/index.ts';
import { runControlPlane } from '../../src/controllers/control-plane.ts';
import { Driver } from '../../src/sim/driver.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { createWorld, nodeManagerAgent, nodeManagerUser, seedCluster } from '../../world/index.ts';
import { microsPerMs } from '../../world/kernel/index.ts';
import { CollectingJournal, CollectingLog, testStart } from '../builders/runtime.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const begin = async () => {
  const world = createWorld({ seed: 1, startAt: testStart * microsPerMs });
  const facts = seedCluster(world, {
    clusterName: 'c',
    kubernetesVersion: '1.32.9',
    addons: true,
    workload: true,
  });
  const metrics = createMetrics({ version: 'test' });
  const journal = new CollectingJournal();
  const ports = createInProcessPorts(world, {
    component: 'test',
    identity: { user: nodeManagerUser, userAgent: nodeManagerAgent },
    legMicros: 500,
  });
  const stop = new AbortController();
  const running = runControlPlane(
    {
      ...ports,
      log: new CollectingLog(),
      journal,
      metrics,
      queueUrl: world.aws.queueUrl(facts.noticeQueueName),
      compat: 'eks',
    },
    stop.signal,
  );
  const driver = new Driver(world.kernel, settle);
  await driver.advance(90);
  const value = async (series: string): Promise<number | undefined> => {
    const { text } = await metrics.read();
    const line = text.split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await driver.advance(10);
    await running;
  };
  return { world, facts, driver, value, end };
};

type Life = Awaited<ReturnType<typeof begin>>;

const terminateOne = ({ world, facts }: Life): void => {
  const group = facts.managed[0]?.spec.autoScalingGroupName ?? '';
  const { AutoScalingGroups: groups } = world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {
    AutoScalingGroupNames: [group],
  }) as { AutoScalingGroups: readonly { Instances: readonly { InstanceId: string }[] }[] };
  world.aws.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
    InstanceId: groups[0]?.Instances[0]?.InstanceId ?? '',
    ShouldDecrementDesiredCapacity: true,
  });
};

describe('the metrics of a drain', () => {
  it('count notice, evictions, hook and drain once each, and time them', async () => {
    const life = await begin();
    const { driver, value, end } = life;
    expect(await value('drover_drains_open{phase="Draining"}')).toBe(0);
    terminateOne(life);
    await driver.advance(300);
    const drain = 'cause="LifecycleHook",outcome="Drained"';
    expect(await value(`drover_drains_total{${drain}}`)).toBe(1);
    expect(await value(`drover_drain_duration_seconds_count{${drain}}`)).toBe(1);
    expect(await value(`drover_drain_duration_seconds_sum{${drain}}`)).toBeGreaterThan(1);
    const notice = 'kind="LifecycleHook",verdict="confirmed"';
    expect(await value(`drover_notices_total{${notice}}`)).toBeGreaterThan(0);
    expect(await value('drover_notice_lag_seconds_count')).toBeGreaterThan(0);
    expect(await value('drover_lifecycle_hooks_total{result="CONTINUE"}')).toBe(1);
    const granted = await value('drover_evictions_granted_total{kind="evict"}');
    const sent = 'kind="evict",result="done",code="OK"';
    expect(granted).toBeGreaterThan(0);
    expect(await value(`drover_evictions_sent_total{${sent}}`)).toBe(granted);
    const evict = await value('drover_kube_requests_total{verb="evict",code="OK"}');
    expect(evict).toBe(granted);
    const completed = 'operation="completeHook",code="OK"';
    expect(await value(`drover_cloud_requests_total{${completed}}`)).toBe(1);
    expect(
      await value('drover_cloud_request_duration_seconds_count{operation="receiveMessages"}'),
    ).toBeUndefined();
    expect(
      await value('drover_workqueue_work_duration_seconds_count{queue="disruption"}'),
    ).toBeGreaterThan(0);
    expect(await value('drover_workqueue_depth{queue="eviction"}')).toBe(0);
    await end();
  });

  it('time a freed budget to the eviction that uses it, and name what drains wait for', async () => {
    const life = await begin();
    const { world, driver, value, end } = life;
    const client = world.kube.as({
      user: { username: 'somebody', groups: ['system:masters'] },
      userAgent: 'kubectl',
    });
    const budgets = { group: 'policy', resource: 'poddisruptionbudgets' };
    // Holds every pod of its namespace.
    const namespaces = ['kube-system', 'default', 'demo'];
    for (const namespace of namespaces) {
      client.create(budgets, namespace, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'all', namespace },
        spec: { maxUnavailable: 0, selector: {} },
      });
    }
    await driver.advance(5);
    terminateOne(life);
    await driver.advance(60);
    const waiting = await value('drover_drains_waiting{waiting_on="pdb"}');
    expect(waiting).toBe(1);
    expect(await value('drover_drains_open{phase="Draining"}')).toBe(1);
    expect(await value('drover_drain_oldest_wait_seconds{waiting_on="pdb"}')).toBeGreaterThan(50);
    expect(await value('drover_eviction_reaction_seconds_count')).toBe(0);
    for (const namespace of namespaces) {
      const body = { spec: { maxUnavailable: 1 } };
      client.patch(budgets, { namespace, name: 'all' }, { type: 'merge', body });
    }
    await driver.advance(120);
    expect(await value('drover_eviction_reaction_seconds_count')).toBeGreaterThan(0);
    expect(await value('drover_eviction_reaction_seconds_bucket{le="0.05"}')).toBe(
      await value('drover_eviction_reaction_seconds_count'),
    );
    expect(await value('drover_drains_waiting{waiting_on="pdb"}')).toBeUndefined();
    await end();
  });

  it('leave no open drain behind when the leadership ends', async () => {
    const life = await begin();
    const { driver, value, end } = life;
    terminateOne(life);
    await driver.advance(3);
    expect(await value('drover_drains_open{phase="Draining"}')).toBe(1);
    await end();
    expect(await value('drover_drains_open{phase="Draining"}')).toBeUndefined();
    expect(await value('drover_workqueue_depth{queue="eviction"}')).toBeUndefined();
    expect(await value('drover_notifications_pending')).toBe(0);
  });
});
