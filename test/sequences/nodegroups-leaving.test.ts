// A node group that is being deleted: its sizes cannot be changed, and a request for other sizes is
// refused with the reason.
import { describe, expect, it } from 'vitest';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { makeGroup, runApp } from '../support/update-world.ts';

const { nodegroups } = resourceTypes;
const inActive = 'Nodegroup cannot be updated as it is currently not in Active State';

/** As `kubectl scale nodegroup ng --replicas=N`. */
const scale = (life: GroupLife, replicas: number) => {
  const patch = { type: 'merge', body: { spec: { replicas } }, subresource: 'scale' } as const;
  return life.user.patch(nodegroups, { name: 'ng' }, patch);
};

describe('a node group that is being deleted', () => {
  it('takes no other size, from kubectl scale neither', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    // The budget makes its drains slow.
    await runApp(life, 4, 1);
    expect(scale(life, 3).kind).not.toBe('error');
    await life.until('it has three', () => life.isActive(3), 900);
    life.user.delete(nodegroups, { name: 'ng' });
    await life.until('it goes', () => life.state() === 'DELETING', 60);
    expect(JSON.stringify(scale(life, 4))).toContain(inActive);
    expect(JSON.stringify(life.patch({ spec: { scaling: { desired: 1 } } }))).toContain(inActive);
    // Changes other than sizes are accepted.
    expect(life.patch({ metadata: { labels: { team: 'a' } } }).kind).not.toBe('error');
    const budgets = { group: 'policy', resource: 'poddisruptionbudgets' };
    life.unmake(budgets, 'default', 'web');
    await life.until('it is gone', () => life.group() === undefined, 3600);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('says which budget holds it up, as long as that lasts', async () => {
    const life = await GroupLife.begin({ hasEvents: true });
    await makeGroup(life);
    await runApp(life, 4, 0);
    life.user.delete(nodegroups, { name: 'ng' });
    const issue = () => life.group()?.status?.health?.[0];
    await life.until('it says so', () => issue() !== undefined, 120);
    expect(issue()?.code).toBe('PodEvictionFailure');
    expect(issue()?.message).toMatch(
      /^The delete waits: nodes? .*default\/web-.*budget default\/web/,
    );
    expect(issue()?.message).toMatch(/gives up at .*DELETE_FAILED if that lasts/);
    expect(life.state()).toBe('DELETING');
    const degraded = life.group()?.status?.conditions?.find(({ type }) => type === 'Degraded');
    expect(degraded).toMatchObject({ status: 'True', reason: 'PodEvictionFailure' });
    const target = { namespace: 'default', name: 'web' };
    const patch = { type: 'merge', body: { spec: { maxUnavailable: 4 } } } as const;
    life.user.patch({ group: 'policy', resource: 'poddisruptionbudgets' }, target, patch);
    await life.until('it goes on', () => (life.group()?.status?.health ?? []).length === 0, 120);
    await life.until('it is gone', () => life.group() === undefined, 3600);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('says nothing of a budget that lets one pod after another go', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    const labels = { app: 'web' };
    const selector = { matchLabels: labels };
    const metadata = { name: 'web', namespace: 'default' };
    const readinessProbe = { initialDelaySeconds: 40, tcpSocket: { port: 80 } };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'web', image: 'web:1', readinessProbe }] },
    };
    life.make({ group: 'apps', resource: 'deployments' }, 'default', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 12, selector, template },
    });
    life.make({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { maxUnavailable: 1, selector },
    });
    await life.until('its pods run', () => life.runningPods('web') === 12);
    const scalingConfig = { minSize: 0, maxSize: 3, desiredSize: 3 };
    await life.create({ nodegroupName: 'other', scalingConfig });
    await life.until('there is room', () => life.isActive(3, 'other'), 1800);
    await life.driver.advance(60);
    life.user.delete(nodegroups, { name: 'ng' });
    const told = new Set<string>();
    let lastedSeconds = 0;
    while (life.group() !== undefined && lastedSeconds < 3600) {
      for (const { code } of life.group()?.status?.health ?? []) told.add(code);
      await life.driver.advance(1);
      lastedSeconds += 1;
    }
    expect(life.group()).toBeUndefined();
    // Long enough that the last pods have waited for minutes.
    expect(lastedSeconds).toBeGreaterThan(180);
    expect([...told]).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('takes the warm pool along that a user put beside it', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    const name = String(life.autoScalingGroups()[0]?.AutoScalingGroupName);
    const pool = { AutoScalingGroupName: name, MinSize: 1, PoolState: 'Stopped' };
    life.world.aws.call('autoscaling', 'PutWarmPool', pool);
    // No agent completes the launch hook of an instance that enters the warm pool.
    await life.driver.advance(2_000);
    expect(life.isActive(2)).toBe(true);
    expect(life.group()?.status?.health).toEqual([]);
    life.user.delete(nodegroups, { name: 'ng' });
    await life.until('it is gone', () => life.group() === undefined, 1800);
    expect(life.autoScalingGroups()).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
