// The surplus of DEFAULT in virtual time: without force its nodes are drained under budgets before
// they are terminated. A budget that closes meanwhile ends the update as it would during the
// replacement of nodes.
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];
const budgets = { group: 'policy', resource: 'poddisruptionbudgets' } as const;

const allow = (life: GroupLife, maxUnavailable: number): void => {
  const target = { namespace: 'default', name: 'web' };
  const patch = { type: 'merge', body: { spec: { maxUnavailable } } } as const;
  expect(life.user.patch(budgets, target, patch).kind).not.toBe('error');
};

const named = (life: GroupLife, prefix: string): NodeGroupUpdate | undefined =>
  life.updates().find(({ metadata }) => metadata.name.startsWith(prefix));
const isOver = (one: NodeGroupUpdate | undefined): boolean =>
  one !== undefined && updateStatusOf(one) !== 'InProgress';

/** Three nodes, all replaced; the surplus of the six is about to be terminated. */
const atScalingDown = async (force = false): Promise<{ life: GroupLife; id: string }> => {
  const life = await GroupLife.begin();
  const scalingConfig = { minSize: 0, maxSize: 6, desiredSize: 3 };
  await life.create({ releaseVersion: older, scalingConfig });
  await life.until('the group is ACTIVE', () => life.isActive(3));
  life.deploy(9, 1);
  await life.driver.advance(60);
  if (force) life.forceUpdate(newest);
  else expect(life.patch({ spec: { releaseVersion: newest } }).kind).not.toBe('error');
  await life.until('ScalingDown', () => life.updates()[0]?.status?.phase === 'ScalingDown', 7200);
  const [update] = life.updates();
  return { life, id: update?.metadata.name ?? '' };
};

const eventsOf = (life: GroupLife, kind: string): readonly string[] =>
  [...life.world.kube.readAll(resourceTypes.events)].flatMap((event) => {
    const { involvedObject, reason, message } = event as Record<string, unknown>;
    const isHeld = objectOr(involvedObject as never).kind === kind && reason === 'SurplusHeld';
    return isHeld ? [String(message)] : [];
  });

const podsOf = (life: GroupLife): ReadonlySet<string> =>
  new Set(
    [...life.world.kube.readAll(resourceTypes.pods)]
      .filter(({ metadata }) => metadata.labels?.app === 'web')
      .map(({ metadata }) => metadata.uid ?? ''),
  );

/** Closes the budget and waits until the update reports which budget holds its surplus. */
const untilHeld = async (life: GroupLife, id: string): Promise<string> => {
  allow(life, 0);
  const said = (): string => named(life, id)?.status?.message ?? '';
  await life.until('it waits', () => /default\/web-/.test(said()), 300);
  return said();
};

describe('the surplus of DEFAULT', () => {
  it('says which node waits for which pod and budget, and until when; then nothing more', async () => {
    const { life, id } = await atScalingDown();
    const held = await untilHeld(life, id);
    expect(held).toMatch(
      /node \S+\. Held by default\/web-\S+ of ReplicaSet\/web-\S+ \(budget default\/web\).*PodEvictionFailure at 20\d\d-/,
    );
    expect(eventsOf(life, 'NodeGroupUpdate')).toEqual([held]);
    expect(eventsOf(life, 'NodeGroup')).toEqual([held]);
    allow(life, 1);
    await life.until('the update is over', () => isOver(named(life, id)), 1800);
    expect(named(life, id)?.status?.status).toBe('Successful');
    expect(named(life, id)?.status?.message ?? '').toBe('');
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('ends after 15 minutes and not later, with no pod deleted and zones as even as they were', async () => {
    const { life, id } = await atScalingDown();
    await untilHeld(life, id);
    const [pods, since] = [podsOf(life), life.seconds];
    await life.until('the update is over', () => isOver(named(life, id)), 1800);
    expect(life.seconds - since).toBeLessThan(16 * 60);
    expect(podsOf(life)).toEqual(pods);
    // The zones are even, so EC2 Auto Scaling has nothing to rebalance; it would ignore budgets.
    await life.driver.advance(1800);
    expect(podsOf(life)).toEqual(pods);
    const { message, errors, failedNodes } = named(life, id)?.status ?? {};
    expect(message).toMatch(
      /\(budget default\/web\)\. Budget default\/web: .+\. \d+ new nodes? more than asked for stays? for now/,
    );
    expect(errors?.[0]?.resourceIds).toEqual([failedNodes?.[0]?.node]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('is forced after 15 minutes where that was asked for, as on EKS, and says so', async () => {
    const { life, id } = await atScalingDown(true);
    expect(await untilHeld(life, id)).toMatch(/What is left by 20\d\d-\S+ is deleted/);
    const [pods, since] = [podsOf(life), life.seconds];
    const isForced = (): boolean => [...pods].some((uid) => !podsOf(life).has(uid));
    await life.until('a pod is deleted', isForced, 1800);
    expect(life.seconds - since).toBeGreaterThan(13 * 60);
    await life.until('the update is over', () => isOver(named(life, id)), 4 * 3600);
    expect(named(life, id)?.status?.status).toBe('Successful');
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('is not let go under a budget that closes: PodEvictionFailure, and asked again it goes', async () => {
    const { life, id } = await atScalingDown();
    allow(life, 0);
    let least = 9;
    await life.until(
      'the update is over',
      () => {
        least = Math.min(least, life.runningPods('web'));
        return isOver(named(life, id));
      },
      7200,
    );
    const { status, errors, failedNodes, leftover = 0 } = named(life, id)?.status ?? {};
    expect(status).toBe('Failed');
    expect(errors?.[0]?.code).toBe('PodEvictionFailure');
    expect(errors?.[0]?.message).toMatch(/default\/web-.*budget default\/web/);
    expect(failedNodes?.length).toBeGreaterThan(0);
    expect(leftover).toBeGreaterThan(0);
    // One or two pods were being evicted when it closed, and none was deleted afterwards.
    expect(least).toBeGreaterThanOrEqual(8);
    await life.until('all are there', () => life.isActive(3) || life.nodes().length > 3, 1800);
    expect(life.nodes().filter(({ spec }) => objectOr(spec).unschedulable === true)).toEqual([]);
    expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 6, desired: 3 });
    expect(life.group()?.status?.releaseVersion).toBe(newest);

    allow(life, 1);
    life.askFor(newest);
    await life.until('the second is over', () => isOver(named(life, 'asked')), 3600);
    expect(named(life, 'asked')?.status?.status).toBe('Successful');
    await life.until('the group is ACTIVE', () => life.isActive(3) && life.nodes().length === 3);
    expect(life.group()?.status).toMatchObject({ desired: 3, maxSize: 6 });
    await life.end();
  });
});
